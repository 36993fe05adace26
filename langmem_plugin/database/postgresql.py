"""PostgreSQL: connections that give up when the server does not answer, even one that was stopped with open sockets.

Behind a pooler such as PgBouncer, which hands each transaction another connection, all is set in the transaction.
"""

import math
import os
import re
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import Pool

from langmem_plugin.database.prepared_statements import driver
from langmem_plugin.database.transactions import Transaction, WaitedInVain
from langmem_plugin.errors import ConfigurationError, LangMemError, StorageFull, StoreUnavailable, WriteConflict

try:
    import psycopg
    from psycopg import sql
except ImportError as error:
    raise ImportError("PostgreSQL needs more: pip install 'phone-memory[postgres]'") from error

_Result = TypeVar("_Result")

_CONNECTIONS = 8  # of each process: by default a server takes 100, from all forked processes together
_PREPARED_AFTER = 5  # executions of a statement; psycopg's own default
_LOCK_SHARE = 0.9  # share of the patience: the server ends a wait for a lock before its client gives up
_SCRUB_SECONDS = 600.0
_NEXT_SCRUB_SECONDS = 0.02
_LARGEST_REWRITTEN = 256 * 2**20  # bytes: rewriting locks the table for some seconds
_IDLE_SECONDS = 60  # in a transaction: a client that hangs or lost power keeps its locks no longer
_KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_POOLED = "pgbouncer"  # the parameter that others use to say that there is a pooler
_OPTION = re.compile(r"(?:-c\s{0,9}+|--)([\w.][\w.-]{0,99}+)=((?:\\.|\S)*+)\s{0,9}+", re.DOTALL)
_LONGEST_NAME = 63 - len("_index")  # bytes: PostgreSQL cuts off the rest; the vectors' schema has this suffix
_LOST_TO_OTHERS = "23", "40"  # a constraint, a deadlock
_FORBIDDEN = "42501"  # insufficient_privilege
_FULL = {"53100", "25006"}  # disk_full, read_only_sql_transaction
_LOCKED = "55P03"  # lock_not_available
_CHECKS_CLIENTS = 140_000  # the first version that stops the work for a client that has gone
_LOOK = """
    BEGIN; SET LOCAL search_path TO DEFAULT; {} SELECT current_setting('search_path'), pg_backend_pid(); COMMIT
"""
_TABLE = """
    SELECT format('%%I.%%I', nspname, relname), pg_total_relation_size(pg_class.oid)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass(%s)
"""


_connect_by: ContextVar[float] = ContextVar("connect_by", default=math.inf)


class Unanswered(psycopg.OperationalError):
    """The server did not answer for too long."""


class PatientConnection(psycopg.Connection[Any]):
    """A connection that closes itself and raises Unanswered when the server does not answer for `patience` seconds.

    `first_answer_by`, of time.monotonic(), is the limit of the next answer alone. Timeouts of the server or of TCP
    would not help: a server that was stopped looks at no clock, and its sockets are open.
    """

    patience = math.inf
    first_answer_by: float | None = None
    has_served = False
    was_ready = False
    gave_up = False
    is_pooled = False
    """Tell whether there is a pooler in between: the server that answers is then not the process that was connected
    first.
    """
    local = ""
    """The statements that set up each transaction; none where no pooler lends the connection to others."""

    def wait(self, gen: Generator[Any, Any, _Result], *arguments: Any, **named: Any) -> _Result:
        return super().wait(self._answered(gen), *arguments, **named)

    @classmethod
    def _connect_gen(cls, *arguments: Any, **named: Any) -> Generator[Any, Any, Self]:
        # A method of psycopg; without this only its `connect_timeout` counts: whole seconds, for each address anew.
        return (yield from _in_time(super()._connect_gen(*arguments, **named), _connect_by.get(), 0.0))

    def _answered(self, operation: Generator[Any, Any, _Result]) -> Generator[Any, Any, _Result]:
        answer_by = self.first_answer_by or time.monotonic() + self.patience
        self.first_answer_by = None
        try:
            return (yield from _in_time(operation, answer_by, self.patience))
        except Unanswered:
            self.gave_up = True
            self.close()
            raise


