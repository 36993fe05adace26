"""Reads every memory, instruction, searchable message and vector, and names those that are damaged."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, Table, select

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import history_vector, memory, memory_vector
from langmem_plugin.memory import instructions
from langmem_plugin.memory.checksums import vector_is_whole
from langmem_plugin.memory.damaged_rows import AnyRow, Kind, each_row
from langmem_plugin.memory.memory_rows import STORED, as_memory
from langmem_plugin.memory.search import message_rows


@dataclass(frozen=True)
class DamagedRow:
    kind: Kind
    owner: str
    row_id: str


def examine(database: Database) -> list[DamagedRow]:
    """Nothing is changed. What was forgotten is not looked at: nobody will be told it."""
    return list(dict.fromkeys(_damaged(database)))


def _damaged(database: Database) -> Iterator[DamagedRow]:
    with database.read() as connection:
        for kind, statement, read in _READINGS:
            for row in each_row(connection, statement):
                if read(row) is None:
                    yield DamagedRow(kind, row[0], row[1])


def _vector(row: AnyRow) -> bytes | None:
    owner, row_id, model, stored, checksum = row
    return stored if vector_is_whole(owner, model, row_id, stored, checksum) else None


_VECTORS: list[tuple[Kind, Table, str]] = [
    ("memory vector", memory_vector, "memory_id"),
    ("message vector", history_vector, "message_id"),
]

# Each row begins with the owner and the id, and is read as None where it does not hold what was written.
_READINGS: list[tuple[Kind, Select[Any], Callable[[AnyRow], object | None]]] = [
    ("memory", select(*STORED).where(memory.c.status != "forgotten"), as_memory),
    ("instruction", select(*instructions.STORED), instructions.as_instruction),
    ("message", select(*message_rows.STORED), message_rows.as_message),
    *(
        (kind, select(table.c.owner, table.c[name], table.c.model, table.c.vector, table.c.checksum), _vector)
        for kind, table, name in _VECTORS
    ),
]
