"""The rows of sessions: begun, handed over to a turn, ended, restored, read and listed, with the client of each."""

import os
import secrets
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, bindparam, case, select, text, tuple_, update

from langmem_plugin.conversation.sessions.session_timeout import Silence, is_silent
from langmem_plugin.database.audit_recording import record
from langmem_plugin.database.conversation_tables import (
    AT_ONCE,
    TAKEN,
    WHEN_SILENT,
    checkpoint,
    message,
    pending,
    session,
)
from langmem_plugin.database.encryption.encrypted_columns import CLIENT_NAME, CLIENT_PHONE
from langmem_plugin.database.prepared_statements import Prepared, given
from langmem_plugin.database.schema import insert_new
from langmem_plugin.errors import SessionRefused, UnknownSession
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log

log = event_log(__name__)
_PRECISION = timedelta(milliseconds=500)
"""The least time between two notes of activity: the steps of a quick turn count as one."""
_MOST_IN_PRECISION = 64  # messages: if more came within half a second, only the newest are read
_A_SECOND = 1_000_000  # microseconds
_SKEW = timedelta(minutes=5)
"""The most by which the clocks of machines that work together differ."""


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
    epoch: int = 0  # the ticket of the last turn that took it
    ahead: datetime | None = None  # the last activity by a clock that ran ahead of the last writer's
    to_take: int = WHEN_SILENT


@dataclass(frozen=True, slots=True)
class Client:
    """The name and phone of the person on the other side, where the channel knows them."""

    name: str | None = None
    phone: str | None = None


def rows_of(table: Table, found: Session) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The conditions that select what a table has of a session."""
    return table.c.thread == found.thread, (table.c.number if table is session else table.c.session) == found.number


def newest(connection: Connection, thread: str, *, lock: bool = False) -> Session | None:
    """The current session of the thread, else the one that ended last. `lock` makes other writers wait."""
    return _session(connection, _NEWEST, {"of_thread": thread}, lock)


def by_id(connection: Connection, thread: str, session_id: str, *, lock: bool = False) -> Session:
    """The session of this thread with this id. Raises UnknownSession, also for another thread's session."""
    found = _session(connection, _BY_ID, {"of_thread": thread, "of_session_id": session_id}, lock)
    if found is None:
        raise UnknownSession(f"this conversation has no session {session_id!r}: leave langmem_session out")
    return found


def with_checkpoint(
    connection: Connection, thread: str, namespace: str, checkpoint_id: str, *, lock: bool = False
) -> Session | None:
    """The session of the thread that holds this checkpoint."""
    parameters = {"of_thread": thread, "of_namespace": namespace, "of_checkpoint_id": checkpoint_id}
    return _session(connection, _WITH_CHECKPOINT, parameters, lock)


def has_ended(connection: Connection, found: Session, now: datetime, silence: Silence) -> bool:
    """Tell whether a new message begins a new session. Only a root run or a turn that begins may ask."""
    if found.ended_at is not None:
        return True
    if not is_silent(found.last_active, found.ahead, now, silence.timeout):
        return False
    if not is_silent(found.last_active + _PRECISION, found.ahead, now, silence.timeout):
        # It may have ended less than that ago: the time of its last message is exact to the microsecond.
        found = replace(found, last_active=_last_said(connection, found))
        if not is_silent(found.last_active, found.ahead, now, silence.timeout):
            return False
    silent_for_long = is_silent(found.last_active, found.ahead, now, silence.while_interrupted)
    return silent_for_long or not is_interrupted(connection, found)


def _last_said(connection: Connection, found: Session) -> datetime:
    """The last activity, even if it came too soon after the one before to be noted in the session's row."""
    of_session = {"of_thread": found.thread, "of_session": found.number}
    instants = [row[0] for row in _LAST_SAID.all(connection, of_session)]
    soon_after = [each for each in instants if found.last_active < each < found.last_active + _PRECISION]
    return max(soon_after, default=found.last_active)


