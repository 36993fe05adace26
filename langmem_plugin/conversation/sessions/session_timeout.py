"""The silence that ends a session, longer while it waits for an answer, and such terms as services note them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, select

from langmem_plugin.database.operations_tables import upkeep
from langmem_plugin.database.schema import put
from langmem_plugin.errors import InvalidInput
from langmem_plugin.settings import INTERRUPT_TIMEOUT, SESSION_TIMEOUT

_LONG_AGO = datetime.min.replace(tzinfo=UTC)

SESSION_TERM, INTERRUPT_TERM, ARCHIVED_TERM = "session_timeout", "interrupt_timeout", "archived_for"

Terms = dict[str, timedelta | None]
"""Lengths by the names above; None is for ever."""

_EVERY = timedelta(hours=1)
_HOLDS = timedelta(weeks=1)
_LONGEST = timedelta(days=100_000)


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


class NotedTerms:
    """The terms that this process notes for its service: at the first write, and then about once an hour."""

    def __init__(self, own: Terms) -> None:
        self.own = own
        self._noted_at: datetime | None = None

    def note(self, connection: Connection, now: datetime) -> None:
        """Note the terms in a transaction that writes, after it has locked its session.

        In the other order two transactions of one person would wait for each other. Terms that no service has noted for
        a week are forgotten.
        """
        if self._noted_at is not None and abs(now - self._noted_at) < _EVERY:
            return
        seconds = {f"{name} {_seconds(length)}": _seconds(length) for name, length in self.own.items()}
        stored = connection.execute(select(upkeep.c.name, upkeep.c.noted_at).where(upkeep.c.name.in_(seconds)))
        fresh = {name for name, noted_at in stored if abs(now - noted_at) < _EVERY}
        for name in sorted(seconds.keys() - fresh):  # in the same order for all, else two services would wait
            put(connection, upkeep, {"name": name}, {"noted_at": now, "seconds": seconds[name]})
            term = name.partition(" ")[0]
            old = (upkeep.c.name.startswith(term), upkeep.c.noted_at <= now - _HOLDS)
            connection.execute(delete(upkeep).where(*old))
        self._noted_at = now if fresh == seconds.keys() else None  # only once they are seen to be committed


def longest_noted(connection: Connection, own: Terms) -> Terms:
    """The longest terms among a process's own and those that services noted."""
    rows = connection.execute(select(upkeep.c.name, upkeep.c.seconds)).all()
    found: Terms = {}
    for term, length in own.items():
        noted = [seconds for name, seconds in rows if name.startswith(term)]
        lengths = [length, *(None if each is None else timedelta(seconds=each) for each in noted)]
        found[term] = max(lengths, key=lambda each: timedelta.max if each is None else each)
    return found


def _seconds(length: timedelta | None) -> int | None:
    """The length in whole seconds, rounded up: in a fraction of a second a conversation is alive too."""
    return None if length is None or length > _LONGEST else -(-length // timedelta(seconds=1))