class PostgreSQL:
    """A PostgreSQL database. `schema` comes first in each connection's search path; None leaves the path as it is.

    `patience` is how many seconds the server has for an answer, unless a transaction has another. Raises
    ConfigurationError.
    """

    path: Path | None = None
    most_at_once: float = _CONNECTIONS

    def __init__(self, url: URL, schema: str | None, patience: float) -> None:
        if schema is not None and not _is_name(schema):
            raise ConfigurationError(
                f"{schema!r} cannot be the name of a schema: give 1 to {_LONGEST_NAME} bytes that begin neither "
                "with pg_ nor with $"
            )
        pooled = url.query.get(_POOLED, "false")
        if pooled not in {"true", "false"}:
            raise ConfigurationError(f"{_POOLED}={pooled!r} in the database URL: write true, or leave it out")
        self._is_pooled = pooled == "true"
        self._url, self._settings = _without_options(url.difference_update_query([_POOLED]))
        self._schema = schema
        self._patience = patience
        self._made: weakref.WeakSet[PatientConnection] = weakref.WeakSet()

    def new_engine(self, seconds_to_connect: Callable[[], float]) -> Engine:
        """Return an engine; its caller limits how many threads connect at once.

        Parameters are hidden: errors are logged, and phones and texts have no place in a log.
        """
        engine = create_engine(
            self._url.set(drivername="postgresql+psycopg"),
            hide_parameters=True,
            pool_size=_CONNECTIONS,
            max_overflow=-1,
            connect_args={"autocommit": True},  # `read` and `write` begin the transactions
        )

        def connect(
            _dialect: object, _record: object, arguments: list[Any], named: dict[str, Any]
        ) -> PatientConnection:
            seconds = seconds_to_connect()
            token = _connect_by.set(time.monotonic() + seconds)
            try:
                made = PatientConnection.connect(
                    *arguments, **{**_KEEPALIVES, "connect_timeout": math.ceil(seconds), **named}
                )
            finally:
                _connect_by.reset(token)
            made.patience = self._patience
            made.prepare_threshold = None
            self._made.add(made)
            return made

        event.listen(engine, "do_connect", connect)
        event.listen(engine, "connect", self._look_around)
        return engine

    def _look_around(self, made: PatientConnection, _record: object) -> None:
        """Look up the server's own search path, and whether a pooler is in between."""
        given = self._settings.get("search_path")
        named = "" if given is None else f"SELECT set_config('search_path', {sql.Literal(given).as_string()}, true);"
        look = made.execute(_LOOK.format(named), prepare=False)
        while len(look.description or ()) < 2:  # noqa: PLR2004 - what was looked for
            look.nextset()
        path, process = look.fetchone() or ("", 0)
        made.is_pooled = self._is_pooled or process != made.info.backend_pid
        if not made.is_pooled:
            made.prepare_threshold = _PREPARED_AFTER  # behind a pooler they would stay on whichever connection was lent
        local = {
            **self._settings,
            "lock_timeout": f"{self._patience * _LOCK_SHARE:.3f}s",
            "idle_in_transaction_session_timeout": f"{_IDLE_SECONDS}s",
        }
        if made.info.server_version >= _CHECKS_CLIENTS:
            local["client_connection_check_interval"] = "1s"
        schema = None if self._schema is None else sql.Identifier(self._schema).as_string()
        wanted = {name: sql.Literal(value).as_string() for name, value in local.items()}
        wanted["search_path"] = ", ".join(filter(None, [schema, path])) or "''"
        if made.is_pooled:
            made.local = "".join(f"; SET LOCAL {name} TO {value}" for name, value in wanted.items())
        else:
            made.execute("; ".join(f"SET {name} TO {value}" for name, value in wanted.items()), prepare=False)

    def begin(self, connection: Connection, transaction: Transaction) -> None:
        """Begin a transaction in one round trip; a read has one consistent view."""
        raw: PatientConnection = driver(connection)
        statement = "BEGIN" if transaction.writes else "BEGIN ISOLATION LEVEL REPEATABLE READ"
        statement += raw.local
        if not transaction.durable:
            statement += "; SET LOCAL synchronous_commit TO off"
        if transaction.lock_seconds != self._patience:
            statement += f"; SET LOCAL lock_timeout = '{transaction.lock_seconds:.3f}s'"
        raw.first_answer_by, raw.patience = transaction.deadline, transaction.patience
        raw.execute(statement, prepare=False)
        raw.has_served = True

    def ready(self, connection: Connection, transaction: Transaction) -> None:
        """Prepare for one statement alone; behind a pooler that is a transaction too, which ends when the connection is
        returned.
        """
        raw: PatientConnection = driver(connection)
        if raw.is_pooled:
            self.begin(connection, transaction)
            return
        raw.first_answer_by, raw.patience = transaction.deadline, transaction.patience
        raw.has_served = raw.has_served or raw.was_ready
        raw.was_ready = True

    def wait_for(self, connection: Connection, transaction: Transaction) -> None:
        """Set the patience that this part of a running transaction asks for."""
        raw: PatientConnection = driver(connection)
        raw.patience = transaction.patience

    def scrub(self, connection: Connection, tables: Sequence[str], patience: float) -> list[str]:
        """Write small tables anew without what was deleted; return in words where bytes may remain until overwritten.

        A large table would be locked for too long: its rows are gone, and the space is used again as others write.
        """
        raw: PatientConnection = driver(connection)
        raw.patience = max(patience, _SCRUB_SECONDS)
        remains = ["write-ahead log, planner statistics and backups of the server"]
        raw.execute(f"BEGIN{raw.local}")
        found = [(table, raw.execute(_TABLE, [table]).fetchone()) for table in tables]
        raw.execute("COMMIT")
        try:
            for table, (named, size) in ((table, each) for table, each in found if each is not None):
                if size <= _LARGEST_REWRITTEN and _vacuumed(raw, "FULL, ANALYZE", named, patience):
                    continue
                if not _vacuumed(raw, "ANALYZE", named, patience):
                    raise WaitedInVain(f"others keep the table {table}: try again")
                remains.append(f"free space of {table}")
        finally:
            raw.patience = self._patience
        return remains

    def leave_to_parent(self, pool: Pool) -> None:  # noqa: ARG002 - some are in the hands of threads
        """Close the connections here without telling the server: it would take that as the parent's wish, and keep them
        for us.
        """
        for each in self._made:
            if not each.closed:
                nowhere = os.open(os.devnull, os.O_RDWR)
                os.dup2(nowhere, each.fileno(), inheritable=False)
                os.close(nowhere)
        self._made = weakref.WeakSet()

    def check(self) -> None:
        """Do nothing: the server itself knows where it writes to."""

    def is_lost(self, connection: Connection) -> bool:
        raw: PatientConnection = driver(connection)
        return raw.closed

    def may_try_another(self, lost: PatientConnection) -> bool:
        """Tell whether the connection served before and was closed by the server meanwhile."""
        return lost.closed and lost.has_served and not lost.gave_up

    def named(self, error: BaseException | None) -> LangMemError | None:
        """Return our error for one of the driver; None for any other, such as a bug in our SQL."""
        state = getattr(error, "sqlstate", None) or ""
        if state.startswith(_LOST_TO_OTHERS):
            return WriteConflict("another writer was faster: try again")
        if state in _FULL:
            return StorageFull(f"the database cannot be written ({error}): free space on the server")
        if state == _FORBIDDEN:
            return ConfigurationError(
                f"the role may not do what is needed ({error}): grant it that, or name a `schema` of its own"
            )
        if isinstance(error, Unanswered | psycopg.errors.ConnectionTimeout | psycopg.errors.LockNotAvailable):
            return WaitedInVain(f"the database did not answer in time ({error}): check that it is running")
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return StoreUnavailable(f"the database did not answer ({error}): check that it is running")
        return None


