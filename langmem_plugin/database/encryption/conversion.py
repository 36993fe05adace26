"""Encrypts what was stored in plain, in place and a few rows at a time; begun again, it goes on where it was ended."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Table, bindparam, select, tuple_, update

from langmem_plugin.database.encryption.encrypted_columns import ENCRYPTED, EncryptedColumn, columns_of
from langmem_plugin.database.encryption.encryption import Encryption
from langmem_plugin.database.encryption.row_cipher import PLAINTEXT
from langmem_plugin.database.engine import BULK_WORK, Database

_AT_ONCE = 200


def encrypted_rows(database: Database, *, but: Sequence[Table] = ()) -> Iterator[int]:
    """All tables with encrypted columns, `but` those that somebody else sees to; after each transaction, how many rows.

    A row is looked at by its key; one that was written behind that is found by the next call: call it until it yields
    nothing but zeros.
    """
    tables = dict.fromkeys(each.column.table for each in ENCRYPTED)
    for table in tables:
        if table not in but:
            yield from _of_table(database, table)


def _of_table(database: Database, table: Table) -> Iterator[int]:
    columns, last = columns_of(table), None
    keys = list(table.primary_key)
    rows = select(*keys, *(each.column for each in columns)).order_by(*keys).limit(_AT_ONCE)
    while True:
        after = rows if last is None else rows.where(tuple_(*keys) > tuple_(*last, types=[key.type for key in keys]))
        with database.write(patience=BULK_WORK) as connection:
            found = connection.execute(after).all()
            yield _written(connection, table, columns, found, database.encryption)
        if len(found) < _AT_ONCE:
            return
        last = tuple(found[-1][: len(keys)])


def _written(
    connection: Connection,
    table: Table,
    columns: Sequence[EncryptedColumn],
    rows: Sequence[Row[Any]],
    encryption: Encryption,
) -> int:
    keys = list(table.primary_key)
    changes: list[dict[str, Any]] = []
    for row in rows:
        key, stored = row[: len(keys)], row[len(keys) :]
        anew = [_encrypted(each, encryption, key, value) for each, value in zip(columns, stored, strict=True)]
        if any(new is not old for new, old in zip(anew, stored, strict=True)):
            named = zip((f"of_{column.name}" for column in keys), key, strict=True)
            values = zip((f"new_{each.column.name}" for each in columns), anew, strict=True)
            changes.append({**dict(named), **dict(values)})
    if changes:
        this = [column == bindparam(f"of_{column.name}") for column in keys]
        new: dict[str, Any] = {each.column.name: bindparam(f"new_{each.column.name}") for each in columns}
        connection.execute(update(table).where(*this).values(new), changes)
    return len(changes)


def _encrypted(each: EncryptedColumn, encryption: Encryption, key: Any, stored: Any) -> Any:
    """The value as it is to be stored; the very same object if nothing is to be done."""
    if stored is None or each.is_encrypted(stored):
        return stored
    return each.encrypted_by(encryption.cipher, key, each.decrypted_by(PLAINTEXT, key, stored))
