"""Open the database behind a URL: transactions that end in time, errors named for the caller."""

import contextlib
import functools
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, Row, select, text
from sqlalchemy.exc import DBAPIError

from langmem_plugin import process_forks
from langmem_plugin.database.conversation_tables import thread_owner
from langmem_plugin.database.database_urls import database_and_schema, shown
from langmem_plugin.database.encryption import Encryption
from langmem_plugin.database.encryption.encryption import NO_ENCRYPTION
from langmem_plugin.database.migrations import upgrade
from langmem_plugin.database.prepared_statements import driver
from langmem_plugin.database.schema import metadata
from langmem_plugin.database.sqlite import SQLite
from langmem_plugin.database.transactions import (
    Together,
    Transaction,
    WaitedInVain,
    current,
    longest_wait,
    note_in_vain,
)
from langmem_plugin.errors import ConfigurationError, StoreUnavailable, WriteConflict
from langmem_plugin.settings import DATABASE_TIMEOUT
from langmem_plugin.telemetry import OperationTimes

if TYPE_CHECKING:
    from langmem_plugin.database.postgresql import PostgreSQL

# A trigger runs with our writes, whoever put it there; a view or a virtual table stands for whatever it likes.
_RUNS = text(
    r"SELECT type, name, tbl_name FROM sqlite_master"
    r" WHERE (name LIKE 'langmem\_%' ESCAPE '\' OR tbl_name LIKE 'langmem\_%' ESCAPE '\')"
    r" AND (type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%')"
)
_COLUMNS = text(
    r"SELECT m.name AS of_table, group_concat(p.name) AS names FROM sqlite_master AS m, pragma_table_info(m.name) AS p"
    r" WHERE m.type = 'table' AND m.name LIKE 'langmem\_%' ESCAPE '\' GROUP BY m.name"
)
BULK_WORK = timedelta(minutes=10)
"""The patience for statements over so many rows that the server does not answer for a while."""


def refuse_what_runs(connection: Connection) -> None:
    """Raise ConfigurationError for a trigger on one of our tables, and for a view or virtual table with one of our
    names.
    """
    found: Row[tuple[str, str, str]] | None = connection.execute(_RUNS).first()
    if found is not None:
        raise ConfigurationError(
            f"{found.name!r}, a {found.type} on {found.tbl_name!r}, is there, and langmem did not make it:"
            " drop it if it is yours; do not use a file of which you do not know where it comes from"
        )


def refuse_other_tables(connection: Connection) -> None:
    """Raise ConfigurationError where a migrated file lacks a table or a column."""
    there = {found.of_table: found.names.split(",") for found in connection.execute(_COLUMNS)}
    for table in metadata.tables.values():
        if missing := set(table.columns.keys()) - set(there.get(table.name, ())):
            raise ConfigurationError(
                f"the database says that it is of this version, and has no {table}.{min(missing)}: something else made"
                " or changed it; restore a backup, or name another file"
            )


_Held = TypeVar("_Held")
_Read = TypeVar("_Read")

_connecting: ContextVar[Transaction] = ContextVar("connecting")  # the transaction that a connection is opened for
_condition: ContextVar[tuple[object, Callable[[Connection], None]]] = ContextVar(
    "langmem_condition", default=(None, lambda _: None)
)


Begun = Callable[[], contextlib.AbstractContextManager[Connection]]
"""A function that begins a transaction of the database that is being opened."""


class MakeTables(Protocol):
    """A function that makes the tables."""

    def __call__(self, read: Begun, write: Begun, *, schema: str | None) -> None: ...


def _own_tables(read: Begun, write: Begun, *, schema: str | None) -> None:
    """Migrate the tables; check a file before and after, while a server's schema is its administrator's to check."""
    with read() as connection:
        is_file = connection.dialect.name == "sqlite"
        if is_file:
            refuse_what_runs(connection)
    upgrade(read, write, schema=schema)
    if is_file:
        with read() as connection:
            refuse_other_tables(connection)