def begin(connection: Connection, thread: str, now: datetime, *, over: Session | None = None) -> Session:
    """Begin a new current session in place of the one that is over, for the same client.

    If somebody else has begun one meanwhile, return that one.
    """
    one_at_a_time(connection, thread)
    latest = newest(connection, thread, lock=True)
    if latest is not None and latest.ended_at is None and (over is None or over.number != latest.number):
        return latest
    client = client_of(connection, latest) if latest else Client()
    end(connection, thread, now, why="session.expired")
    # Real time, whatever clock the caller set: a number is never used again, not even after everything is deleted.
    number = max(time.time_ns() // 1_000, latest.number + 1 if latest else 0)
    [fresh] = insert_new(
        connection,
        session,
        [Session(thread, number, new_id(), now, now, None, 1)],
        lambda _, made: _row(connection, made, client) | {"to_take": WHEN_SILENT},
        lambda made: replace(made, number=made.number + 1, session_id=new_id()),
    )
    record(connection, "session.created", owner=thread, subject=fresh.session_id)
    _log("session.began", fresh)
    return fresh


def insert(connection: Connection, made: Session, client: Client) -> None:
    """Insert a session that took place elsewhere or before."""
    connection.execute(session.insert(), _row(connection, made, client))


def _row(connection: Connection, made: Session, client: Client) -> dict[str, Any]:
    """The session as a new row; `to_take` follows from whether it has ended."""
    columns = {each.name: getattr(made, each.name) for each in fields(made) if each.name != "to_take"}
    return columns | _encrypted(connection, made, client)


def free_number(began: datetime, there: Sequence[Session]) -> int:
    """A number for a session that began then, in its order among those that are there.

    Random within a second, because a process may remember rows of a deleted session that had the same number.
    """
    taken = {each.number for each in there}
    while (number := int(began.timestamp() * _A_SECOND) + secrets.randbelow(_A_SECOND)) in taken:
        pass
    return number


def take(connection: Connection, found: Session, ticket: int) -> None:
    """Bind the session, and every later one, to a turn: its former writer can write no more."""
    _TAKE.run(connection, {"of_thread": found.thread, "of_number": found.number, "of_ticket": ticket})


def one_at_a_time(connection: Connection, thread: str) -> None:
    """Let only one transaction at a time go on from here for this thread; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:thread, 0))"), {"thread": thread})


def end(
    connection: Connection, thread: str, now: datetime, *, number: int | None = None, why: str = "session.ended"
) -> bool:
    """Archive the current session (with `number`, only that one). Return False if there is none."""
    only = _END if number is None else _END.where(session.c.number == number)
    ended = connection.execute(only.returning(session.c.session_id), {"of_thread": thread, "at": now}).scalars().all()
    for session_id in ended:
        record(connection, why, owner=thread, subject=session_id)
        log.info("session.ended", extra={"phone": masked(thread)})
    return bool(ended)


def restore(connection: Connection, found: Session, now: datetime) -> None:
    """Make an archived session the current one again, as if somebody had just written in it."""
    end(connection, found.thread, now)
    connection.execute(update(session).where(*rows_of(session, found)).values(ended_at=None, last_active=now))
    record(connection, "session.restored", owner=found.thread, subject=found.session_id)
    _log("session.restored", found)


def idle(
    connection: Connection, now: datetime, silence: Silence, limit: int, after: Session | None = None
) -> tuple[list[Session], Session | None]:
    """Current sessions of all threads that have been silent for too long, the longest silent first.

    `limit` of them are looked at, from `after` on. The second result is the last one looked at, to go on after it, or
    None
    if there are no more.
    """
    query = select(*_COLUMNS).where(session.c.ended_at.is_(None), session.c.last_active <= silence.since(now))
    place = (session.c.last_active, session.c.thread)  # a thread has one current session
    if after is not None:
        query = query.where(
            tuple_(*place) > tuple_(after.last_active, after.thread, types=[each.type for each in place])
        )
    looked_at = [Session(*row) for row in connection.execute(query.order_by(*place).limit(limit))]
    silent = [found for found in looked_at if has_ended(connection, found, now, silence)]
    return silent, looked_at[-1] if len(looked_at) == limit else None


def none_ahead(connection: Connection, now: datetime) -> None:
    """Let sessions active in the future, written by a clock that ran ahead, be silent from now on."""
    ahead = update(session).where(session.c.ended_at.is_(None), session.c.last_active > now + _SKEW)
    connection.execute(ahead.values(last_active=now, ahead=session.c.last_active))


def client_of(connection: Connection, found: Session) -> Client:
    """The client of a session; nobody, with an ERROR, if the stored text was not encrypted for this session."""
    stored = select(session.c.client_name, session.c.client_phone).where(*rows_of(session, found))
    row = connection.execute(stored).one()
    key = found.thread, found.number
    try:
        return Client(
            CLIENT_NAME.decrypted(connection, key, row.client_name),
            CLIENT_PHONE.decrypted(connection, key, row.client_phone),
        )
    except SessionRefused:
        log.exception("client.unreadable", extra={"session_id": found.session_id})
        return Client()


def set_client(connection: Connection, found: Session, client: Client) -> None:
    changed = update(session).where(*rows_of(session, found))
    connection.execute(changed.values(_encrypted(connection, found, client)))


def _encrypted(connection: Connection, found: Session, client: Client) -> dict[str, str | None]:
    key = found.thread, found.number
    return {
        "client_name": CLIENT_NAME.encrypted(connection, key, client.name),
        "client_phone": CLIENT_PHONE.encrypted(connection, key, client.phone),
    }


def advance(connection: Connection, found: Session, *, next_row: int, active_at: datetime | None) -> None:
    """Record the rows used and, when a run wrote, the time of the activity."""
    last_active, ahead = active_at or found.last_active, found.ahead
    if abs(last_active - found.last_active) < _PRECISION:
        last_active = found.last_active
    elif last_active < found.last_active:
        ahead = found.last_active
    to_take = AT_ONCE if found.to_take == TAKEN else found.to_take
    if next_row == found.next_row and last_active == found.last_active and to_take == found.to_take:
        return
    changed = {"next_row": next_row, "last_active": last_active, "ahead": ahead, "to_take": to_take}
    _ADVANCE.run(connection, {"of_thread": found.thread, "of_number": found.number, **changed})


def disturb(connection: Connection, found: Session) -> None:
    """Tell every process to forget what it remembers of the session; other writers wait."""
    disturbed = update(session).where(*rows_of(session, found))
    connection.execute(disturbed.values(next_row=session.c.next_row + 1, to_take=_at_once_if(TAKEN)))


def all_of(connection: Connection, thread: str, *, lock: bool = False) -> Sequence[Session]:
    """Every session of the thread, oldest first. `lock` makes those who write to one or delete it wait."""
    query = select(*_COLUMNS).where(session.c.thread == thread).order_by(session.c.number)
    return [Session(*row) for row in connection.execute(query.with_for_update() if lock else query)]


def listed(connection: Connection, thread: str | None, limit: int | None = None) -> Sequence[Session]:
    """The sessions of the thread, or of all threads, the last active first."""
    # Current and ended ones by an index each: one of all sessions would be written anew at every step of a turn.
    states = session.c.ended_at.is_(None), session.c.ended_at.is_not(None)
    query = select(*_COLUMNS).order_by(session.c.last_active.desc()).limit(limit)
    mine = query.where(session.c.thread == thread).order_by(session.c.number.desc())
    parts = [query.where(each) for each in states] if thread is None else [mine]
    found = [Session(*row) for each in parts for row in connection.execute(each)]
    return sorted(found, key=lambda each: (each.last_active, each.number), reverse=True)[:limit]


def anywhere(connection: Connection, session_id: str) -> Session:
    """The session with this id, of any thread: for operators. Raises UnknownSession."""
    row = connection.execute(select(*_COLUMNS).where(session.c.session_id == session_id)).first()
    if row is None:
        raise UnknownSession(f"there is no session {session_id!r}: it may have been purged")
    return Session(*row)


def is_interrupted(connection: Connection, found: Session) -> bool:
    """Tell whether its newest checkpoint waits for a person's answer."""
    return _INTERRUPTED.first(connection, {"of_thread": found.thread, "of_session": found.number}) is not None


def _session(
    connection: Connection, query: tuple[Prepared, Prepared], parameters: dict[str, Any], lock: bool
) -> Session | None:
    row = query[lock].first(connection, parameters)
    return None if row is None else Session(*row)


def new_id() -> str:
    """A new session id, made without `uuid.uuid4`: a test that seeds or counts that must not notice it."""
    return str(uuid.UUID(bytes=os.urandom(16), version=4))


def _log(event: str, found: Session) -> None:
    log.info(event, extra={"phone": masked(found.thread), "session_id": found.session_id})


def _at_once_if(state: int) -> ColumnElement[int]:
    """The new value of `to_take`: AT_ONCE if it is this state, else unchanged."""
    return case((session.c.to_take == state, AT_ONCE), else_=session.c.to_take)


_COLUMNS = tuple(session.c[each.name] for each in fields(Session))
_THIS = given(session.c.thread, session.c.number)


def _locking_or_not(query: Select[Any]) -> tuple[Prepared, Prepared]:
    return Prepared(query), Prepared(query.with_for_update(of=session))


_NEWEST = _locking_or_not(
    select(*_COLUMNS)
    .where(*given(session.c.thread))
    .order_by(session.c.ended_at.is_(None).desc(), session.c.number.desc())
    .limit(1)
)
_BY_ID = _locking_or_not(select(*_COLUMNS).where(*given(session.c.thread, session.c.session_id)))
_WITH_CHECKPOINT = _locking_or_not(
    select(*_COLUMNS)
    .join(checkpoint, (checkpoint.c.thread == session.c.thread) & (checkpoint.c.session == session.c.number))
    .where(*given(session.c.thread, checkpoint.c.namespace, checkpoint.c.checkpoint_id))
    .order_by(session.c.number.desc())
    .limit(1)
)
_END = (
    update(session)
    .where(*given(session.c.thread), session.c.ended_at.is_(None))
    .values(ended_at=bindparam("at"), to_take=_at_once_if(WHEN_SILENT))
)
_ADVANCE = Prepared(
    update(session)
    .where(*_THIS)
    .values({name: bindparam(name) for name in ("next_row", "last_active", "ahead", "to_take")})
)
_LAST_SAID = Prepared(
    select(message.c.created_at)
    .where(*given(message.c.thread, message.c.session))
    .order_by(message.c.row.desc())
    .limit(_MOST_IN_PRECISION)
)
_TAKE = Prepared(
    update(session)
    .where(*given(session.c.thread), session.c.number >= bindparam("of_number"))
    .values(epoch=bindparam("of_ticket"))
)
_HEAD = (
    select(checkpoint.c.checkpoint_id)
    .where(*given(checkpoint.c.thread, checkpoint.c.session), checkpoint.c.namespace == "")
    .order_by(checkpoint.c.position.desc())
    .limit(1)
    .scalar_subquery()
)
_INTERRUPTED = Prepared(
    select(pending.c.task_id).where(
        *given(pending.c.thread, pending.c.session),
        pending.c.namespace == "",
        pending.c.checkpoint_id == _HEAD,
        pending.c.interrupt,
    )
)
