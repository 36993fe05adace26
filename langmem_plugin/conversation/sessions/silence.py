"""The silence that ends a conversation, and the lengths of it that the services of a database use.

The rules are pure: the clock is an argument. `SessionStore` decides what counts as activity. The lengths are noted in
the database, so that a command without the service's settings, for example, does not end a conversation that the
service counts as alive.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select

from langmem_plugin.database.schema import upsert
from langmem_plugin.database.upkeep_tables import upkeep
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
        for given in (self.timeout, self.while_interrupted):
            if given is not None and (not isinstance(given, timedelta) or given <= timedelta(0)):
                raise InvalidInput(f"a silence of {given!r}: give a timedelta above zero, or None for ever")

    @classmethod
    def of(cls, given: "Silence | timedelta | None") -> "Silence":
        """Make a Silence of an argument: a timedelta leaves the wait for an answer as it is; None is for ever."""
        if isinstance(given, Silence):
            return given
        return cls(None, None) if given is None else cls(given)

    def since(self, now: datetime) -> datetime:
        """The latest instant of a last activity that counts as silence at `now`."""
        if self.timeout is None:
            return _LONG_AGO
        return now - min(self.timeout, now - _LONG_AGO)


DEFAULT_SILENCE = Silence()


def is_idle(last_active: datetime, now: datetime, timeout: timedelta | None) -> bool:
    """Tell whether the time since the last write, of anybody, has reached the timeout; the boundary itself is idle.

    A time ahead of `now` comes from another clock, or one that was set back: it counts as just now, until the next
    write puts it right.
    """
    return timeout is not None and now - last_active >= timeout


def is_silent(last_active: datetime, ahead: datetime | None, now: datetime, timeout: timedelta | None) -> bool:
    """Tell whether a conversation is idle by both of two clocks: one that was set back ends no conversation."""
    if ahead is not None and ahead <= now and not is_idle(ahead, now, timeout):
        return False
    return is_idle(last_active, now, timeout)


NOTED_TERMS = SESSION_TERM, INTERRUPT_TERM, ARCHIVED_TERM = "session_timeout", "interrupt_timeout", "archived_for"

Terms = dict[str, timedelta | None]
"""Lengths by the names above; None is for ever, and a missing name is not known."""

_EVERY = timedelta(hours=1)
_A_DAY = timedelta(days=1)
_A_WEEK = timedelta(weeks=1)
_LIFETIMES = timedelta(days=100_000)
_FOR_EVER_HOLDS = timedelta(days=30)


class NotedTerms:
    """The terms that this process notes for its service: at the first write, and then about once an hour."""

    def __init__(self, own: Terms) -> None:
        self.own = own
        self._noted_at: datetime | None = None

    def note(self, connection: Connection, now: datetime) -> None:
        """Note the terms in a transaction that writes, after it has locked its session.

        In the other order two transactions of one person would wait for each other. A longer term of another service
        stays until it is out of date.
        """
        if self._noted_at is not None and abs(now - self._noted_at) < _EVERY:
            return
        rows = {row.name: row for row in connection.execute(select(upkeep).where(upkeep.c.name.in_(self.own)))}
        due = [name for name, length in self.own.items() if _is_due(name, rows.get(name), length, now)]
        for name in sorted(due):  # in the same order for all, else two services would wait for each other
            _put(connection, name, now, self.own[name])
        self._noted_at = None if due else now  # only once they are seen to be committed


def noted(connection: Connection) -> Terms:
    """The terms that services noted."""
    rows = connection.execute(select(upkeep).where(upkeep.c.name.in_(NOTED_TERMS)))
    return {row.name: _length(row.seconds) for row in rows}


def longest(one: Mapping[str, timedelta | None], other: Mapping[str, timedelta | None]) -> Terms:
    return {
        name: other[name] if name not in one or (name in other and is_longer(other[name], one[name])) else one[name]
        for name in {**one, **other}
    }


def is_longer(length: timedelta | None, than: timedelta | None) -> bool:
    if length is None or than is None:
        return length is None and than is not None
    return length > than


def _is_due(name: str, row: Any, length: timedelta | None, now: datetime) -> bool:
    """Tell whether the row must be written: with this length instead, or because its date is old."""
    if row is None or is_longer(length, noted_length := _length(row.seconds)):
        return True
    if is_longer(noted_length, length):
        return bool(now - row.noted_at >= _holds_for(name, noted_length))
    return bool(abs(now - row.noted_at) >= _EVERY)


def _put(connection: Connection, name: str, now: datetime, length: timedelta | None) -> None:
    values = {"noted_at": now, "seconds": None if length is None or length > _LIFETIMES else _seconds(length)}
    inserted = upsert(connection, upkeep).values(name=name, **values)
    connection.execute(inserted.on_conflict_do_update(index_elements=["name"], set_=values))


def _seconds(length: timedelta) -> int:
    """The length in whole seconds, rounded up: in a fraction of a second a conversation is alive too."""
    return -(-length // timedelta(seconds=1))


def _length(seconds: int | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def _holds_for(name: str, length: timedelta | None) -> timedelta:
    """The time that a noted term holds: as long as a conversation under it may live, a week for the archived term."""
    if name == ARCHIVED_TERM:
        return _A_WEEK
    return _FOR_EVER_HOLDS if length is None else min(length, _FOR_EVER_HOLDS) + _A_DAY
