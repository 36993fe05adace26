"""SQLite: a private file that SQLite alone opens, safe pragmas, waits that end (DATABASE_TIMEOUT of settings.py)."""

import math
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import Pool, QueuePool, StaticPool

from langmem_plugin import process_forks
from langmem_plugin.database.prepared_statements import driver
from langmem_plugin.database.transactions import Transaction, WaitedInVain
from langmem_plugin.errors import (
    ConfigurationError,
    DataDirectoryError,
    ErasureIncomplete,
    StorageFull,
    StoreUnavailable,
    WriteConflict,
)
from langmem_plugin.logs import event_log

log = event_log(__name__)

_WAL_LIMIT_BYTES = 400_000
_NEXT_TRY_SECONDS = 0.01
_TENTHS = 10  # waits are set in tenths of a second, so that a connection that waited for nothing keeps its setting
# A new connection gets CANTOPEN when the file system has become read-only.
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
_OURS = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISUSE}
_PRIMARY_CODE = 0xFF  # SQLite's extended result codes carry the primary one in their low byte

_creating = process_forks.Lock()
_of_parents: list[Pool] = []


class SQLite:
    """A file, or a database in memory where `path` is None. Raises DataDirectoryError if it cannot be made or
    written.
    """

    most_at_once: float = math.inf

    def __init__(self, url: URL) -> None:
        self._url = url
        self.path = _private_file(url)
        self._file = _File(self.path) if self.path else None

    def new_engine(self, seconds_to_connect: Callable[[], float]) -> Engine:
        """Return an engine. Parameters are hidden: errors are logged, and phones and texts have no place in a log."""
        engine = create_engine(
            self._url,
            hide_parameters=True,
            poolclass=QueuePool if self._file else StaticPool,
            connect_args={"check_same_thread": False},
            **({"pool_size": 8, "max_overflow": -1} if self._file else {}),
        )
        file = self._file

        def connect(_dialect: object, _record: object, _arguments: object, named: dict[str, Any]) -> None:
            if file:
                file.check()  # otherwise SQLite would make a new file
            named["timeout"] = seconds_to_connect()

        event.listen(engine, "do_connect", connect)
        event.listen(engine, "connect", _prepare)
        return engine

    def begin(self, connection: Connection, transaction: Transaction) -> None:
        """Begin a transaction: a read has one consistent view; a write waits for those of other processes."""
        _wait(connection, transaction)
        if transaction.writes:
            _set(connection, "synchronous", "FULL" if transaction.durable else "NORMAL")
        # A write that began as a read fails at once with "locked" when another writer was faster.
        driver(connection).execute("BEGIN IMMEDIATE" if transaction.writes else "BEGIN")

    def ready(self, connection: Connection, transaction: Transaction) -> None:
        """Prepare for one statement alone."""
        _wait(connection, transaction)

    def wait_for(self, connection: Connection, transaction: Transaction) -> None:
        """Do nothing: a transaction that writes waits for nothing more."""

    def check(self) -> None:
        """Raise StoreUnavailable if a commit would go to a file that is no longer there."""
        if self._file:
            self._file.check()

    def scrub(self, connection: Connection, tables: Sequence[str], patience: float) -> list[str]:  # noqa: ARG002 - all are in one file
        """Write the file anew without what was deleted, and empty the log; nothing remains.

        Raises ErasureIncomplete where a reader keeps the log from being emptied.
        """
        if self._file is None:
            return []
        _set(connection, "busy_timeout", max(1, round(patience * 1_000)))
        raw = driver(connection)
        try:
            raw.execute("VACUUM")
            (is_busy, *_) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY_CODE not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise
            is_busy = 1
        if is_busy:
            raise ErasureIncomplete(
                "the rows are deleted, and a process that reads keeps them in the database's log: run it again when it"
                " has ended, or leave it to the next sweep"
            )
        return []

    def leave_to_parent(self, pool: Pool) -> None:
        """Keep the inherited connections open in a forked child: closing them would disturb the parent, which uses
        them.
        """
        _of_parents.append(pool)

    def is_lost(self, connection: Connection) -> bool:  # noqa: ARG002 - there is no server to lose
        return False

    def may_try_another(self, lost: object) -> bool:  # noqa: ARG002
        return False

    def named(self, error: BaseException | None) -> StoreUnavailable | None:
        """Return our error for one of the driver; None for any other, such as a bug in our SQL."""
        code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
        if code in _FULL:
            return StorageFull(f"the database cannot be written ({error}): free space or fix its rights")
        if code == sqlite3.SQLITE_CONSTRAINT:
            return WriteConflict("another writer was faster: try again")
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return StoreUnavailable(
                f"the database file cannot be read ({error}), and was left as it is: restore a backup, or name another"
            )
        if code == sqlite3.SQLITE_BUSY:
            return WaitedInVain(f"other processes kept the database for too long ({error}): try again")
        if isinstance(error, sqlite3.DatabaseError) and code not in _OURS:
            return StoreUnavailable(f"the database did not take the request ({error}): try again")
        return None


