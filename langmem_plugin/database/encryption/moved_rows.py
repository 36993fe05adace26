"""Rows that have got another key: what is encrypted in them is bound to the key before, and is encrypted anew."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, bindparam, select, tuple_, update

from langmem_plugin.database.encryption.encrypted_columns import Key, columns_of
from langmem_plugin.database.encryption.encryption import encryption_of

_AT_ONCE = 100


def bind_anew(
    connection: Connection, table: Table, where: Sequence[ColumnElement[bool]], before: Mapping[str, str | int]
) -> None:
    """For the rows where they are now; `before` is what of their key was another.

    Raises DecryptionRefused for a row that was not encrypted for where it was, and the caller's transaction ends: under
    another key it could not be read again, not even when its own came back.
    """
    columns = columns_of(table)
    if not columns or not encryption_of(connection).encrypts:
        return
    key_columns = list(table.primary_key)
    keys = connection.execute(select(*key_columns).where(*where)).all()
    this = [column == bindparam(f"of_{column.name}") for column in key_columns]
    changing = (
        update(table).where(*this).values({each.column.name: bindparam(f"new_{each.column.name}") for each in columns})
    )
    for start in range(0, len(keys), _AT_ONCE):
        part = keys[start : start + _AT_ONCE]
        stored = select(*key_columns, *(each.column for each in columns)).where(tuple_(*key_columns).in_(part))
        changes: list[dict[str, Any]] = []
        for row in connection.execute(stored).mappings():
            key = {column.name: row[column.name] for column in key_columns}
            old: Key = tuple({**key, **before}.values())
            values = {
                f"new_{each.column.name}": each.encrypted(
                    connection, tuple(key.values()), each.decrypted(connection, old, row[each.column.name])
                )
                for each in columns
            }
            changes.append({**{f"of_{name}": part for name, part in key.items()}, **values})
        connection.execute(changing, changes)
