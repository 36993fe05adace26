"""Whether a SQLite file holds the tables that were made here, and nothing that would run when they are written to."""

from sqlalchemy import Connection, Row, text

from langmem_plugin.database import (  # noqa: F401 - each adds its tables to the metadata
    conversation_tables,
    memory_tables,
    operation_table,
    people_tables,
    upkeep_tables,
    writing_tables,
)
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import ConfigurationError

# A trigger runs with our writes, whoever put it there; a view or a virtual table stands for whatever it likes.
_RUNS = text(
    r"SELECT type, name, tbl_name FROM sqlite_master"
    r" WHERE (name LIKE 'langmem\_%' ESCAPE '\' OR tbl_name LIKE 'langmem\_%' ESCAPE '\')"
    r" AND (type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%')"
)
_COLUMNS = text(
    r"SELECT m.name AS of_table, p.name AS of_column FROM sqlite_master AS m, pragma_table_info(m.name) AS p"
    r" WHERE m.type = 'table' AND m.name LIKE 'langmem\_%' ESCAPE '\'"
)


def refuse_what_runs(connection: Connection) -> None:
    """Raises ConfigurationError for a trigger on one of our tables, and for what is none under one of their names."""
    found: Row[tuple[str, str, str]] | None = connection.execute(_RUNS).first()
    if found is not None:
        raise ConfigurationError(
            f"{found.name!r}, a {found.type} on {found.tbl_name!r}, is there, and langmem-plugin did not make it:"
            " drop it if it is yours; do not use a file of which you do not know where it comes from"
        )


def refuse_other_tables(connection: Connection) -> None:
    """Raises ConfigurationError where a migrated file lacks a table or a column."""
    there = {(found.of_table, found.of_column) for found in connection.execute(_COLUMNS)}
    wanted = {(table.name, column.name) for table in metadata.tables.values() for column in table.columns}
    if missing := sorted(wanted - there):
        table, column = missing[0]
        raise ConfigurationError(
            f"the database says that it is of this version, and has no {table}.{column}: something else made"
            " or changed it; restore a backup, or name another file"
        )
