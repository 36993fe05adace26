"""Repair of sessions: finds those whose rows are damaged, and rebuilds them from messages that can still be read."""

from collections.abc import Iterator
from dataclasses import dataclass

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from sqlalchemy import delete, select

from langmem_plugin.conversation.config_keys import SESSION
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.storage.checkpoint_rows import SessionCheckpoints
from langmem_plugin.conversation.storage.codec import RowNumbers
from langmem_plugin.database.conversation_tables import checkpoint, message, pending, value
from langmem_plugin.database.encryption.encrypted_columns import CHECKPOINT, ENCRYPTED, MESSAGE, PENDING, VALUE
from langmem_plugin.errors import DamagedSession, SessionRefused, TypeNotAllowed

_AT_ONCE = 100
_BESIDE_CHECKPOINTS = [
    each for each in ENCRYPTED if each.refusal is SessionRefused and each not in (MESSAGE, CHECKPOINT, VALUE, PENDING)
]


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a session that cannot be read."""

    session_id: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A row of a thread, beside its checkpoints, that was not encrypted for it."""

    thread: str
    why: str


def examine(saver: ConversationSaver) -> list[Damage]:
    """Read every checkpoint, write and message of every session, past the caches; return what is damaged."""
    found: list[Damage] = []
    with saver.database.read() as connection:
        everything = session_rows.listed(connection, None)
    for session in everything:
        with saver.checkpoints.reading(session.session_id, fresh=True) as checkpoints:
            found += [
                Damage(session.session_id, f"checkpoint {checkpoint_id}", str(error))
                for checkpoint_id, error in _errors_in(checkpoints)
            ]
    return found


def examine_beside(saver: ConversationSaver) -> list[Refused]:
    """Read the encrypted columns of conversations outside their checkpoints; return the rows refused."""
    if not saver.database.encryption.encrypts:
        return []
    found: list[Refused] = []
    for each in _BESIDE_CHECKPOINTS:
        keys = list(each.column.table.primary_key)
        with saver.database.read() as connection:
            for *key, stored in connection.execute(select(*keys, each.column)).yield_per(_AT_ONCE):
                try:
                    each.decrypted(connection, key, stored)
                except SessionRefused as error:
                    found.append(Refused(key[0], str(error)))
    return found


def rebuild(saver: ConversationSaver, session_id: str) -> tuple[int, int]:
    """Replace the session's history by one checkpoint that lists its readable messages in order.

    Return the numbers of messages kept and lost. State other than messages is lost; call it only for a session that
    `examine` reports. Raises UnknownSession, and TypeNotAllowed or SessionRefused without changing anything: a session
    with a type that is not allowed, or without its key, is not damaged.
    """
    with saver.checkpoints.reading(session_id, fresh=True) as checkpoints:
        for _, error in _errors_in(checkpoints):
            if isinstance(error, TypeNotAllowed) or _lacks_key(error):
                raise error
        session = checkpoints.session
        rows = _message_rows(checkpoints)
        readable = {row: found for row in rows if (found := _read(checkpoints, row)) is not None}
    latest = {found.id or str(row): row for row, found in readable.items()}
    # An edit is a later row of the same message: it takes the place of the first one.
    first = {found.id or str(row): row for row, found in reversed(readable.items())}
    messages = [readable[latest[key]] for key in sorted(latest, key=lambda key: abs(first[key]))]
    with saver.database.write() as connection:
        session_rows.disturb(connection, session)
        for table in (pending, checkpoint, message, value):
            connection.execute(delete(table).where(*session_rows.rows_of(table, session)))
    config: RunnableConfig = {"configurable": {"thread_id": session.thread, SESSION: session_id, "checkpoint_ns": ""}}
    saver.put(config, *saver.checkpoint_with(messages))
    return len(messages), len(rows) - len(readable)


def _errors_in(checkpoints: SessionCheckpoints) -> Iterator[tuple[str, DamagedSession]]:
    """The id of each checkpoint that cannot be read, with the error."""
    for namespace, checkpoint_id in checkpoints.ids(None, None):
        try:
            checkpoints.read(namespace, checkpoint_id)
        except DamagedSession as error:
            yield checkpoint_id, error


def _message_rows(checkpoints: SessionCheckpoints) -> list[int]:
    """All message rows of the session in order, negative for a message that never got an id."""
    mine = session_rows.rows_of(message, checkpoints.session)
    rows = checkpoints.connection.execute(
        select(message.c.row, message.c.message_id).where(*mine).order_by(message.c.row)
    )
    return [-row if message_id is None else row for row, message_id in rows]


def _read(checkpoints: SessionCheckpoints, row: int) -> BaseMessage | None:
    try:
        return checkpoints.messages.messages(RowNumbers.of([row]))[0]
    except DamagedSession as error:
        if _lacks_key(error):
            raise
        return None


def _lacks_key(error: DamagedSession) -> bool:
    return isinstance(error, SessionRefused) and error.lacks_key
