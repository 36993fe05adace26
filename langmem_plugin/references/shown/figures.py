"""The figure that a field of an item shows, with its measure, so that items can be put in order by it."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal

from langmem_plugin.references.text.tokens import normal

_INSTANT = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::\d\d(?:\.\d+)?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?", re.IGNORECASE
)
_CLOCK = re.compile(r"(\d\d?):(\d\d)(?::\d\d)?\s?(am|pm)?|(\d\d?)\s?(am|pm)", re.IGNORECASE)
_LASTING = re.compile(r"(?:(\d+(?:\.\d+)?)\s?h(?:ours?|rs?)?)?\s?(?:(\d+)\s?m(?:in(?:ute)?s?)?)?", re.IGNORECASE)
_AMOUNT = re.compile(r"([$€£₪]?)\s?([+-]?\d[\d.,]{0,15})\s?([^\W\d_]{0,10}|[$€£₪%])(?:\s.{0,20})?")
_FREE = frozenset(("free", "gratis", "חינם"))


def figure_of(value: object) -> tuple[str, float] | None:
    """Measure and amount: ("date", minutes), ("clock", minutes), ("min", minutes), ("€", 95.0), ("km", 3.5) or ("", 4)."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float, Decimal)):
        return "", float(value)
    if isinstance(value, (date, time)):
        value = value.isoformat()
    return _of_text(value.strip()[:60]) if isinstance(value, str) else None


def _of_text(text: str) -> tuple[str, float] | None:
    if normal(text) in _FREE:
        return "", 0.0
    if found := _INSTANT.fullmatch(text):
        year, month, day, hour, minute = (int(part or 0) for part in found.groups())
        try:
            return "date", datetime(year, month, day, min(hour, 23), minute, tzinfo=UTC).timestamp() / 60
        except ValueError:
            return None
    if found := _CLOCK.fullmatch(text):
        hour, minute, half = int(found[1] or found[4]), int(found[2] or 0), (found[3] or found[5] or "").lower()
        return "clock", (hour % 12 + 12 * (half == "pm") if half else hour) * 60 + minute
    if (found := _LASTING.fullmatch(text)) and any(found.groups()):
        return "min", float(found[1] or 0) * 60 + float(found[2] or 0)
    if found := _AMOUNT.fullmatch(text):
        unit = found[1] or normal(found[3])
        return unit, number(found[2])
    return None


def number(text: str) -> float:
    """A figure with separators in any manner: 1,250.00, 1.250,00, 12,5 and 1,250."""
    comma, point = text.rfind(","), text.rfind(".")
    if min(comma, point) >= 0:
        mark = max(comma, point)
        text = re.sub(r"[.,]", "", text[:mark]) + "." + re.sub(r"[.,]", "", text[mark + 1 :])
    elif text.count(",") == 1 and len(text) - comma != 4:
        text = text.replace(",", ".")
    elif text.count(".") > 1 or (text.count(".") == 1 and len(text) - point == 4):
        text = text.replace(".", "")
    try:
        return float(text.replace(",", "") or 0)
    except ValueError:
        return 0.0


def comparable(values: Sequence[object]) -> list[float] | None:
    """The figures of a field in each item of a list; None where one has none, or where their measures differ."""
    figures = [figure_of(value) for value in values]
    told = [each for each in figures if each is not None]
    if len(told) < len(figures) or len({measure for measure, amount in told if amount or measure}) > 1:
        return None
    return [amount for _, amount in told]
