"""Everybody of whom anything is stored: people and groups, by their keys."""

from sqlalchemy import Connection, select, union

from langmem_plugin.database.conversation_tables import session, thread_owner
from langmem_plugin.database.memory_tables import memory_owner, standing_instruction
from langmem_plugin.database.people_tables import identifier, person
from langmem_plugin.identifiers import ScopeKey, owner_as_stored


def everybody(connection: Connection, *, after: str = "", limit: int = 50) -> list[str]:
    """In the order of their keys, from behind `after` on."""
    owned = select(thread_owner.c.thread)
    keys = union(
        select(memory_owner.c.owner.label("key")),
        select(standing_instruction.c.owner),
        select(person.c.person),
        select(identifier.c.person),
        select(thread_owner.c.owner),
        select(session.c.thread).where(session.c.thread.not_in(owned)),
    ).subquery()
    found = connection.execute(
        select(keys.c.key).where(keys.c.key > after).order_by(keys.c.key).limit(limit + 1)
    ).scalars()
    return [each for each in map(owner_as_stored, found) if each and not isinstance(each, ScopeKey)][:limit]
