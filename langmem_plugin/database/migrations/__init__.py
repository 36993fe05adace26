"""Makes the tables of a new database, and completes those of an older one: forward only, one process at a time.

All of it is named `langmem_…`, Alembic's own table too, so that an application may keep its tables, and its Alembic,
in the same database.
"""

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection, insert, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateSchema

from langmem_plugin.database.operations_tables import secret
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import ConfigurationError

HEAD = "0038"
"""The revision this code needs: the newest file in versions/."""
VERSION_TABLE = "langmem_version"
_VERSION_COLUMN = "version_num VARCHAR(32) NOT NULL, CONSTRAINT langmem_version_pkc PRIMARY KEY (version_num)"

Transaction = Callable[[], AbstractContextManager[Connection]]

_SECOND_STATE = tuple(f"{number:04}" for number in range(20, 38))
"""Revisions, 0020 to 0037, that the first file in versions/ completes."""
_TURNS_OF_SQLITE = (
    "CREATE TABLE langmem_turn"
    " (ticket INTEGER PRIMARY KEY AUTOINCREMENT, thread VARCHAR NOT NULL, renewals INTEGER NOT NULL)"
)
"""AUTOINCREMENT never gives a number twice, and SQLite has it for such a key alone."""
_SCHEMA_STATE = "SELECT to_regnamespace(quote_ident(:schema)) IS NULL, current_schema() = :schema"
_ADVISORY_LOCK = 7_203_511
_REVISIONS = Path(__file__).with_name("versions")
_IS_THERE = {
    "sqlite": "SELECT 1 FROM sqlite_master WHERE name = :name AND type IN ('table', 'view')",
    "postgresql": (
        "SELECT 1 FROM pg_class WHERE relname = :name AND relnamespace = to_regnamespace(quote_ident(current_schema()))"
    ),
}
_NOWHERE = "3F000"  # invalid_schema_name: the role's search path leads to none
_TAKEN = ("42P07", "42710")  # of a server, in whatever language: duplicate_table (an index too), duplicate_object
_UNSOUND = ("error in view", "error in trigger")  # SQLite reads them all when it renames a table
_OUR_NAME = re.compile(r"\blangmem_\w+")


def upgrade(read: Transaction, write: Transaction, *, schema: str | None = None) -> None:
    """Runs what is missing, all or nothing. Costs one small query when nothing is.

    `schema`, of PostgreSQL, is made if it is not there. Raises ConfigurationError for a database that a newer
    version of this code has written, or that has tables of our names which are not ours.
    """
    with read() as connection:
        found = _revision(connection, schema)
    if found == HEAD:
        return
    if found is not None and not _is_known(found):
        if found < _SECOND_STATE[0]:
            raise ConfigurationError(f"the database is of revision {found}, which was never released: make it anew")
        raise ConfigurationError(
            f"the database is newer than this program (revision {found}, {HEAD} is known): upgrade phone-memory"
        )
    with write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _ADVISORY_LOCK})
        # Asked first: "IF NOT EXISTS" too needs the right to make one.
        if schema is not None and _is_missing(connection, schema):
            connection.execute(CreateSchema(schema))
        found = _revision(connection, schema)  # another process may have been at it
        if found != HEAD:
            _run(connection, found)


def is_made(connection: Connection, schema: str | None = None) -> bool:
    """Tells whether tables of ours are there, of whatever version; nothing is changed."""
    if schema is not None and _is_missing(connection, schema):
        return False
    return _has_version_table(connection)


def _revision(connection: Connection, schema: str | None) -> str | None:
    """The database's revision; None if nothing with our prefix is there yet."""
    if schema is not None and _is_missing(connection, schema):
        return None
    if not _has_version_table(connection):
        return None
    rows = connection.execute(text(f"SELECT * FROM {VERSION_TABLE}"))  # noqa: S608 - a constant
    columns, found = list(rows.keys()), rows.scalars().all()
    if columns != ["version_num"] or len(found) != 1:
        raise _not_ours(VERSION_TABLE)
    return str(found[0])


def _is_missing(connection: Connection, schema: str) -> bool:
    """Raises ConfigurationError if it is there and the role may not use it: tables would be made in another one."""
    is_missing, is_used = connection.execute(text(_SCHEMA_STATE), {"schema": schema}).one()
    if not is_missing and not is_used:
        raise ConfigurationError(f"the role may not use the schema {schema!r}: grant it that, or name another schema")
    return bool(is_missing)


def _has_version_table(connection: Connection) -> bool:
    return connection.execute(text(_IS_THERE[connection.dialect.name]), {"name": VERSION_TABLE}).first() is not None


def _is_known(revision: str) -> bool:
    return revision in _SECOND_STATE or any(file.name.startswith(f"{revision}_") for file in _REVISIONS.iterdir())


def current_schema(connection: Connection) -> str | None:
    """The schema in which PostgreSQL makes new tables; None for SQLite, which has none."""
    if connection.dialect.name == "sqlite":
        return None
    return connection.execute(text("SELECT current_schema()")).scalar()


def _make(connection: Connection) -> None:
    """All tables at once, with a secret of this database's own."""
    tables = metadata.sorted_tables
    if connection.dialect.name == "sqlite":
        connection.execute(text(_TURNS_OF_SQLITE))
        tables = [each for each in tables if each.name != "langmem_turn"]
    metadata.create_all(connection, tables=tables, checkfirst=False)
    connection.execute(insert(secret), {"name": "audit", "value": os.urandom(32)})
    connection.execute(text(f"CREATE TABLE {VERSION_TABLE} ({_VERSION_COLUMN})"))
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES (:at)"), {"at": HEAD})  # noqa: S608 - a constant


def _migrate(connection: Connection, found: str) -> None:
    from alembic import command  # noqa: PLC0415 - 0.3 s that an up-to-date database does not pay
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    if found in _SECOND_STATE:
        connection.execute(text(f"DELETE FROM {VERSION_TABLE}"))  # noqa: S608 - a constant
    command.upgrade(config, HEAD)


def _run(connection: Connection, found: str | None) -> None:
    try:
        if found is None:
            _make(connection)
        else:
            _migrate(connection, found)
    except DBAPIError as error:
        if str(error.orig).startswith(_UNSOUND):
            raise ConfigurationError(f"a table cannot be renamed ({error.orig}): mend that, or drop it") from error
        if getattr(error.orig, "sqlstate", None) == _NOWHERE:
            raise ConfigurationError(f"there is no place for the tables ({error.orig}): name a `schema`") from error
        taken = _taken(error.orig)
        if taken is None:
            raise
        raise _not_ours(taken) from error


def _taken(error: BaseException | None) -> str | None:
    """The name that was to be made and is there already; None if the error is another."""
    state, name = getattr(error, "sqlstate", None), _OUR_NAME.search(str(error))
    is_taken = " already " in str(error) if state is None else state in _TAKEN
    return name[0] if is_taken and name else None


def _not_ours(name: str) -> ConfigurationError:
    return ConfigurationError(
        f"{name!r} is in the database already, and langmem did not make it: "
        "rename it, or use another database, or another schema of PostgreSQL"
    )
