"""The silence that ends a session: how long a conversation may be quiet, and longer while it waits for an answer."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from langmem_plugin.errors import InvalidInput
from langmem_plugin.settings import INTERRUPT_TIMEOUT, SESSION_TIMEOUT

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Silence:
    """The time that a conversation may be quiet before it is over; longer while it waits for a person's answer.

    None is for ever. Raises InvalidInput for a value that is no timedelta, or not above zero.
    """

    timeout: timedelta | None = SESSION_TIMEOUT
    while_interrupted: timedelta | None = INTERRUPT_TIMEOUT

    def __post_init__(self) -> None:
        for each in (self.timeout, self.while_interrupted):
            if each is not None and (not isinstance(each, timedelta) or each <= timedelta(0)):
                raise InvalidInput(f"a silence of {each!r}: give a timedelta above zero, or None for ever")

    @classmethod
    def of(cls, silence: "Silence | timedelta | None") -> "Silence":
        """Make a Silence of an argument: a timedelta leaves the wait for an answer as it is; None is for ever."""
        if isinstance(silence, Silence):
            return silence
        return cls(None, None) if silence is None else cls(silence)

    def since(self, now: datetime) -> datetime:
        """The latest instant of a last activity that counts as silence at `now`."""
        if self.timeout is None:
            return _LONG_AGO
        return now - min(self.timeout, now - _LONG_AGO)


DEFAULT_SILENCE = Silence()


def is_silent(last_active: datetime, ahead: datetime | None, now: datetime, timeout: timedelta | None) -> bool:
    """Tell whether the time since the last write, of anybody, has reached the timeout; the boundary itself is silent.

    It must have by both of two clocks: one that was set back ends no conversation. A time ahead of `now` counts as just
    now, until the next write puts it right.
    """
    if timeout is None or (ahead is not None and ahead <= now and now - ahead < timeout):
        return False
    return now - last_active >= timeout
