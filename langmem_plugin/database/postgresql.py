"""PostgreSQL: connections that give up when the server says nothing, also one that was stopped and closes no socket."""

import math
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event

from langmem_plugin.database.prepared import driver
from langmem_plugin.database.transactions import Transaction

try:
    import psycopg
except ImportError as error:
    raise ImportError("PostgreSQL needs more: pip install 'langmem-plugin[postgres]'") from error

_Result = TypeVar("_Result")

_KEPT_CONNECTIONS = 16
_LOCK_SHARE = 0.9  # of the patience: the server ends a wait for a lock before its client leaves
_IDLE_SECONDS = 60  # in a transaction: a client that hangs or lost its power keeps its locks no longer
_LEAST_CONNECT_SECONDS = 2  # libpq makes two of one
_KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_CHECKS_CLIENTS = 140_000  # the first version that stops working for a client that has left


class PatientConnection(psycopg.Connection[Any]):
    """Closes itself and raises OperationalError when the server says nothing for `patience` seconds.

    `first_answer_by`, of time.monotonic(), is the limit of the next answer alone. Timeouts of the server or of TCP
    would not do: a server that was stopped looks at no clock, and its sockets are open.
    """

    patience = math.inf
    first_answer_by: float | None = None
    has_served = False
    gave_up = False

    def wait(self, gen: Generator[Any, Any, _Result], *arguments: Any, **named: Any) -> _Result:
        return super().wait(self._answered(gen), *arguments, **named)

    def _answered(self, operation: Generator[Any, Any, _Result]) -> Generator[Any, Any, _Result]:
        answer_by = self.first_answer_by or time.monotonic() + self.patience
        self.first_answer_by = None
        try:
            wanted = next(operation)
            while True:
                ready = yield wanted  # psycopg comes back ten times a second, with nothing ready
                if ready:
                    answer_by = time.monotonic() + self.patience
                elif time.monotonic() >= answer_by:
                    self.gave_up = True
                    self.close()
                    raise psycopg.OperationalError("the server says nothing")
                wanted = operation.send(ready)
        except StopIteration as done:
            result: _Result = done.value
            return result


class PostgreSQL:
    """`patience` is how many seconds the server has for an answer, unless a transaction has another."""

    path: Path | None = None
    most_at_once: float = 32

    def __init__(self, url: URL, patience: float) -> None:
        self._url = url
        self._patience = patience

    def new_engine(self, seconds_to_connect: Callable[[], float]) -> Engine:
        """How many connect at once is limited by whoever uses it.

        Parameters are hidden: errors are logged, and phones and texts have no place in a log.
        """
        engine = create_engine(
            self._url,
            hide_parameters=True,
            pool_size=_KEPT_CONNECTIONS,
            max_overflow=-1,
            connect_args={"autocommit": True},  # transactions begin where `read` and `write` say
        )
        patience = self._patience

        def connect(
            _dialect: object, _record: object, arguments: list[Any], named: dict[str, Any]
        ) -> PatientConnection:
            # Half of what there is, because a name such as localhost means two addresses, tried one after the other.
            seconds = max(_LEAST_CONNECT_SECONDS, int(seconds_to_connect() / 2))
            made = PatientConnection.connect(*arguments, **{**_KEEPALIVES, "connect_timeout": seconds, **named})
            made.patience = patience
            return made

        def configure(made: PatientConnection, _record: object) -> None:
            wanted = {
                "lock_timeout": f"{patience * _LOCK_SHARE:.3f}s",
                "idle_in_transaction_session_timeout": f"{_IDLE_SECONDS}s",
            }
            if made.info.server_version >= _CHECKS_CLIENTS:
                wanted["client_connection_check_interval"] = "1s"
            made.execute("; ".join(f"SET {name} = '{value}'" for name, value in wanted.items()))

        event.listen(engine, "do_connect", connect)
        event.listen(engine, "connect", configure)
        return engine

    def begin(self, connection: Connection, transaction: Transaction) -> None:
        """In one round trip; a read has one consistent view."""
        statement = "BEGIN" if transaction.writes else "BEGIN ISOLATION LEVEL REPEATABLE READ"
        if transaction.seconds != self._patience:
            statement += f"; SET LOCAL lock_timeout = '{transaction.seconds:.3f}s'"
        raw: PatientConnection = driver(connection)
        raw.first_answer_by, raw.patience = transaction.deadline, transaction.seconds
        raw.execute(statement, prepare=False)
        raw.has_served = True

    def check(self) -> None:
        """The server itself knows where it writes to."""

    def is_lost(self, connection: Connection) -> bool:
        raw: PatientConnection = driver(connection)
        return raw.closed

    def may_try_another(self, lost: Connection) -> bool:
        """Whether the connection served before and was closed by the server meanwhile."""
        raw: PatientConnection = driver(lost)
        return raw.closed and raw.has_served and not raw.gave_up
