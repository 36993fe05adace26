"""The numbers of an owner's changes: what readers and indexes have seen is compared with them."""

import os

from sqlalchemy import Connection, update

from langmem_plugin.database.memory_tables import memory_owner
from langmem_plugin.database.schema import upsert
from langmem_plugin.identifiers import OwnerKey


def begin_change(connection: Connection, owner: OwnerKey, numbers: int = 1) -> tuple[int, bytes]:
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


def begin_removal(connection: Connection, owner: OwnerKey) -> None:
    """The same for rows that are deleted, which no later read can see: all readers start again."""
    number, _ = begin_change(connection, owner)
    connection.execute(update(memory_owner).where(memory_owner.c.owner == owner).values(rebuild=number))
