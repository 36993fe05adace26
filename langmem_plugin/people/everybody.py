"""Everybody of whom anything is stored: people and groups, by their keys."""

import contextlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Subquery, Text, func, or_, select, type_coerce, union

from langmem_plugin.database.conversation_tables import session, thread_owner
from langmem_plugin.database.encryption.encrypted_columns import CLIENT_NAME
from langmem_plugin.database.memory_tables import memory, memory_owner, standing_instruction
from langmem_plugin.database.people_tables import identifier, person
from langmem_plugin.errors import SessionRefused
from langmem_plugin.identifiers import ScopeKey
from langmem_plugin.people.person_records import named_like

Order = Literal["active", "memories", "key"]
_MOST_NAMED, _MOST_CALLED = 1_000, 10_000
_SCOPES = str(ScopeKey.named(""))


def everybody(connection: Connection, *, after: str = "", limit: int = 50, offset: int = 0) -> list[str]:
    """Return the keys of everybody in their order, from behind `after` on and without the first `offset` of those."""
    keys = _keys()
    wanted = select(keys.c.key).where(keys.c.key > after, _is_somebody(keys)).order_by(keys.c.key)
    return list(connection.execute(wanted.limit(limit).offset(offset)).scalars())


def how_many(connection: Connection) -> int:
    """Return how many `everybody` lists."""
    keys = _keys()
    people = select(func.count()).select_from(keys).where(keys.c.key > "", _is_somebody(keys))
    return int(connection.execute(people).scalar_one())


@dataclass(frozen=True)
class Somebody:
    """A person or a group in a list; `last_active` is None for one who has said nothing here, or only long ago."""

    key: str
    last_active: datetime | None
    memories: int


def looked_for(
    connection: Connection, words: str = "", *, order: Order = "active", limit: int = 50, offset: int = 0
) -> tuple[list[Somebody], int]:
    """Return those who have `words` in an identifier, such as its last digits, or in the name that an operator or their
    channel gave, and how many there are; sorted by the last active, the most memories, or the key.
    """
    keys = _keys()
    whose = func.coalesce(thread_owner.c.owner, session.c.thread)
    talks = session.outerjoin(thread_owner, thread_owner.c.thread == session.c.thread)
    active = (
        select(whose.label("key"), func.max(session.c.last_active).label("at")).select_from(talks).group_by(whose)
    ).subquery()
    counted = select(memory.c.owner.label("key"), func.count().label("many")).where(memory.c.status == "active")
    many = counted.group_by(memory.c.owner).subquery()
    also = select(identifier.c.person).where(
        type_coerce(identifier.c.identifier, Text).contains(words, autoescape=True)
    )
    fits = or_(type_coerce(keys.c.key, Text).contains(words, autoescape=True), keys.c.key.in_(also))
    if words:
        fits |= keys.c.key.in_([*named_like(connection, words), *_called_like(connection, words)][:_MOST_NAMED])
    wanted = (keys.c.key > "", _is_somebody(keys), *((fits,) if words else ()))
    memories = func.coalesce(many.c.many, 0)
    orders: dict[Order, tuple[ColumnElement[Any], ...]] = {
        "active": (active.c.at.is_(None), active.c.at.desc()),
        "memories": (memories.desc(),),
        "key": (),
    }
    found = (
        select(keys.c.key, active.c.at, memories)
        .select_from(keys.outerjoin(active, active.c.key == keys.c.key).outerjoin(many, many.c.key == keys.c.key))
        .where(*wanted)
        .order_by(*orders[order], keys.c.key)
    )
    rows = connection.execute(found.limit(limit).offset(offset))
    total = connection.execute(select(func.count()).select_from(keys).where(*wanted)).scalar_one()
    return [Somebody(*row) for row in rows], int(total)


def _called_like(connection: Connection, words: str) -> set[str]:
    """Return the keys of those whose channel gave a name with these words in it, in one of the last 10,000 sessions."""
    named = select(session.c.thread, session.c.number, session.c.client_name).where(session.c.client_name.is_not(None))
    found = set()
    for *key, name in connection.execute(named.order_by(session.c.last_active.desc()).limit(_MOST_CALLED)):
        with contextlib.suppress(SessionRefused):  # damaged, or its key is not here: nobody is found by it
            if words.casefold() in CLIENT_NAME.decrypted(connection, tuple(key), name).casefold():
                found.add(key[0])
    return found


def is_somebody(connection: Connection, key: str) -> bool:
    """Tell whether anything is stored of the person or the group with this key."""
    keys = _keys()
    return connection.execute(select(keys.c.key).where(keys.c.key == key).limit(1)).first() is not None


def _is_somebody(keys: Subquery) -> ColumnElement[bool]:
    """Return the condition that a key is no scope; no text that is given as a key can name a scope."""
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
