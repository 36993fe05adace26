"""When a conversation that nobody writes in is over. Pure rules: the clock is an argument."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Silence:
    """How long a conversation may be quiet before it is over; longer while it waits for a person's answer."""

    timeout: timedelta = timedelta(minutes=30)
    while_interrupted: timedelta = timedelta(hours=24)


HALF_AN_HOUR = Silence()


def is_idle(last_active: datetime, now: datetime, timeout: timedelta) -> bool:
    """Silence counts from the last write, whoever made it; the boundary itself is idle.

    A time ahead of `now` comes from another clock, or one that was set back: it counts as just now, until the next
    write puts it right.
    """
    return last_active + timeout <= now


def is_silent(last_active: datetime, ahead: datetime | None, now: datetime, timeout: timedelta) -> bool:
    """As `is_idle`, whichever of two clocks was right: one that was set back for a while ends no conversation."""
    if ahead is not None and ahead <= now and not is_idle(ahead, now, timeout):
        return False
    return is_idle(last_active, now, timeout)
