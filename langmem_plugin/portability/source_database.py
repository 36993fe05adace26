"""Opens somebody else's database to read it, SQLite or PostgreSQL: nothing in it changes."""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchTableError
from sqlalchemy.pool import NullPool

from langmem_plugin.errors import InvalidInput, StoreUnavailable

_SQLITE = b"SQLite format 3\x00"


@contextmanager
def opened(path_or_url: str) -> Iterator[Connection]:
    """One consistent view of it, as it is now; a service may go on writing meanwhile.

    A path or `sqlite:///file.db` is opened with `mode=ro`, `postgresql://…` in a transaction that is READ ONLY.
    Raises InvalidInput for what is neither, StoreUnavailable if it cannot be reached.
    """
    engine = _engine(path_or_url)
    try:
        with engine.connect() as connection:
            yield connection
    except DBAPIError as error:
        raise StoreUnavailable(f"the source cannot be read: {error.orig}") from error
    finally:
        engine.dispose()


def columns(connection: Connection, table: str, *needed: str) -> Collection[str]:
    """Of this table. Raises InvalidInput, naming what is missing, if it is not there as a stock package makes it."""
    try:
        found = {each["name"] for each in inspect(connection).get_columns(table)}
    except NoSuchTableError as error:
        raise InvalidInput(f"the source has no table {table!r}: name a database of the LangGraph package") from error
    if missing := [each for each in needed if each not in found]:
        raise InvalidInput(
            f"the table {table!r} of the source has no column {missing[0]!r}: it is of another package or version"
        )
    return found


def _engine(path_or_url: str) -> Engine:
    url = _url(path_or_url)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url.database)
    if url.get_backend_name() == "postgresql":
        try:
            import psycopg  # noqa: F401, PLC0415 - an extra
        except ImportError as error:
            raise ImportError("PostgreSQL needs more: pip install 'langmem-plugin[postgres]'") from error
        return create_engine(
            url.set(drivername="postgresql+psycopg"),
            poolclass=NullPool,
            isolation_level="REPEATABLE READ",
            execution_options={"postgresql_readonly": True},
        )
    raise InvalidInput(f"{url.get_backend_name()} cannot be read: give a SQLite file or postgresql://…")


def _url(path_or_url: str) -> URL:
    if "://" not in path_or_url:
        return URL.create("sqlite", database=path_or_url)
    try:
        url = make_url(path_or_url.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError):
        # It may hold a password: neither it nor the error that quotes it is shown.
        raise InvalidInput("the source's URL cannot be read: sqlite:///file.db or postgresql://…") from None
    return url


def _sqlite(name: str | None) -> Engine:
    file = Path(name or "")
    if not file.is_file():
        raise InvalidInput(f"there is no file {str(file)!r}")
    with file.open("rb") as opened_file:
        if opened_file.read(len(_SQLITE)) != _SQLITE:
            raise InvalidInput(f"{file.name} is no SQLite database")
    uri = f"{file.absolute().as_uri()}?mode=ro"
    # The driver begins no transaction for a SELECT by itself: each would see the database at another moment.
    engine = create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(uri, uri=True, isolation_level=None), poolclass=NullPool
    )
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    return engine
