"""The columns that say whose a row is: read from the tables themselves, so that a new one cannot be left out."""

from collections.abc import Collection
from functools import cache

from sqlalchemy import Column, ColumnElement, Connection, Table, delete, or_

from langmem_plugin.database import conversation_tables, memory_tables, operations_tables, people_tables
from langmem_plugin.database.schema import in_parts, metadata

# Imported for what they add to `metadata`.
_ALL = (conversation_tables, memory_tables, people_tables)
_NAMES = frozenset({"thread", "owner", "person", "identifier", "other"})
OF_NOBODY = frozenset(
    {
        operations_tables.upkeep,
        operations_tables.operation,
        operations_tables.secret,
        operations_tables.audit,  # keyed hashes of people
        operations_tables.erasure,
        operations_tables.erased_key,
        operations_tables.held_row,
        operations_tables.held_file,
    }
)
"""Tables without a person's key. Every other one needs a column of _NAMES: tests/privacy/test_erasure.py."""


@cache
def personal_tables() -> tuple[tuple[Table, tuple[Column[str], ...]], ...]:
    """Return each table with the columns that may hold a person's key; a table comes after those that it refers to."""
    return tuple(
        (table, tuple(column for column in table.columns if column.name in _NAMES))
        for table in metadata.sorted_tables
        if table not in OF_NOBODY
    )


def rows_of(columns: Collection[Column[str]], keys: Collection[str]) -> ColumnElement[bool]:
    """Return the condition for the rows of a table in which one of these columns holds one of the keys."""
    return or_(*(column.in_(part) for column in columns for part in in_parts(list(keys))))


def clear(connection: Connection, keys: Collection[str], *, but: Collection[Table] = ()) -> None:
    """Delete what is left after everything was moved: settings, codes and marks that the other person has too."""
    for table, columns in reversed(personal_tables()):
        if table not in but:
            connection.execute(delete(table).where(rows_of(columns, keys)))
