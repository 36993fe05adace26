"""The numbers of an owner's changes: what readers and indexes have seen is compared with them."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Table, update
from sqlalchemy.dialects import postgresql, sqlite

from langmem_plugin.database.memory_tables import memory_owner

_AT_ONCE = 500  # ids in one IN list


def begin_change(connection: Connection, owner: str, numbers: int = 1) -> tuple[int, bytes]:
    """Takes so many numbers of changes; the last one, and the owner's salt.

    On PostgreSQL the owner's other writers wait here until this transaction ends.
    """
    row = connection.execute(
        upsert(connection, memory_owner)
        .values(owner=owner, change=numbers, rebuild=0, salt=os.urandom(16))
        .on_conflict_do_update(index_elements=["owner"], set_={"change": memory_owner.c.change + numbers})
        .returning(memory_owner.c.change, memory_owner.c.salt)
    ).one()
    return row.change, row.salt


def begin_removal(connection: Connection, owner: str) -> None:
    """The same for rows that are deleted, which no later read can see: all readers start again."""
    number, _ = begin_change(connection, owner)
    connection.execute(update(memory_owner).where(memory_owner.c.owner == owner).values(rebuild=number))


def upsert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that can say what happens where the row is there already."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def in_parts(many: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """As many ids as one IN list takes, and then the next."""
    return (many[start : start + _AT_ONCE] for start in range(0, len(many), _AT_ONCE))
