"""Moves sessions with everything in them from one conversation to another, under their own ids, or copies them."""

import secrets
import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Table, delete, insert, literal, or_, select, update

from langmem_plugin.conversation.config_keys import TURN
from langmem_plugin.conversation.media.media_store import Media, bind_files_anew, hold_files
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.turns.turn_queue import Opened
from langmem_plugin.database.conversation_tables import (
    AT_ONCE,
    WHEN_SILENT,
    acknowledged,
    checkpoint,
    decision,
    incoming,
    media,
    message,
    pending,
    question,
    session,
    thread_owner,
    turn,
    value,
)
from langmem_plugin.database.encryption.encrypted_columns import bind_anew
from langmem_plugin.database.memory_tables import extraction_job, history_message
from langmem_plugin.database.schema import in_parts

_WITH_CHECKPOINTS = (message, value, media, checkpoint, pending)
_IN_SESSION = (*_WITH_CHECKPOINTS, decision, extraction_job)

THREADS = (session.c.thread, incoming.c.thread, question.c.thread, thread_owner.c.owner)
"""The columns that name the conversation, or the owner, of a row."""

_MOST_SHIFT = 1_000_000  # microseconds


def standing_still(connection: Connection, thread: str, ticket: int) -> Opened:
    """Open a turn that moves sessions: none begins or ends, and the thread's former holder is shut out."""
    newest = session_rows.newest(connection, thread, lock=True)
    if newest is not None:
        session_rows.take(connection, newest, ticket)
    return Opened({"configurable": {"thread_id": thread, TURN: ticket}})


def move_sessions(
    connection: Connection,
    folder: Media,
    source: str,
    target: str,
    now: datetime,
    *,
    only: Collection[str] | None = None,
) -> tuple[list[str], str | None]:
    """Move all sessions of a thread, or those with these ids; return their ids, and that of the archived one.

    Of two current ones the one that was active last stays current. Raises DecryptionRefused: what cannot be read is
    not moved to a place where it never could be.
    """
    for thread in sorted((source, target)):  # in the same order for all, so that no two wait for each other
        session_rows.one_at_a_time(connection, thread)
    held = {thread: session_rows.all_of(connection, thread, lock=True) for thread in sorted((source, target))}
    moving = [each for each in held[source] if only is None or each.session_id in only]
    if not moving:
        return [], None
    hold_files(connection)  # after the sessions, as all writers do
    archived = _one_current(connection, [*moving, *held[target]], now)
    moving = [replace(each, ended_at=now) if each.session_id == archived else each for each in moving]
    stand_in = replace(moving[0], thread=target, number=0, session_id=_name(), ended_at=now)
    _insert(connection, moving[0], stand_in)
    shift = _shift({each.number for each in moving}, {each.number for each in held[target]})
    for each in moving:
        _move(connection, folder, each, replace(each, thread=target, number=each.number + shift), stand_in)
    connection.execute(delete(session).where(*session_rows.rows_of(session, stand_in)))
    return [each.session_id for each in moving], archived


def copy_sessions(connection: Connection, folder: Media, source: str, target: str) -> None:
    """Copy every session of a thread, under numbers and ids of their own. Raises DecryptionRefused."""
    originals = session_rows.all_of(connection, source, lock=True)
    hold_files(connection)  # after the sessions, as all writers do: with two orders they would wait for each other
    for offset, original in enumerate(originals):
        number = time.time_ns() // 1_000 + offset
        to_take = WHEN_SILENT if original.ended_at is None else AT_ONCE
        session_id = session_rows.new_id()
        twin = replace(original, thread=target, number=number, session_id=session_id, to_take=to_take)
        if twin.ended_at is None:
            session_rows.end(connection, target, twin.last_active)
        _insert(connection, original, twin)
        for table in _WITH_CHECKPOINTS:
            columns: dict[str, ColumnElement[Any]] = {"thread": literal(target), "session": literal(twin.number)}
            _insert_from(connection, table, columns, table.c.session == original.number, source)
        for table in (session, *_WITH_CHECKPOINTS):
            bind_rows_anew(connection, folder, table, twin, original)


def set_current(connection: Connection, session_id: str, archived_at: datetime) -> None:
    """Undo the archiving of a session at this instant, if its thread has no other current one."""
    current = session.alias()
    has_current = select(current.c.number).where(current.c.thread == session.c.thread, current.c.ended_at.is_(None))
    connection.execute(
        update(session)
        .where(session.c.session_id == session_id, session.c.ended_at == archived_at, ~has_current.exists())
        .values(ended_at=None)
    )


def move_claims(connection: Connection, source: str, target: str, only: Collection[str] | None = None) -> list[str]:
    """Move the source's threads whose key does not name an owner to the target; return the threads."""
    wanted = () if only is None else (thread_owner.c.thread.in_(only),)
    return _moved(connection, thread_owner.c.owner, thread_owner.c.thread, source, target, *wanted)


