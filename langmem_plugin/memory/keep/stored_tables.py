"""All stored tables of the long-term memory read through: for damage, and to encrypt what was there before keys."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Column, Connection, Select, Table, bindparam, delete, select, tuple_, update

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.encryption import Encryption, encryption_of
from langmem_plugin.database.encryption.encryption import NO_ENCRYPTION
from langmem_plugin.database.memory_tables import (
    history_message,
    history_vector,
    memory,
    memory_owner,
    memory_vector,
)
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.find import past_messages
from langmem_plugin.memory.instructions import instructions
from langmem_plugin.memory.keep import categories, memory_rows
from langmem_plugin.memory.keep.memory_rows import STORED, as_memory, digest_of
from langmem_plugin.memory.keep.rows import AnyRow, Kind, SealedTable, all_rows, begin_removal, each_row
from langmem_plugin.memory.keep.stored_vectors import OF_MEMORY, HeldVector, opened_vector, vector_place, vector_values


@dataclass(frozen=True)
class DamagedRow:
    kind: Kind
    owner: OwnerKey
    row_id: str


def examine(database: Database) -> list[DamagedRow]:
    """Return the damaged rows; change nothing. Forgotten memories are not read: nobody will be shown them."""
    return list(dict.fromkeys(_damaged(database)))


def _damaged(database: Database) -> Iterator[DamagedRow]:
    encryption = database.encryption
    with database.read() as connection:
        for kind, statement, read in _READINGS:
            for row in each_row(connection, statement):
                if read(row, encryption) is None:
                    yield DamagedRow(kind, row[0], row[1])


def _vector(table: Table, row: AnyRow, encryption: Encryption) -> bytes | None:
    owner, row_id, model, *held = row
    return opened_vector(encryption, vector_place(table, owner, model, row_id), HeldVector(*held))


def _vectors(table: Table, row_id: Column[Any]) -> Select[Any]:
    return select(table.c.owner, row_id, table.c.model, table.c.vector, table.c.checksum)


_SEALED: dict[Kind, SealedTable] = {
    "instruction": instructions.SEALED,
    "category": categories.SEALED,
    "message": past_messages.SEALED,
}
# Each row begins with the owner and the id, and is read as None where it does not hold what was written.
_READINGS: list[tuple[Kind, Select[Any], Callable[[AnyRow, Encryption], object | None]]] = [
    ("memory", select(*STORED).where(memory.c.status != "forgotten"), as_memory),
    *((kind, select(*sealed.stored()), sealed.read) for kind, sealed in _SEALED.items()),
    (
        "memory vector",
        _vectors(memory_vector, memory_vector.c.memory_id).join(memory, OF_MEMORY),
        partial(_vector, memory_vector),
    ),
    ("message vector", _vectors(history_vector, history_vector.c.message_id), partial(_vector, history_vector)),
]


log = event_log(__name__)

_AT_ONCE = 200
_Values = dict[str, Any]


def encrypt_stored(database: Database) -> Iterator[int]:
    """Encrypt the plain rows; after each transaction give how many it changed. Where it was stopped, the
    next call goes on.

    A row that does not hold what was written is left as it is: it is shown to nobody, and `langmem doctor` names it.
    The vector indexes of owners of whom something was encrypted are made anew, without it.
    """
    for table, id_column, statement, read in _tables():
        plain = statement.where(table.c.sealed.is_(None)).order_by(table.c.owner, id_column).limit(_AT_ONCE)
        after = ("", "")
        while True:
            with database.write(patience=BULK_WORK) as connection:
                rows = all_rows(connection, plain.where(tuple_(table.c.owner, id_column) > after))
                changed = _encrypt(connection, table, id_column, rows, read)
            if not rows:
                break
            after = (rows[-1].owner, rows[-1][1])
            yield changed


def _encrypt(
    connection: Connection,
    table: Table,
    id_column: Column[Any],
    rows: Sequence[AnyRow],
    read: Callable[[AnyRow, Encryption], _Values | None],
) -> int:
    encryption, sealed_of, changed = encryption_of(connection), set(), 0
    for row in rows:
        values = read(row, encryption)
        if values is None:
            log.error(
                "encryption.damaged_row", extra={"table": table.name, "owner": masked(row.owner), "row_id": row[1]}
            )
            continue
        changed += 1
        here = (table.c.owner == bindparam("of_owner"), id_column == bindparam("of_id"))
        connection.execute(update(table).where(*here).values(values), {"of_owner": row.owner, "of_id": row[1]})
        sealed_of.add(row.owner)
        if (vectors := _VECTORS.get(table)) is not None:
            _encrypt_vectors(connection, vectors, id_column.name, row.owner, row[1])
    for owner in sorted(sealed_of):
        begin_removal(connection, owner)
    return changed


_VECTORS = {memory: memory_vector, history_message: history_vector}


def _encrypt_vectors(connection: Connection, table: Table, name: str, owner: OwnerKey, row_id: str) -> None:
    """Encrypt all vectors of a row, of whatever model. One that is damaged is deleted."""
    here = (table.c.owner == owner, table.c[name] == row_id)
    held = select(table.c.model, table.c.vector, table.c.checksum).where(*here)
    for model, stored, checksum in connection.execute(held).all():
        place = vector_place(table, owner, model, row_id)
        plain = opened_vector(NO_ENCRYPTION, place, HeldVector(stored, checksum))
        one = (*here, table.c.model == model)
        if plain is None:
            connection.execute(delete(table).where(*one))
        else:
            values = vector_values(encryption_of(connection), place, plain)
            connection.execute(update(table).where(*one).values(values))


def _tables() -> Iterator[tuple[Table, Column[Any], Select[Any], Callable[[AnyRow, Encryption], _Values | None]]]:
    """Give the tables, each with its id column, its rows and the function that reads a row.

    Each row begins with the owner and the id, and is read as what is to be written in its place; None
    where it is damaged.
    """
    with_salt = select(*memory_rows.STORED, memory.c.text_digest, memory_owner.c.salt).join(
        memory_owner, memory_owner.c.owner == memory.c.owner
    )
    yield memory, memory.c.memory_id, with_salt, _memory
    for sealed in _SEALED.values():
        yield sealed.table, sealed.row_id, select(*sealed.stored()), partial(_sealed, sealed)


def _memory(row: AnyRow, encryption: Encryption) -> _Values | None:
    made = memory_rows.as_memory(row, NO_ENCRYPTION)
    if made is None:
        return None
    digest = digest_of(encryption, made.owner, row.salt, made.text, made.key)
    return {"text_digest": digest, **memory_rows.as_values(made, encryption)}


def _sealed(sealed: SealedTable, row: AnyRow, encryption: Encryption) -> _Values | None:
    values = sealed.read(row, NO_ENCRYPTION)
    return None if values is None else sealed.values(values, encryption)
