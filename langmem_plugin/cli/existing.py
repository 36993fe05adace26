"""Whether the database that a command names is there: a mistyped name must not become a new, empty one."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from sqlalchemy import NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from langmem_plugin.database import Database
from langmem_plugin.database.migrations import Transaction, is_made
from langmem_plugin.database.tenants import database_of
from langmem_plugin.database.urls import database_url, shown
from langmem_plugin.errors import InvalidInput
from langmem_plugin.settings import Settings


def refuse_missing(settings: Settings, url: str | None) -> None:
    """Raises InvalidInput where there is no file or server's database of ours."""
    where, schema = database_of(settings, url)
    parsed = database_url(where)
    if parsed.get_backend_name() == "sqlite":
        if parsed.database is None:
            raise InvalidInput("a database in memory holds nothing when a command begins: name a file by --database")
        path = Path(str(parsed.database))
        is_there = path.exists() and (not path.is_file() or _is_ours(path))
    else:
        is_there = _is_on_server(where, schema)
    if not is_there:
        raise InvalidInput(
            f"there is no database of langmem at {shown(parsed)}: look at --database, or start the service"
        )


def refuse_missing_if_named(settings: Settings, url: str | None, *, create: bool) -> None:
    """For what may begin a database: the settings' is made where there is none, one named by --database with --create
    alone.
    """
    if url is None or create:
        return
    try:
        refuse_missing(settings, url)
    except InvalidInput as error:
        raise InvalidInput(f"{error}, or say --create to make it") from error


def _is_ours(path: Path) -> bool:
    """Read as it is: nothing of a file that is another program's may change by being looked at."""
    if path.stat().st_size == 0:
        return False
    engine = create_engine(
        "sqlite://",
        creator=lambda: sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True),
        poolclass=NullPool,
    )
    with suppress(DBAPIError), engine.connect() as connection:
        return is_made(connection)
    return True  # whatever is wrong with it is said by whoever opens it


def _is_on_server(where: str | Path, schema: str | None) -> bool:
    found: list[bool] = []

    def look(read: Transaction, write: Transaction, *, schema: str | None) -> None:  # noqa: ARG001 - nothing is made
        with read() as connection:
            found.append(is_made(connection, schema))

    Database(where, schema=schema, make_tables=look).close()
    return found[0]
