"""Sessions: the stretches of conversation that silence ends. Which one is current, and when it is over."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, insert, select, update

from langmem_plugin.database.conversation_tables import checkpoint, pending, session
from langmem_plugin.errors import UnknownSession


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a thread. `ended_at` is None for the current one; all instants are UTC."""

    thread: str
    number: int
    session_id: str
    created_at: datetime
    last_active: datetime
    ended_at: datetime | None
    next_row: int


@dataclass(frozen=True, slots=True)
class Silence:
    """How long a conversation may be quiet before it is over; longer while it waits for a person's answer."""

    timeout: timedelta = timedelta(minutes=30)
    while_interrupted: timedelta = timedelta(hours=24)


HALF_AN_HOUR = Silence()

_PRECISION = timedelta(milliseconds=100)
"""Activity is written down no more often than this: the writes of one step are one sign of life."""


def is_idle(last_active: datetime, now: datetime, timeout: timedelta) -> bool:
    """Silence counts from the last write, whoever made it; the boundary itself is idle."""
    return last_active + timeout <= now


def newest(connection: Connection, thread: str, *, lock: bool = False) -> Session | None:
    """The current session of the thread, else the one that ended last. `lock` makes other writers wait."""
    return _session(connection, _NEWEST, {"of_thread": thread}, lock)


def by_id(connection: Connection, thread: str, session_id: str, *, lock: bool = False) -> Session:
    """Raises UnknownSession if this thread has no such session: another thread's is never shown."""
    found = _session(connection, _BY_ID, {"of_thread": thread, "of_id": session_id}, lock)
    if found is None:
        raise UnknownSession(f"this conversation has no session {session_id!r}: leave session_id out for the current")
    return found


def with_checkpoint(
    connection: Connection, thread: str, namespace: str, checkpoint_id: str, *, lock: bool = False
) -> Session | None:
    """The session of the thread that holds this checkpoint."""
    parameters = {"of_thread": thread, "of_namespace": namespace, "of_checkpoint": checkpoint_id}
    return _session(connection, _WITH_CHECKPOINT, parameters, lock)


def has_ended(connection: Connection, found: Session, now: datetime, silence: Silence) -> bool:
    """Whether a new message belongs to a new session. Only a root run or a turn that begins may ask."""
    if found.ended_at is not None:
        return True
    if not is_idle(found.last_active, now, silence.timeout):
        return False
    return is_idle(found.last_active, now, silence.while_interrupted) or not is_interrupted(connection, found)


def begin(connection: Connection, thread: str, now: datetime) -> Session:
    """A new current session; the one before it, if it is still open, ends."""
    end(connection, thread, now)
    latest = newest(connection, thread)
    # Real time, whatever clock the caller set: a number is never used again, not even after everything is deleted.
    number = max(time.time_ns() // 1_000, latest.number + 1 if latest else 0)
    fresh = Session(thread, number, str(uuid.uuid4()), now, now, None, 1)
    connection.execute(
        insert(session),
        {
            "thread": thread,
            "number": number,
            "session_id": fresh.session_id,
            "created_at": now,
            "last_active": now,
            "next_row": 1,
        },
    )
    return fresh


def end(connection: Connection, thread: str, now: datetime, *, number: int | None = None) -> bool:
    """Archives the current session (only if it is still this one, with `number`). False if there is none."""
    only = _END if number is None else _END.where(session.c.number == number)
    return connection.execute(only, {"of_thread": thread, "at": now}).rowcount > 0


def advance(connection: Connection, found: Session, *, next_row: int, active_at: datetime | None) -> None:
    """Records the rows used and, when a run wrote, that the conversation is alive."""
    last_active = found.last_active if active_at is None else max(found.last_active, active_at)
    if last_active - found.last_active < _PRECISION:
        last_active = found.last_active
    if next_row == found.next_row and last_active == found.last_active:
        return
    connection.execute(
        _ADVANCE,
        {
            "of_thread": found.thread,
            "of_number": found.number,
            "next_row": next_row,
            "last_active": last_active,
        },
    )


def all_of(connection: Connection, thread: str) -> Sequence[Session]:
    """Every session of the thread, oldest first."""
    rows = connection.execute(select(*_COLUMNS).where(session.c.thread == thread).order_by(session.c.number))
    return [Session(*row) for row in rows]


def remove(connection: Connection, thread: str) -> None:
    """Deletes all sessions of the thread with everything that belongs to them."""
    connection.execute(delete(session).where(session.c.thread == thread))


def copy_of(source: Session, thread: str, offset: int) -> Session:
    """The same session for another thread, under a number and an id of its own."""
    return replace(source, thread=thread, number=time.time_ns() // 1_000 + offset, session_id=str(uuid.uuid4()))


def is_interrupted(connection: Connection, found: Session) -> bool:
    """Whether its newest checkpoint waits for a person's answer."""
    parameters = {"of_thread": found.thread, "of_number": found.number}
    return connection.execute(_INTERRUPTED, parameters).first() is not None


def _session(connection: Connection, query: Select[Any], parameters: dict[str, Any], lock: bool) -> Session | None:
    row = connection.execute(query.with_for_update(of=session) if lock else query, parameters).first()
    return None if row is None else Session(*row)


_COLUMNS = (
    session.c.thread,
    session.c.number,
    session.c.session_id,
    session.c.created_at,
    session.c.last_active,
    session.c.ended_at,
    session.c.next_row,
)
_NEWEST = (
    select(*_COLUMNS)
    .where(session.c.thread == bindparam("of_thread"))
    .order_by(session.c.ended_at.is_(None).desc(), session.c.number.desc())
    .limit(1)
)
_BY_ID = select(*_COLUMNS).where(session.c.thread == bindparam("of_thread"), session.c.session_id == bindparam("of_id"))
_WITH_CHECKPOINT = (
    select(*_COLUMNS)
    .join(checkpoint, (checkpoint.c.thread == session.c.thread) & (checkpoint.c.session == session.c.number))
    .where(
        session.c.thread == bindparam("of_thread"),
        checkpoint.c.namespace == bindparam("of_namespace"),
        checkpoint.c.checkpoint_id == bindparam("of_checkpoint"),
    )
    .order_by(session.c.number.desc())
    .limit(1)
)
_END = (
    update(session)
    .where(session.c.thread == bindparam("of_thread"), session.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"))
)
_ADVANCE = (
    update(session)
    .where(session.c.thread == bindparam("of_thread"), session.c.number == bindparam("of_number"))
    .values(next_row=bindparam("next_row"), last_active=bindparam("last_active"))
)
_HEAD = (
    select(checkpoint.c.checkpoint_id)
    .where(
        checkpoint.c.thread == bindparam("of_thread"),
        checkpoint.c.session == bindparam("of_number"),
        checkpoint.c.namespace == "",
    )
    .order_by(checkpoint.c.checkpoint_id.desc())
    .limit(1)
    .scalar_subquery()
)
_INTERRUPTED = select(pending.c.task_id).where(
    pending.c.thread == bindparam("of_thread"),
    pending.c.session == bindparam("of_number"),
    pending.c.namespace == "",
    pending.c.checkpoint_id == _HEAD,
    pending.c.interrupt,
)