class Database:
    """One SQLite file or one PostgreSQL database, its tables created and migrated.

    `url` is `sqlite:///path/to/file.db`, a path, `sqlite://` (in memory, gone at close), `postgresql://…` or
    PostgreSQL's own `host=… dbname=…`. Behind a pooler of transactions (PgBouncer) nothing is left on a connection;
    `?pgbouncer=true` says that there is one that cannot be detected.
    `schema`, of PostgreSQL, or `?schema=` in its URL, holds our tables instead of the connection's default schema; it
    is made if it does not exist.
    `region` (two letters, such as "IL") reads national forms of phones, wherever an owner is named by one.
    `timeout` is the longest wait of a transaction: for its place, a connection, other writers and the first answer
    together, and on PostgreSQL for each further answer.
    A forked process opens connections of its own.
    `encryption` is closed with the database; `make_tables` brings the tables up to date.
    `operations` holds the times of the verbs that work on it.
    Raises DataDirectoryError if the file cannot be created or written, ConfigurationError for a URL that cannot be used
    or a database of a newer version, StoreUnavailable if the server does not answer.
    """

    def __init__(
        self,
        url: str | Path,
        *,
        schema: str | None = None,
        region: str | None = None,
        timeout: timedelta = DATABASE_TIMEOUT,
        encryption: Encryption = NO_ENCRYPTION,
        make_tables: MakeTables = _own_tables,
    ) -> None:
        self.url, of_url = database_and_schema(url)
        self.schema = schema = of_url if schema is None else schema
        self.region = region
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._seconds = timeout.total_seconds()
        self._backend = _backend(self.url, schema, self._seconds)
        self.path = self._backend.path
        self._in_memory = self.is_sqlite and self.path is None
        self._refusal: str | None = None
        self.operations = OperationTimes()
        self._gate = process_forks.Gate(self._backend.most_at_once, self._seconds)
        self._begin_unlocked()
        self.encryption = encryption
        self.engine = self._backend.new_engine(functools.partial(_seconds_to_connect, self._seconds))
        self.engine.update_execution_options(langmem_encryption=encryption, langmem_cipher=encryption.cipher)
        # Prepared statements raise the driver's own errors.
        self._driver_errors = (DBAPIError, self.engine.dialect.loaded_dbapi.Error)
        self._unclosed = weakref.finalize(self, _release, self.engine, shown(self.url))
        self._unclosed.atexit = False  # at the end of a program nothing leaks
        process_forks.register(before=self._before_fork, after_in_child=self._begin_in_child)
        try:
            # Other processes may be migrating already.
            migrating = self._asked(writes=True, patience=BULK_WORK, waits=BULK_WORK)
            make_tables(self.read, functools.partial(self._transaction, migrating), schema=schema)
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection with one consistent view; nothing may be written through it. Raises StoreUnavailable.

        Within `together` it sees what the block has written.
        """
        asked, joined = self._asked(writes=False), self._joined()
        shares = joined is not None and joined.connection is not None
        with self._part(joined, asked) if joined and shares else self._transaction(asked) as connection:
            yield connection

    def select(self, work: Callable[[Connection], _Read]) -> _Read:
        """Return what `work` reads by one statement, for which no transaction is begun. Raises StoreUnavailable.

        Within `together` it sees what the block has written. `work` is done again on another connection where the
        server has closed the first.
        """
        joined = self._joined()
        if joined is not None and joined.connection is not None:
            with self.read() as connection:
                return work(connection)
        asked = self._asked(writes=False)
        with self._naming_errors(asked), self._place(asked):
            self._check_open()

            def done(connection: Connection) -> _Read:
                self._backend.ready(connection, asked)
                with self._with_keys(connection, asked):
                    return work(connection)

            connection, found = self._attempted(asked, done)
            connection.close()
            return found

    @contextlib.contextmanager
    def write(self, *, durable: bool = True, patience: timedelta | None = None) -> Iterator[Connection]:
        """Give the connection of a transaction: all of it is on disk when the block ends, or none of it.

        If it is not `durable`, it survives the end of this process at once, and a power cut only with the next durable
        one or a moment later. `patience` is for work that keeps a server busy for longer than `timeout` before it
        answers. Raises StorageFull or StoreUnavailable; the database is then as it was.
        """
        asked, joined = self._asked(writes=True, durable=durable, patience=patience), self._joined()
        with self._part(joined, asked) if joined else self._transaction(asked) as connection:
            of, check = _condition.get()
            if of is self:
                check(connection)
            yield connection
            self._backend.check()

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Make all that the block writes, by any verb, one transaction: on disk when the block ends, or none of it.

        It begins with the first write: what comes before, such as an embedding, keeps nobody waiting. A verb that
        raises has written nothing, even where the block goes on.
        """
        if self._joined() is not None:
            yield
            return
        joined = Together(self, lambda: self._transaction(self._asked(writes=True)))
        with joined.kept:
            token = current.set(joined)
            try:
                with joined.transaction:
                    yield
                    joined.finish()
            finally:
                current.reset(token)

    def first(self, work: Callable[[Connection], object]) -> None:
        """Do `work` as the transaction of `together` begins, which it may refuse; outside of one, in a transaction of
        its own.

        It is for work that should not begin the transaction before something slow is done.
        """
        if (joined := self._joined()) is not None:
            joined.first(work)
        else:
            with self.write() as connection:
                work(connection)

    def when_over(self, work: Callable[[], object]) -> None:
        """Call `work` once what was written here is on disk or given up: at once, or at the end of `together`.

        It is for what a process remembers of the database, and for others who look into the database then.
        """
        if (joined := self._joined()) is not None:
            joined.kept.callback(work)
        else:
            work()

    @contextlib.contextmanager
    def keeping(self, *held: contextlib.AbstractContextManager[_Held]) -> Iterator[list[_Held]]:
        """Hold these until what is written under them is on disk: for the block, or within `together` for all of it.

        Raises WriteConflict in a transaction that has begun: a transaction must not wait for others.
        """
        joined = self._joined()
        if joined is not None and joined.connection is not None:
            raise WriteConflict("this came too late in a transaction: try again")
        with contextlib.ExitStack() as here:
            token = current.set(None)  # what holding them writes is no part of the joint transaction
            try:
                values = [(joined.kept if joined else here).enter_context(each) for each in held]
            finally:
                current.reset(token)
            yield values

    def _joined(self) -> Together | None:
        joined = current.get()
        return joined if joined is not None and joined.is_of(self) else None

    @contextlib.contextmanager
    def _part(self, joined: Together, asked: Transaction) -> Iterator[Connection]:
        """Give one part of a transaction that has other parts; its writes are undone if it fails."""
        connection = joined.begun()
        try:
            self._backend.wait_for(connection, asked)
            part = connection.begin_nested()
            try:
                yield connection
            except BaseException as error:
                self._give_up_if_lost(connection)
                if connection.invalidated:
                    joined.lost()
                else:
                    try:
                        part.rollback()
                    except self._driver_errors:  # SQLite itself has undone it all, as it does on a full disk
                        joined.failed = self._named(error)
                raise
            part.commit()
        except self._driver_errors as error:
            self._give_up_if_lost(connection)
            if connection.invalidated:  # the statements that begin and end a part can lose it too
                joined.lost()
            raise self._named(error) from error

    def scrub(self, tables: Sequence[str]) -> list[str]:
        """Remove from the files what was deleted from these tables; return in words where bytes of it may remain.

        Raises ErasureIncomplete where a reader of SQLite prevents it, and StoreUnavailable.
        """
        asked = self._asked(writes=True, patience=BULK_WORK)
        try:
            with self._place(asked):
                self._check_open()
                with self._connected(asked) as connection:
                    return self._backend.scrub(connection, tables, self._seconds)
        except self._driver_errors as error:
            raise self._named(error) from error

    @contextlib.contextmanager
    def provided(self, check: Callable[[Connection], None]) -> Iterator[None]:
        """Make each write in the block conditional: `check` is called in its transaction, and raises to refuse it.

        A block in a block adds its condition to the outer one's.
        """
        of, outer = _condition.get()

        def both(connection: Connection) -> None:
            outer(connection)
            check(connection)

        token = _condition.set((self, both if of is self else check))
        try:
            yield
        finally:
            _condition.reset(token)

    def ask(self) -> None:
        """Read one row. Raises StoreUnavailable where the database does not answer, or is gone."""
        self._backend.check()
        with self.read() as connection:
            connection.execute(select(thread_owner.c.thread).limit(1)).first()

    def close(self) -> None:
        """Let the running transactions end, within the timeout, and close every connection.

        SQLite folds its write-ahead log into the file. From then on every transaction raises StoreUnavailable.
        """
        if self._unclosed.detach() is None:
            return
        self._refusal = f"the database {shown(self.url)} is closed: open it anew"
        self._gate.shut()
        self.engine.dispose()
        self._gate.open()
        self.encryption.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin_unlocked(self) -> None:
        # One writer at a time is SQLite's rule; waiting here is fair and costs no polling.
        self._writing = threading.RLock() if self.is_sqlite else None
        # In memory there is one connection for all threads, so readers wait as well.
        self._reading = self._writing if self._in_memory else None

    def _asked(
        self, *, writes: bool, durable: bool = True, patience: timedelta | None = None, waits: timedelta | None = None
    ) -> Transaction:
        # PostgreSQL's reads and writes wait for the same server; SQLite's reads never wait for a writer.
        awaited = (id(self), writes and self.is_sqlite)
        seconds = longest_wait(awaited, self._seconds) if waits is None else waits.total_seconds()
        return Transaction(
            writes,
            durable,
            patience=self._seconds if patience is None else patience.total_seconds(),
            lock_seconds=seconds,
            deadline=time.monotonic() + seconds,
            awaited=awaited,
        )

    @contextlib.contextmanager
    def _transaction(self, asked: Transaction) -> Iterator[Connection]:
        with self._naming_errors(asked), self._place(asked):
            self._check_open()
            with (
                self._begun(asked) as connection,
                self._with_keys(connection, asked),
                connection.begin(),
            ):
                try:
                    yield connection
                except BaseException:
                    self._give_up_if_lost(connection)  # a rollback would fail, and hide the reason
                    raise

    def _with_keys(self, connection: Connection, asked: Transaction) -> contextlib.AbstractContextManager[None]:
        is_shared = self.encryption.is_shared
        return self.encryption.within(connection, writes=asked.writes) if is_shared else contextlib.nullcontext()

    @contextlib.contextmanager
    def _naming_errors(self, asked: Transaction) -> Iterator[None]:
        try:
            yield
        except WaitedInVain:
            note_in_vain(asked.awaited)
            raise
        except self._driver_errors as error:
            named = self._named(error)
            if isinstance(named, WaitedInVain):
                note_in_vain(asked.awaited)
            raise named from error

    @contextlib.contextmanager
    def _place(self, asked: Transaction) -> Iterator[None]:
        lock = self._writing if asked.writes else self._reading
        if not self._gate.enter(asked.deadline):
            raise WaitedInVain("no place for another transaction in time: try again")
        try:
            if lock is not None and not lock.acquire(timeout=asked.seconds_left):
                raise WaitedInVain("other writers kept the database for too long: try again")
            try:
                yield
            finally:
                if lock is not None:
                    lock.release()
        finally:
            self._gate.leave()

    def _begun(self, asked: Transaction) -> Connection:
        connection, _ = self._attempted(asked, lambda connection: self._backend.begin(connection, asked))
        return connection

    def _attempted(self, asked: Transaction, attempt: Callable[[Connection], _Read]) -> tuple[Connection, _Read]:
        """Make the attempt on one connection, and try the next where the server closed it while it was idle: nothing
        was done on it yet.
        """
        while True:
            connection = self._connected(asked)
            raw = driver(connection)  # read here: an invalidated connection no longer has it
            try:
                return connection, attempt(connection)
            except BaseException as error:
                may_try_another = isinstance(error, self._driver_errors) and self._backend.may_try_another(raw)
                self._give_up_if_lost(connection)
                connection.close()
                if not may_try_another:
                    raise

    def _connected(self, asked: Transaction) -> Connection:
        before = _connecting.set(asked)
        try:
            return self.engine.connect()
        finally:
            _connecting.reset(before)

    def _named(self, error: BaseException) -> BaseException:
        """Return our error where the caller can act upon it; any other, such as a bug in our SQL, stays as it is."""
        return self._backend.named(error.orig if isinstance(error, DBAPIError) else error) or error

    def _give_up_if_lost(self, connection: Connection) -> None:
        if not connection.invalidated and self._backend.is_lost(connection):
            connection.invalidate()

    def _check_open(self) -> None:
        if self._refusal:
            raise StoreUnavailable(self._refusal)

    def _before_fork(self) -> None:
        """Close all connections; running transactions have ended, or the gate says that they have not.

        SQLite would treat the connections that a child inherits as its own: the child would hold no lock, and believe
        that it does.
        """
        if not self._in_memory:
            self.engine.dispose()

    def _begin_in_child(self) -> None:
        if self._in_memory:
            self._refusal = "a forked process has no part in a database in memory: use a file, or open it there"
        elif self.is_sqlite and not self._gate.was_at_rest:
            self._refusal = "this process was forked in the middle of a transaction: open the database after the fork"
        self._begin_unlocked()
        self._backend.leave_to_parent(self.engine.pool)
        self.engine.dispose(close=False)


def _backend(url: URL, schema: str | None, seconds: float) -> "SQLite | PostgreSQL":
    if url.get_backend_name() == "sqlite":
        if schema is not None:
            raise ConfigurationError(f"SQLite has no schemas: leave out {schema!r}, or use postgresql://…")
        return SQLite(url)
    from langmem_plugin.database.postgresql import PostgreSQL  # noqa: PLC0415 - of the extra `postgres`

    return PostgreSQL(url, schema, seconds)


def _seconds_to_connect(otherwise: float) -> float:
    asked = _connecting.get(None)
    return otherwise if asked is None else asked.seconds_left


def _release(engine: Engine, url: str) -> None:
    """Release a database that is no longer used and was not closed."""
    engine.dispose()
    warnings.warn(f"{url} was not closed: use `with`, or close()", ResourceWarning, stacklevel=2)
