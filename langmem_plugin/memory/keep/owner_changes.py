"""The numbers of an owner's changes: what readers and indexes have seen is compared with them."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, bindparam, select, update

from langmem_plugin.database.memory_tables import memory, memory_owner, standing_instruction
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.database.schema import in_parts, upsert
from langmem_plugin.identifiers import OwnerKey


class OwnerState(NamedTuple):
    """The state of an owner, which changes with every write; `salt` changes with an erasure."""

    owner: OwnerKey
    change: int
    rebuild: int
    salt: bytes


OwnerStates = dict[OwnerKey, OwnerState]


def states_of(connection: Connection, owners: Iterable[OwnerKey]) -> OwnerStates:
    """The states of those owners of whom anything was ever kept."""
    wanted = list(dict.fromkeys(owners))
    found: OwnerStates = {}
    for start in range(0, len(wanted), len(_NAMES)):
        few = wanted[start : start + len(_NAMES)]
        asked = dict(zip(_NAMES, few + few[-1:] * len(_NAMES), strict=False))
        found |= {row[0]: OwnerState(OwnerKey(row[0]), *row[1:]) for row in _STATES.all(connection, asked)}
    return found


_NAMES = "first", "second", "third"  # a person, their household, whom they speak for
_COLUMNS = memory_owner.c.owner, memory_owner.c.change, memory_owner.c.rebuild, memory_owner.c.salt
_STATES = Prepared(select(*_COLUMNS).where(memory_owner.c.owner.in_([bindparam(name) for name in _NAMES])))


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


def owned(
    connection: Connection, owner: OwnerKey, row_id: Column[Any], ids: Sequence[str], *also: ColumnElement[bool]
) -> set[str]:
    """Names those of the ids that the owner has, in whatever state, also where the row is damaged."""
    found: set[str] = set()
    for part in in_parts(ids):
        mine = select(row_id).where(row_id.table.c.owner == owner, row_id.in_(part), *also)
        found.update(connection.execute(mine).scalars())
    return found


def owners_of_memory(connection: Connection, memory_id: str) -> list[str]:
    """Mostly one; more where a person's data was imported for another as well."""
    return list(connection.execute(select(memory.c.owner).where(memory.c.memory_id == memory_id)).scalars())


def owners_of_instruction(connection: Connection, instruction_id: str) -> list[str]:
    whose = select(standing_instruction.c.owner).where(standing_instruction.c.instruction_id == instruction_id)
    return list(connection.execute(whose).scalars())
