"""Opens the database behind a URL: transactions, safe pragmas, private files, errors named for the caller."""

import contextlib
import math
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool, StaticPool

from langmem_plugin.database.migrations import upgrade
from langmem_plugin.database.prepared import driver
from langmem_plugin.errors import ConfigurationError, DataDirectoryError, StorageFull, StoreUnavailable, WriteConflict

_WAL_LIMIT_BYTES = 400_000
_BUSY_SECONDS = 30
_RESTED_SECONDS = 2
# CANTOPEN is what a file system that became read-only answers to a new connection.
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_PRIMARY_CODE = 0xFF  # SQLite's extended result codes carry the primary one in their low byte
_POSTGRES_CONSTRAINT = "23"
_POSTGRES_FULL = {"53100", "25006"}  # disk_full, read_only_sql_transaction

_condition: ContextVar[tuple[object, Callable[[Connection], None]]] = ContextVar(
    "langmem_condition", default=(None, lambda _: None)
)


class Database:
    """One SQLite file or one PostgreSQL database, its tables created and migrated.

    `url` is `sqlite:///path/to/file.db`, `sqlite://` (in memory, gone at close) or `postgresql://…`.
    Raises DataDirectoryError if the file cannot be created or written, ConfigurationError for a URL that
    cannot be used, StoreUnavailable if the server does not answer.
    """

    def __init__(self, url: str) -> None:
        self.url = _parse(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.path = _private_file(self.url) if self.is_sqlite else None
        # One writer at a time is SQLite's rule; waiting here is fair and costs no polling.
        self._writing = threading.RLock() if self.is_sqlite else contextlib.nullcontext()
        # In memory there is one connection for all threads, so readers wait as well.
        self._reading = self._writing if self.is_sqlite and self.path is None else contextlib.nullcontext()
        self.engine = self._open()
        # SQLite's reads are one view by themselves; PostgreSQL must be asked.
        self._reader = (
            self.engine if self.is_sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        )
        try:
            upgrade(self.read, self.write)
        except BaseException:
            self.engine.dispose()
            raise

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection with one consistent view; nothing may be written through it."""
        with self._reading, self._named_errors(), self._reader.connect() as connection, connection.begin():
            if self.is_sqlite:
                driver(connection).execute("BEGIN")
            yield connection

    @contextlib.contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """A transaction: all of it is on disk when the block ends, or none of it.

        Not `durable`, it survives this process at once and a power cut with the next durable one. (PostgreSQL makes
        all durable: it flushes for many at once, and asking it not to costs a round trip.)
        Raises StorageFull or StoreUnavailable; the database is then as it was.
        """
        with self._writing, self._named_errors(), self.engine.connect() as connection:
            if self.is_sqlite and not durable:
                driver(connection).execute("PRAGMA synchronous=NORMAL")
            try:
                with connection.begin():
                    if self.is_sqlite:
                        # A write that began as a read fails at once with "locked" when another writer was faster.
                        driver(connection).execute("BEGIN IMMEDIATE")
                    of, check = _condition.get()
                    if of is self:
                        check(connection)
                    yield connection
            finally:
                if self.is_sqlite and not durable:
                    driver(connection).execute("PRAGMA synchronous=FULL")

    @contextlib.contextmanager
    def provided(self, check: Callable[[Connection], None]) -> Iterator[None]:
        """Each write in the block is conditional: `check` is called in its transaction, and raises to refuse it."""
        token = _condition.set((self, check))
        try:
            yield
        finally:
            _condition.reset(token)

    def close(self) -> None:
        """Returns every connection; SQLite folds its write-ahead log back into the file."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> Engine:
        """Parameters are hidden: errors are logged, and phones and texts have no place in a log."""
        if not self.is_sqlite:
            engine = create_engine(self.url, hide_parameters=True, pool_size=16, max_overflow=16)
            _check_rested(engine)
            return engine
        engine = create_engine(
            self.url,
            hide_parameters=True,
            poolclass=QueuePool if self.path else StaticPool,
            connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
            **({"pool_size": 8, "max_overflow": -1} if self.path else {}),
        )
        event.listen(engine, "connect", _prepare_sqlite)
        return engine

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise _named(error.orig, error) from error
        except self.engine.dialect.loaded_dbapi.Error as error:  # of a prepared statement
            raise _named(error, error) from error


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigurationError(
            f"{url!r} is no database URL: use sqlite:///path/to/file.db or postgresql://user@host/name"
        ) from error
    match parsed.get_backend_name():
        case "sqlite":
            return parsed.set(drivername="sqlite")
        case "postgresql" | "postgres":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ConfigurationError(f"{other!r} is not supported: use sqlite:/// or postgresql://")


def _private_file(url: URL) -> Path | None:
    """Creates the file (600) and the directories it lacks (700) before SQLite does so with wider rights."""
    if url.database in (None, "", ":memory:"):
        return None
    path = Path(str(url.database)).absolute()
    try:
        for folder in reversed([folder for folder in path.parents if not folder.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        path.touch(mode=0o600, exist_ok=True)
        with path.open("ab"):
            pass
        # The write-ahead log is made beside the file, so the directory must take new files too.
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise DataDirectoryError(str(path.parent)) from error
    return path


def _check_rested(engine: Engine) -> None:
    """A server may have gone away while a connection rested; asking at every use would cost a round trip each."""
    lost = engine.dialect.loaded_dbapi.Error

    def note(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["rests_since"] = time.monotonic()

    def check(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
        rested = time.monotonic() - record.info.get("rests_since", math.inf)
        if connection.closed or rested > _RESTED_SECONDS:
            try:
                connection.execute("SELECT 1")
                connection.rollback()
            except lost as error:
                raise DisconnectionError from error

    event.listen(engine, "checkin", note)
    event.listen(engine, "checkout", check)


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where `read` and `write` say
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
        "wal_autocheckpoint=96",  # pages: the log stays below 512 kB instead of growing to 4 MB
        f"journal_size_limit={_WAL_LIMIT_BYTES}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _named(original: BaseException | None, error: Exception) -> Exception:  # noqa: PLR0911 - one for each error
    """Our error for what the caller can act upon; a bug in our SQL stays what it is."""
    if isinstance(original, sqlite3.Error):
        code = getattr(original, "sqlite_errorcode", 0) & _PRIMARY_CODE
        if code in _FULL:
            return StorageFull(f"the database cannot be written ({original}): free space or fix its rights")
        if code == sqlite3.SQLITE_CONSTRAINT:
            return WriteConflict("another writer was faster: try again")
        if isinstance(original, sqlite3.OperationalError | sqlite3.DatabaseError) and code not in (
            sqlite3.SQLITE_ERROR,
            sqlite3.SQLITE_MISUSE,
        ):
            return StoreUnavailable(f"the database did not take the request ({original}): try again")
        return error
    if str(getattr(original, "sqlstate", None)).startswith(_POSTGRES_CONSTRAINT):
        return WriteConflict("another writer was faster: try again")
    if getattr(original, "sqlstate", None) in _POSTGRES_FULL:
        return StorageFull(f"the database cannot be written ({original}): free space on the server")
    if getattr(error, "connection_invalidated", False) or type(original).__name__ in (
        "OperationalError",
        "InterfaceError",
    ):
        return StoreUnavailable(f"the database did not answer ({original}): check that it is running")
    return error
