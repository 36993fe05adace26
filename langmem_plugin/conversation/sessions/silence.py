"""When a conversation that nobody writes in is over. Pure rules: the clock is an argument.

What counts as activity is decided by `SessionStore`; how long a silence is, by settings.py.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from langmem_plugin.errors import InvalidInput
from langmem_plugin.settings import INTERRUPT_TIMEOUT, SESSION_TIMEOUT

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Silence:
    """How long a conversation may be quiet before it is over; longer while it waits for a person's answer.

    None is for ever. Raises InvalidInput for what is no timedelta, or not above zero.
    """

    timeout: timedelta | None = SESSION_TIMEOUT
    while_interrupted: timedelta | None = INTERRUPT_TIMEOUT

    def __post_init__(self) -> None:
        for given in (self.timeout, self.while_interrupted):
            if given is not None and (not isinstance(given, timedelta) or given <= timedelta(0)):
                raise InvalidInput(f"a silence of {given!r}: give a timedelta above zero, or None for ever")

    @classmethod
    def of(cls, given: "Silence | timedelta | None") -> "Silence":
        """As it may be given: a timedelta is for all but a conversation that waits for an answer, None is for all."""
        if isinstance(given, Silence):
            return given
        return cls(None, None) if given is None else cls(given)

    def since(self, now: datetime) -> datetime:
        """Who was active last at this instant or before has fallen silent."""
        if self.timeout is None:
            return _LONG_AGO
        return now - min(self.timeout, now - _LONG_AGO)


DEFAULT_SILENCE = Silence()


def is_idle(last_active: datetime, now: datetime, timeout: timedelta | None) -> bool:
    """Silence counts from the last write, whoever made it; the boundary itself is idle.

    A time ahead of `now` comes from another clock, or one that was set back: it counts as just now, until the next
    write puts it right.
    """
    return timeout is not None and now - last_active >= timeout


def is_silent(last_active: datetime, ahead: datetime | None, now: datetime, timeout: timedelta | None) -> bool:
    """As `is_idle`, whichever of two clocks was right: one that was set back for a while ends no conversation."""
    if ahead is not None and ahead <= now and not is_idle(ahead, now, timeout):
        return False
    return is_idle(last_active, now, timeout)
