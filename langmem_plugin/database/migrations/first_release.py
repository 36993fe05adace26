"""The first release's tables had names that anybody would choose (`session`, `memory`): here they get our prefix."""

from collections.abc import Iterator

from sqlalchemy import Connection, inspect, text

_VERSION_TABLE = "alembic_version"
_VERSION_COLUMN = "version_num VARCHAR(32) NOT NULL, CONSTRAINT langmem_version_pkc PRIMARY KEY (version_num)"
_OF_0001 = (
    *("session", "message", "checkpoint", "value", "media", "pending", "turn"),
    *("memory_owner", "memory", "memory_vector", "memory_collection", "memory_access", "memory_index"),
    *("standing_instruction", "history_message", "history_vector"),
)
_OF_0002 = ("searchable", "thread_owner")
_REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006")
_SIGNS = {"session": {"thread", "number", "session_id", "next_row"}, "memory": {"owner", "memory_id", "text_digest"}}


def revision(connection: Connection) -> str | None:
    """The revision of a database of the first release; None for any other, whoever else's Alembic is at home there."""
    found, schema = inspect(connection), current_schema(connection)
    if not {_VERSION_TABLE, *_OF_0001} <= set(found.get_table_names(schema)):
        return None
    for table, columns in _SIGNS.items():
        if not columns <= {column["name"] for column in found.get_columns(table, schema)}:
            return None
    noted = connection.execute(text(f"SELECT version_num FROM {_VERSION_TABLE}")).scalars()  # noqa: S608 - a constant
    return next((each for each in noted if each in _REVISIONS), None)


def current_schema(connection: Connection) -> str | None:
    """Where PostgreSQL makes new tables; SQLite has no schemas."""
    if connection.dialect.name == "sqlite":
        return None
    return connection.execute(text("SELECT current_schema()")).scalar()


def adopt(connection: Connection, at: str, version_table: str) -> None:
    """Gives its tables and what hangs on them the prefix, and notes the revision in our own version table."""
    tables = _OF_0001 if at == "0001" else _OF_0001 + _OF_0002
    rename = _rename_in_sqlite if connection.dialect.name == "sqlite" else _rename_in_postgresql
    for statement in rename(connection, tables):
        connection.execute(text(statement))
    connection.execute(text(f"CREATE TABLE {version_table} ({_VERSION_COLUMN})"))
    connection.execute(text(f"INSERT INTO {version_table} VALUES (:at)"), {"at": at})  # noqa: S608 - a constant
    connection.execute(text(f"DELETE FROM {_VERSION_TABLE} WHERE version_num = :at"), {"at": at})  # noqa: S608
    if connection.execute(text(f"SELECT 1 FROM {_VERSION_TABLE}")).first() is None:  # noqa: S608
        connection.execute(text(f"DROP TABLE {_VERSION_TABLE}"))


def _rename_in_sqlite(connection: Connection, tables: tuple[str, ...]) -> Iterator[str]:
    """An index of SQLite cannot be renamed, only be made anew."""
    quoted = connection.dialect.identifier_preparer.quote_identifier
    for table in tables:
        yield f"ALTER TABLE {table} RENAME TO langmem_{table}"
        made = text(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :table AND sql IS NOT NULL"
        )
        for name, sql in connection.execute(made, {"table": f"langmem_{table}"}).all():
            yield f"DROP INDEX {quoted(name)}"
            yield sql.replace(name, f"langmem_{name}", 1)


def _rename_in_postgresql(connection: Connection, tables: tuple[str, ...]) -> Iterator[str]:
    """Indexes and sequences share the tables' name space; constraints are renamed so that all is as if made anew."""
    quoted = connection.dialect.identifier_preparer.quote_identifier  # an application may have made some of them
    for table in tables:
        of_table = {"table": table}
        for name in connection.execute(text(_FOREIGN_KEYS), of_table).scalars().all():
            yield f"ALTER TABLE {table} RENAME CONSTRAINT {quoted(name)} TO {quoted(f'langmem_{name}')}"
        for kind, name in connection.execute(text(_RELATIONS), of_table).all():
            what = "INDEX" if kind == "i" else "SEQUENCE"
            yield f"ALTER {what} {quoted(name)} RENAME TO {quoted(f'langmem_{name}')}"
        yield f"ALTER TABLE {table} RENAME TO langmem_{table}"


_FOREIGN_KEYS = """
    SELECT conname FROM pg_constraint
    WHERE contype = 'f' AND connamespace = to_regnamespace(current_schema()) AND conrelid = to_regclass(:table)
"""
_RELATIONS = """
    SELECT relkind::text, relname FROM pg_class JOIN pg_index ON indexrelid = pg_class.oid
    WHERE indrelid = to_regclass(:table)
    UNION ALL
    SELECT relkind::text, relname FROM pg_class
    JOIN pg_depend ON pg_depend.objid = pg_class.oid AND refclassid = 'pg_class'::regclass
    WHERE relkind = 'S' AND refobjid = to_regclass(:table)
"""
