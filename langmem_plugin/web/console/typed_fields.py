"""What an operator types into a form: tags with commas between them, and days where the person lives."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from langmem_plugin.errors import InvalidInput


def tags_in(typed: str) -> list[str]:
    return [each for each in (part.strip() for part in typed.split(",")) if each]


def beginning_of(day: str, zone: ZoneInfo) -> datetime | None:
    """None for no day. Raises InvalidInput for what is none."""
    return _midnight(day, zone, after=0)


def end_of(day: str, zone: ZoneInfo) -> datetime | None:
    """The same, when the day is over."""
    return _midnight(day, zone, after=1)


def _midnight(day: str, zone: ZoneInfo, *, after: int) -> datetime | None:
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day) + timedelta(days=after), time(), zone)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{day!r} is no day: give one as 2026-11-23") from error