def move_incoming(connection: Connection, source: str, target: str, only: Collection[str] | None = None) -> list[str]:
    """Move the answered messages, so that none is answered again, and those whose turns were cut short.

    Return their ids. A message that still waits for its turn draws another ticket, and goes along with it.
    """
    there = incoming.alias()
    known = select(there.c.message_id).where(there.c.thread == target, there.c.message_id == incoming.c.message_id)
    in_line = select(turn.c.ticket).where(turn.c.thread == source, turn.c.ticket == incoming.c.ticket)
    wanted = [or_(incoming.c.reply.is_not(None), ~in_line.exists()), ~known.exists()]
    if only is None:  # what a webhook acknowledged unanswered goes too, since its key may go
        _moved(connection, acknowledged.c.identifier, acknowledged.c.delivery_id, source, target)
    else:
        wanted.append(incoming.c.message_id.in_(only))
    return _moved(connection, incoming.c.thread, incoming.c.message_id, source, target, *wanted)


def move_question(connection: Connection, source: str, target: str) -> bool:
    """Move the open question to the target, unless the target has one too. Return whether it moved."""
    there = question.alias()
    asked = select(there.c.thread).where(there.c.thread == target).exists()
    return bool(_moved(connection, question.c.thread, question.c.thread, source, target, ~asked))


def _moved(
    connection: Connection,
    holder: Column[Any],
    key: Column[Any],
    source: str,
    target: str,
    *wanted: ColumnElement[bool],
) -> list[str]:
    """Move rows from one holder to another, and encrypt them anew; return their keys."""
    moving = update(holder.table).where(holder == source, *wanted).values({holder.name: target})
    moved = list(connection.execute(moving.returning(key)).scalars())
    for part in in_parts(moved):
        bind_anew(connection, key.table, (holder == target, key.in_(part)), {holder.name: source})
    return moved


def is_there(connection: Connection, thread: str) -> bool:
    """Tell whether anything is stored of a conversation, or of a server's conversation that this person owns."""
    return any(connection.execute(select(each).where(each == thread).limit(1)).first() for each in THREADS)


def bind_rows_anew(connection: Connection, folder: Media, table: Table, now_in: Session, before_in: Session) -> None:
    """Encrypt the rows of a session, or its own row, anew for it. Raises DecryptionRefused, StorageFull."""
    if table is media:
        places = (now_in.thread, now_in.number), (before_in.thread, before_in.number)
        bind_files_anew(connection, folder, *places)
        return
    before: dict[str, str | int] = {
        "thread": before_in.thread,
        "number" if table is session else "session": before_in.number,
    }
    bind_anew(connection, table, session_rows.rows_of(table, now_in), before)


def _one_current(connection: Connection, together: Collection[Session], now: datetime) -> str | None:
    current = [each for each in together if each.ended_at is None]
    if len(current) < 2:  # noqa: PLR2004 - one of each thread at most
        return None
    over = min(current, key=lambda each: each.last_active)
    session_rows.end(connection, over.thread, now, number=over.number)
    return over.session_id


def _move(connection: Connection, folder: Media, found: Session, arrived: Session, stand_in: Session) -> None:
    """Move one session. A stand-in holds what refers to its id meanwhile: no two sessions may have one id."""
    by_id = history_message.c.of_session
    connection.execute(update(history_message).where(by_id == found.session_id).values(of_session=stand_in.session_id))
    mine = session_rows.rows_of(session, found)
    connection.execute(update(session).where(*mine).values(session_id=_name()))
    _insert(connection, found, arrived)
    connection.execute(update(history_message).where(by_id == stand_in.session_id).values(of_session=found.session_id))
    for table in _IN_SESSION:
        moving = update(table).where(*session_rows.rows_of(table, found))
        connection.execute(moving.values(thread=arrived.thread, session=arrived.number))
    for table in (session, *_IN_SESSION):
        bind_rows_anew(connection, folder, table, arrived, found)
    connection.execute(delete(session).where(*mine))


def _insert(connection: Connection, found: Session, twin: Session) -> None:
    """Insert the whole row of `found` as its twin elsewhere, with a raised next row.

    A process may remember rows of it that are no longer right.
    """
    changed: dict[str, ColumnElement[Any]] = {
        "thread": literal(twin.thread),
        "number": literal(twin.number),
        "session_id": literal(twin.session_id),
        "ended_at": literal(twin.ended_at, session.c.ended_at.type),
        "to_take": literal(twin.to_take),
        "next_row": session.c.next_row + 1,
    }
    _insert_from(connection, session, changed, session.c.number == found.number, found.thread)


def _insert_from(
    connection: Connection,
    table: Table,
    changed: Mapping[str, ColumnElement[Any]],
    where: ColumnElement[bool],
    source: str,
) -> None:
    names = [column.name for column in table.columns]
    columns = [changed.get(name, table.c[name]) for name in names]
    connection.execute(insert(table).from_select(names, select(*columns).where(table.c.thread == source, where)))


def _name() -> str:
    """The name of a session that exists only during the transaction."""
    return f"moving-{uuid.uuid4()}"


def _shift(numbers: set[int], taken: set[int]) -> int:
    """The number to raise all session numbers by: less than a second, so that the sessions stay in their order.

    It is random, because a process may remember rows of another session that had the same number.
    """
    while True:
        shift = 1 + secrets.randbelow(_MOST_SHIFT)
        if not {number + shift for number in numbers} & taken:
            return shift