class _File:
    """The file that a path led to when it was opened: SQLite goes on writing to a file that was deleted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = self._found()

    def check(self) -> None:
        """Raise StoreUnavailable if the path leads elsewhere by now."""
        if self._found() != self._identity:
            raise StoreUnavailable(f"the database file {self._path} was replaced: put it back, or start again")

    def _found(self) -> tuple[int, int]:
        try:
            found = os.stat(self._path)  # noqa: PTH116 - every write asks, and Path.stat takes twice as long
        except OSError as error:
            raise StoreUnavailable(f"the database file {self._path} is gone: put it back, or start again") from error
        return found.st_dev, found.st_ino


def _private_file(url: URL) -> Path | None:
    """Create the file (600) and its directories (700) before SQLite does so with wider rights.

    An existing file is never opened: closing it would drop all locks that this process has on it, and another process
    would then delete the write-ahead log that is in use here.
    """
    if url.database is None:
        return None
    path = Path(str(url.database)).absolute()
    _refuse_others_place(path)
    try:
        for folder in reversed([folder for folder in path.parents if not folder.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        with _creating:  # another thread of this process connects as soon as the file is there
            if not path.exists():
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass  # another process was faster
    except OSError as error:
        raise DataDirectoryError(str(path.parent)) from error
    try:
        # The write-ahead log is made beside the file, so the directory must take new files too.
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise DataDirectoryError(str(path.parent)) from error
    if not path.is_file() or not os.access(path, os.R_OK | os.W_OK):
        raise DataDirectoryError(str(path.parent))
    return path


def _refuse_others_place(path: Path) -> None:
    """Raise ConfigurationError for a link, or another user's file, in a folder where everybody may put one."""
    try:
        folder, found = path.parent.stat(), path.lstat()
    except OSError:
        return
    is_open = folder.st_mode & stat.S_IWOTH
    if is_open and not folder.st_mode & stat.S_ISVTX:
        log.warning("database.folder_open", extra={"path": str(path.parent)})
    if is_open and (stat.S_ISLNK(found.st_mode) or found.st_uid not in {0, os.geteuid()}):
        raise ConfigurationError(
            f"everybody may write to {path.parent}, and {path.name} is a link or another user's file there: move the"
            " database to a folder of its own (chmod 700)"
        )


def _wait(connection: Connection, transaction: Transaction) -> None:
    milliseconds = max(1, round(transaction.seconds_left * _TENTHS)) * 1_000 // _TENTHS
    _set(connection, "busy_timeout", milliseconds)


def _set(connection: Connection, setting: str, value: Any) -> None:
    if connection.info.get(setting) != value:
        driver(connection).execute(f"PRAGMA {setting}={value}")
        connection.info[setting] = value


def _prepare(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # `read` and `write` begin the transactions
    # One damaged text must not prevent reading the rest of the rows.
    connection.text_factory = lambda stored: stored.decode("utf-8", "replace")
    _write_ahead(connection)
    for pragma in (
        "trusted_schema=OFF",  # functions called by a view, a trigger or a default of an unknown file are not run
        "cell_size_check=ON",
        "foreign_keys=ON",
        "secure_delete=ON",
        "wal_autocheckpoint=96",  # pages: the log stays below 512 kB instead of growing to 4 MB
        f"journal_size_limit={_WAL_LIMIT_BYTES}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _write_ahead(connection: Any) -> None:
    """Switch the write-ahead log on; try again while SQLite says "locked", which it does at once, without waiting, when
    several processes open or close the file at the same moment.
    """
    ends = time.monotonic() + connection.execute("PRAGMA busy_timeout").fetchone()[0] / 1_000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(_NEXT_TRY_SECONDS)
        else:
            return
