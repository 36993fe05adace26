"""Open somebody else's database to read it, SQLite or PostgreSQL: nothing in it changes."""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from langmem_plugin.database.database_urls import database_url
from langmem_plugin.errors import ConfigurationError, InvalidInput, StoreUnavailable

_MOST_TIME = "SET LOCAL statement_timeout = '10min'"
_LARGEST_BYTES = 100_000_000
"""The limit of one value of a source, in bytes: a larger one is refused, and its record is named."""
_SQLITE = b"SQLite format 3\x00"


@contextmanager
def opened(path_or_url: str) -> Iterator[Connection]:
    """Give a connection with one consistent view of the database as it is now; others may go on writing meanwhile.

    A path or `sqlite:///file.db` is opened with `mode=ro`, `postgresql://…` in a transaction that is READ ONLY. Raises
    InvalidInput for any other text, StoreUnavailable if it cannot be reached.
    """
    engine = _engine(path_or_url)
    try:
        with engine.connect() as connection:
            yield connection
    except DBAPIError as error:
        raise StoreUnavailable(f"the source cannot be read: {error.orig}") from error
    finally:
        engine.dispose()


def tables_in(source: str) -> Collection[str]:
    """Return the names of the tables; none of what is no database."""
    if "://" not in source and (not Path(source).is_file() or not _is_sqlite(Path(source))):
        return ()
    with opened(source) as connection:
        return inspect(connection).get_table_names()


def errors_of(connection: Connection) -> type[Exception]:
    """Return the error that the database's driver raises where it is not called through SQLAlchemy."""
    driver: Any = connection.dialect.dbapi
    return cast("type[Exception]", driver.Error)


def columns(connection: Connection, table: str, *needed: str) -> Collection[str]:
    """Return the names of the table's columns. Raises InvalidInput, which names what is missing, if the table is not as
    a stock package makes it; a view is none, because reading it may never end.
    """
    there = inspect(connection)
    if table not in there.get_table_names():
        raise InvalidInput(f"the source has no table {table!r} of its own: name a database of the LangGraph package")
    found = {each["name"] for each in there.get_columns(table)}
    if missing := [each for each in needed if each not in found]:
        raise InvalidInput(
            f"the table {table!r} of the source has no column {missing[0]!r}: it is of another package or version"
        )
    return found


def _engine(path_or_url: str) -> Engine:
    try:
        url = database_url(path_or_url)
    except ConfigurationError as error:
        raise InvalidInput(str(error)) from None
    if url.get_backend_name() == "sqlite":
        return _sqlite(url.database)
    import langmem_plugin.database.postgresql  # noqa: F401, PLC0415 - says what to install where the extra is not there

    engine = create_engine(
        url.set(drivername="postgresql+psycopg").difference_update_query(["pgbouncer"]),
        poolclass=NullPool,
        isolation_level="REPEATABLE READ",
        execution_options={"postgresql_readonly": True},
        connect_args={"prepare_threshold": None},  # there may be a pooler in between
    )
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(_MOST_TIME))
    return engine


def _sqlite(name: str | None) -> Engine:
    file = Path(name or "")
    if not file.is_file():
        raise InvalidInput(f"there is no file {str(file)!r}")
    if not _is_sqlite(file):
        raise InvalidInput(f"{file.name} is no SQLite database")
    uri = f"{file.absolute().as_uri()}?mode=ro"
    # The driver begins no transaction for a SELECT by itself, so each would see the database at another moment.
    engine = create_engine("sqlite://", creator=lambda: _read_only(uri), poolclass=NullPool)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine


def _is_sqlite(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(len(_SQLITE)) == _SQLITE


def _read_only(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_BYTES)
    # A text that is not UTF-8 is one bad record, and must not end the whole import.
    connection.text_factory = lambda stored: stored.decode("utf-8", "replace")
    return connection
