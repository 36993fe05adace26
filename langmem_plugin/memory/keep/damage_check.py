"""Check all stored tables of the long-term memory for damage."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Column, Select, Table, select

from langmem_plugin.database import Database
from langmem_plugin.database.encryption import Encryption
from langmem_plugin.database.memory_tables import (
    history_vector,
    memory,
    memory_vector,
)
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find import past_messages
from langmem_plugin.memory.instructions import standing_instructions
from langmem_plugin.memory.keep import categories
from langmem_plugin.memory.keep.changes_and_checksums import AnyRow, Kind, SealedTable, each_row
from langmem_plugin.memory.keep.memory_row_mapping import STORED, as_memory
from langmem_plugin.memory.keep.vectors import opened_vector, vector_place


@dataclass(frozen=True)
class DamagedRow:
    kind: Kind
    owner: OwnerKey
    row_id: str


def examine(database: Database) -> list[DamagedRow]:
    """Return the damaged rows; change nothing. Forgotten memories are not read: nobody will be shown them."""
    with database.read() as connection:
        damaged = (
            DamagedRow(kind, row[0], row[1])
            for kind, statement, read in _READINGS
            for row in each_row(connection, statement)
            if read(row, database.encryption) is None
        )
        return list(dict.fromkeys(damaged))


def _vector(table: Table, row: AnyRow, encryption: Encryption) -> bytes | None:
    owner, row_id, model, *held = row
    return opened_vector(encryption, vector_place(table, owner, model, row_id), held)


def _vectors(table: Table, row_id: Column[Any]) -> Select[Any]:
    return select(table.c.owner, row_id, table.c.model, table.c.vector, table.c.checksum)


_SEALED: dict[Kind, SealedTable] = {
    "instruction": standing_instructions.SEALED,
    "category": categories.SEALED,
    "message": past_messages.SEALED,
}
# Each row begins with the owner and the id, and is read as None where it does not hold what was written.
_READINGS: list[tuple[Kind, Select[Any], Callable[[AnyRow, Encryption], object | None]]] = [
    ("memory", select(*STORED).where(memory.c.status != "forgotten"), as_memory),
    *((kind, select(*sealed.stored()), sealed.read) for kind, sealed in _SEALED.items()),
    ("memory vector", _vectors(memory_vector, memory_vector.c.memory_id), partial(_vector, memory_vector)),
    ("message vector", _vectors(history_vector, history_vector.c.message_id), partial(_vector, history_vector)),
]
