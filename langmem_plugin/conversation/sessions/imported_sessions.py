"""Imported sessions, which took place elsewhere: each stored in one transaction with its own dates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from langchain_core.messages import BaseMessage
from sqlalchemy import Connection, bindparam, func, select, update

from langmem_plugin.conversation.media.media_store import BroughtFiles
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Client, Session
from langmem_plugin.database import BULK_WORK
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.conversation_tables import session as table
from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.database.prepared_statements import given
from langmem_plugin.database.schema import upsert


@dataclass(frozen=True, slots=True)
class PastMessageOf:
    """One message of a past session. Without `tokens` they are counted; without `stored_at` it is the session's end."""

    message: BaseMessage
    stored_at: datetime | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class PastSession:
    """One past session. `ended_at` is None if it goes on; it is archived if the thread has a current one by then.

    `owner` is named where the thread's key does not say whose it is. `files` are contents with their types.
    """

    thread: str
    session_id: str
    created_at: datetime
    last_active: datetime
    ended_at: datetime | None
    messages: Sequence[PastMessageOf]
    owner: str | None = None
    client_name: str | None = None
    client_phone: str | None = None
    files: Sequence[tuple[bytes, str]] = ()


def thread_with(connection: Connection, session_id: str) -> str | None:
    """The key of the conversation that has a session of this id; None if none has."""
    found = connection.execute(select(table.c.thread).where(table.c.session_id == session_id)).first()
    return None if found is None else str(found[0])


def store(
    saver: ConversationSaver,
    past: PastSession,
    along: Callable[[Connection, Session, Sequence[int]], None] = lambda *_: None,
) -> bool:
    """Store the session, on disk when this returns; return False, and do nothing, if a session of that id exists.

    `along` writes in the same transaction; it is given the row of each message.
    """
    opened = None
    try:
        with saver.database.write(patience=BULK_WORK) as connection:
            session_rows.one_at_a_time(connection, past.thread)
            if thread_with(connection, past.session_id) is not None:
                return False
            session = _begun(connection, past)
            opened = saver.checkpoints.of(connection, session, past.last_active)
            files = BroughtFiles(connection, session.thread, session.number)
            for content, mime_type in past.files:
                saver.media.keep(content, mime_type, brought=files)
            files.flush()
            if past.messages:
                messages = [each.message for each in past.messages]
                begun, metadata, versions = saver.checkpoint_with(messages, at=past.last_active)
                opened.save("", begun, dict(metadata), versions, None)
            rows = [each.row for each in opened.listed()]
            _dated(connection, session, past, rows)
            session_rows.advance(connection, session, next_row=opened.messages.next_row, active_at=None)
            along(connection, session, rows)
    except BaseException:
        if opened is not None:
            opened.messages.forget()
        raise
    opened.messages.publish()
    return True


def _begun(connection: Connection, past: PastSession) -> Session:
    """Begin the session under a number that is in order among the others."""
    if past.owner is not None:
        noted = upsert(connection, thread_owner).values(thread=past.thread, owner=past.owner, noted_at=past.last_active)
        connection.execute(noted.on_conflict_do_nothing())
    there = session_rows.all_of(connection, past.thread, lock=True)
    number = session_rows.free_number(past.created_at, there)
    has_current = any(each.ended_at is None for each in there)
    ended_at = past.last_active if past.ended_at is None and has_current else past.ended_at
    session = Session(past.thread, number, past.session_id, past.created_at, past.last_active, ended_at, 1)
    session_rows.insert(connection, session, Client(past.client_name, past.client_phone))
    return session


def _dated(connection: Connection, session: Session, past: PastSession, rows: Sequence[int]) -> None:
    # If the record names no tokens, those counted here stay: the row's own column is written again.
    known = [
        {"of_row": row, "of_thread": session.thread, "of_session": session.number}
        | {"at": each.stored_at or past.last_active, "counted": each.tokens}
        for row, each in zip(rows, past.messages, strict=False)
    ]
    if known:
        connection.execute(_DATE, known)


_DATE = (
    update(message_table)
    .where(*given(message_table.c.thread, message_table.c.session, message_table.c.row))
    .values(
        created_at=bindparam("at", type_=message_table.c.created_at.type),
        tokens=func.coalesce(bindparam("counted", type_=message_table.c.tokens.type), message_table.c.tokens),
    )
)