def _is_name(schema: str) -> bool:
    """Tell whether PostgreSQL accepts the schema's name unchanged: in a search path, `$user` stands for the role."""
    return 0 < len(schema.encode()) <= _LONGEST_NAME and not schema.startswith(("pg_", "$")) and "\0" not in schema


def _without_options(url: URL) -> tuple[URL, dict[str, str]]:
    """Return the URL, and apart the settings that its `options`, or PGOPTIONS, give a connection: a pooler
    drops them.
    """
    given = str(url.query.get("options", os.environ.get("PGOPTIONS", ""))).strip()
    settings = {name.replace("-", "_"): re.sub(r"\\(.)", r"\1", value) for name, value in _OPTION.findall(given)}
    if not settings or _OPTION.sub("", given):
        return url, {}  # other kinds of options stay with the connection
    return url.update_query_dict({"options": ""}), settings


def _vacuumed(raw: PatientConnection, how: str, table: str, seconds: float) -> bool:
    """Vacuum the table; tell whether others left it alone within `seconds`. It waits for no lock: VACUUM runs in no
    transaction, and a timeout set on its connection would stay in a pooler.
    """
    locked: list[object] = []

    def note(said: psycopg.errors.Diagnostic) -> None:
        if said.sqlstate == _LOCKED:
            locked.append(said)

    until = time.monotonic() + seconds
    raw.add_notice_handler(note)
    try:
        while True:
            locked.clear()
            raw.execute(f"VACUUM ({how}, SKIP_LOCKED) {table}", prepare=False)
            if not locked or time.monotonic() >= until:
                return not locked
            time.sleep(_NEXT_SCRUB_SECONDS)
    finally:
        raw.remove_notice_handler(note)


def _in_time(operation: Generator[Any, Any, _Result], by: float, patience: float) -> Generator[Any, Any, _Result]:
    """Raise Unanswered at `by`, or `patience` seconds after the last answer. psycopg asks ten times a second."""
    try:
        wanted = next(operation)
        while True:
            ready = yield wanted
            if ready:
                by = max(by, time.monotonic() + patience)
            elif time.monotonic() >= by:
                raise Unanswered("the server says nothing")
            wanted = operation.send(ready)
    except StopIteration as done:
        result: _Result = done.value
        return result
