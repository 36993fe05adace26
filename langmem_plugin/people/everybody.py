"""Everybody of whom anything is stored: people and groups, by their keys."""

from sqlalchemy import ColumnElement, Connection, Subquery, Text, func, select, type_coerce, union

from langmem_plugin.database.conversation_tables import session, thread_owner
from langmem_plugin.database.memory_tables import memory_owner, standing_instruction
from langmem_plugin.database.people_tables import identifier, person
from langmem_plugin.identifiers import ScopeKey

_SCOPES = str(ScopeKey.named(""))


def everybody(connection: Connection, *, after: str = "", limit: int = 50, offset: int = 0) -> list[str]:
    """In the order of their keys, from behind `after` on and without the first `offset` of those."""
    keys = _keys()
    wanted = select(keys.c.key).where(keys.c.key > after, _is_somebody(keys)).order_by(keys.c.key)
    return list(connection.execute(wanted.limit(limit).offset(offset)).scalars())


def how_many(connection: Connection) -> int:
    """All that `everybody` lists."""
    keys = _keys()
    people = select(func.count()).select_from(keys).where(keys.c.key > "", _is_somebody(keys))
    return int(connection.execute(people).scalar_one())


def is_somebody(connection: Connection, key: str) -> bool:
    """Anything is stored of the person or the group with this key."""
    keys = _keys()
    return connection.execute(select(keys.c.key).where(keys.c.key == key).limit(1)).first() is not None


def _is_somebody(keys: Subquery) -> ColumnElement[bool]:
    """No scope, which no text that is given as a key can name."""
    return ~type_coerce(keys.c.key, Text).startswith(_SCOPES)


def _keys() -> Subquery:
    owned = select(thread_owner.c.thread)
    return union(
        select(memory_owner.c.owner.label("key")),
        select(standing_instruction.c.owner),
        select(person.c.person),
        select(identifier.c.person),
        select(thread_owner.c.owner),
        select(session.c.thread).where(session.c.thread.not_in(owned)),
    ).subquery()
