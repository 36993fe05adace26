"""A listing of all people and groups of whom anything is stored, by their keys. No list reads the whole table."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Text, func, select, type_coerce, union

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.database.conversation_tables import session, thread_owner
from langmem_plugin.database.encryption.encrypted_columns import CLIENT_NAME
from langmem_plugin.database.memory_tables import memory, memory_owner, standing_instruction
from langmem_plugin.database.people_tables import identifier, person
from langmem_plugin.database.schema import in_parts
from langmem_plugin.identifiers import ScopeKey
from langmem_plugin.people.person_settings import has_words, named_like

MOST_COUNTED = 1_000
_MOST_FOUND = 500
_NEWEST, _MOST_CALLED = 1_000, 10_000  # sessions whose people are listed first, and whose channels' names are read
_SCOPES = str(ScopeKey.named(""))
# Looked up for each thread: of a join the server might think that it had better read both tables.
_NOTED = select(thread_owner.c.thread).where(thread_owner.c.thread == session.c.thread).scalar_subquery()
_KEYS: tuple[tuple[ColumnElement[str], ColumnElement[bool] | None], ...] = (
    (memory_owner.c.owner, None),
    (standing_instruction.c.owner, None),
    (person.c.person, None),
    (identifier.c.person, None),
    (thread_owner.c.owner, None),
    (session.c.thread, _NOTED.is_(None)),
)
"""The columns with the keys of people, each with the condition under which it is one."""


def everybody(
    connection: Connection, *, after: str = "", limit: int = 50, offset: int = 0, words: str = ""
) -> list[str]:
    """Return the keys of everybody in their order, from behind `after` on and without the first `offset` of those; with
    `words` only those that have them in it.
    """
    parts = []
    for key, condition in _KEYS:
        plain = type_coerce(key, Text)
        mine = [key > after, ~plain.startswith(_SCOPES), *(() if condition is None else (condition,))]
        if words:
            mine.append(plain.contains(words, autoescape=True))
        # Each part goes by its index to the last key that is needed.
        part = select(key.label("key")).where(*mine).distinct().order_by(key).limit(offset + limit)
        parts.append(select(part.subquery()))
    keys = union(*parts).subquery()
    return list(connection.execute(select(keys).order_by(keys.c.key).limit(limit).offset(offset)).scalars())


def how_many(connection: Connection) -> int | None:
    """Return how many `everybody` lists; None where they are more than MOST_COUNTED."""
    many = len(everybody(connection, limit=MOST_COUNTED + 1))
    return many if many <= MOST_COUNTED else None


@dataclass(frozen=True)
class Somebody:
    """A person or a group in a list; `last_active` is None for one who has said nothing here, or only long ago."""

    key: str
    last_active: datetime | None
    memories: int


def listed(connection: Connection, *, limit: int = 50, offset: int = 0) -> list[Somebody]:
    """Return the people of the newest sessions, the last active first, and then all others by their keys."""
    keys = _active(connection)
    if len(keys) < offset + limit:
        keys = [*dict.fromkeys([*keys, *everybody(connection, limit=offset + limit)])]
    return [_somebody(connection, each) for each in keys[offset : offset + limit]]


def looked_for(connection: Connection, words: str, *, limit: int) -> tuple[list[Somebody], int]:
    """Return the first who have these words in an identifier, such as its last digits, or in the name that an operator
    or their channel gave, and how many have: all keys are read for it.
    """
    linked = type_coerce(identifier.c.identifier, Text).contains(words, autoescape=True)
    also = connection.execute(select(identifier.c.person).where(linked).limit(_MOST_FOUND)).scalars()
    named = [*named_like(connection, words), *_called_like(connection, words)][:_MOST_FOUND]
    keys = sorted({*everybody(connection, words=words, limit=_MOST_FOUND), *also, *named})
    return [_somebody(connection, each) for each in keys[:limit]], len(keys)


def _called_like(connection: Connection, words: str) -> set[str]:
    """Return the keys of those whose channel gave a name with these words in it, in one of the last sessions."""
    columns = session.c.thread, session.c.number, session.c.client_name
    newest = select(*columns).order_by(session.c.last_active.desc()).limit(_MOST_CALLED)
    states = session.c.ended_at.is_(None), session.c.ended_at.is_not(None)  # each has an index
    return {
        thread
        for state in states
        for thread, number, name in connection.execute(newest.where(state))
        if has_words(connection, CLIENT_NAME, (thread, number), name, words)
    }


def _active(connection: Connection) -> list[str]:
    """Return the people of the newest sessions, the last active first."""
    threads = dict.fromkeys(each.thread for each in session_rows.listed(connection, None, _NEWEST))
    noted: dict[str, str | None] = {}
    for part in in_parts([*threads]):
        owners = select(thread_owner.c.thread, thread_owner.c.owner).where(thread_owner.c.thread.in_(part))
        noted |= {row.thread: row.owner for row in connection.execute(owners)}
    whose = (noted.get(each, each) for each in threads)  # a thread that two people claim is nobody's
    return [*dict.fromkeys(key for key in whose if key is not None)]


def _somebody(connection: Connection, key: str) -> Somebody:
    owned = connection.execute(select(thread_owner.c.thread).where(thread_owner.c.owner == key).limit(_MOST_FOUND))
    theirs = session.c.thread.in_([key, *owned.scalars()])
    held = select(func.count()).select_from(memory).where(memory.c.owner == key, memory.c.status == "active")
    last_active = connection.execute(select(func.max(session.c.last_active)).where(theirs)).scalar()
    return Somebody(key, last_active, connection.execute(held).scalar_one())
