"""Timings and failures of the verbs, added up by all processes in the database, and the alerts raised by them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection, and_, delete, select, update

from langmem_plugin.background_worker import BackgroundWorker
from langmem_plugin.database import Database
from langmem_plugin.database.operations_tables import operation as table
from langmem_plugin.database.operations_tables import upkeep
from langmem_plugin.database.process_lease import alone
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.telemetry import TIMINGS_KEPT_FOR, Latencies

log = event_log(__name__)

EVERY_SECONDS = 10.0
THRESHOLDS_MS: Mapping[str, float] = {"inject": 50, "search": 200, "extract": 5_000, "store": 100}
"""The time in ms within which 95 % of an operation's calls should end, as figures tell it."""
ALERTED_MS: Mapping[str, float] = {"inject": 500, "search": 1_000, "extract": 30_000, "store": 1_000}
"""The time in ms from which on an operator is told: a small machine that is busy misses the times above every day."""
LEAST_SUCCESS = 0.95
"""The part of an operation's calls that has to succeed within five minutes."""
_CLOSING_SECONDS = 5.0
MOST_HOURS = TIMINGS_KEPT_FOR // timedelta(hours=1)

_LOOKED_BACK = timedelta(minutes=5)
_FEWEST_CALLS = 20
_PREFIX, _OVER = "alert ", "past alert "
_MOST_OVER = 50
_Event = Literal["alert.raised", "alert.cleared"]


@dataclass(frozen=True)
class Alert:
    """A measure of an operation that is beyond its bound, or, if `cleared`, no longer is. It holds numbers alone."""

    event: _Event
    operation: str
    measure: Literal["p95_ms", "success_rate"]
    value: float
    bound: float
    calls: int
    at: datetime

    @property
    def name(self) -> str:
        """Return the name of the row that is there while the alert is raised."""
        return f"{_PREFIX}{self.operation} {self.measure}"

    @property
    def is_raised(self) -> bool:
        return self.event == "alert.raised"


class Alerts:
    """Alerts, noted in the database so that one of all processes reports each, once.

    A verb that was called less than twenty times in five minutes is not judged: an alert raised for it stays raised.
    """

    def __init__(self, database: Database, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def look(self) -> list[Alert]:
        """Return what has changed since any process looked; nothing where another process is looking. Raises
        StoreUnavailable.
        """
        with alone(self._database, "alerts", waits=False) as is_alone:
            found = self._changed() if is_alone else []
        for each in found:
            fields = {name: value for name, value in asdict(each).items() if name not in ("event", "at")}
            (log.warning if each.is_raised else log.info)(each.event, extra=fields)
        return found

    def raised(self) -> list[tuple[str, datetime]]:
        """Return the operation and the measure of each open alert, and since when it is open, the oldest first."""
        with self._database.read() as connection:
            return [(row.name.removeprefix(_PREFIX), row.noted_at) for row in _noted(connection, _PREFIX)[::-1]]

    def over(self) -> list[tuple[str, datetime, datetime]]:
        """Return the last fifty alerts that are over, each with its beginning and its end, the last first."""
        with self._database.read() as connection:
            rows = [(*row.name.removeprefix(_OVER).split(" ", 1), row.noted_at) for row in _noted(connection, _OVER)]
        return [(name, datetime.fromisoformat(began), ended) for began, name, ended in rows]

    def _changed(self) -> list[Alert]:
        now = self._now()
        with self._database.read() as connection:
            latencies = latencies_since(connection, now - _LOOKED_BACK)
            raised = set(connection.execute(select(upkeep.c.name).where(upkeep.c.name.startswith(_PREFIX))).scalars())
        judged = [each for name, of in latencies.items() for each in _judged(name, of, now)]
        changed = [each for each in judged if each.is_raised != (each.name in raised)]
        if changed:
            with self._database.write() as connection:
                for each in changed:
                    _note(connection, each)
        return changed


def _judged(name: str, of: Latencies, now: datetime) -> Iterator[Alert]:
    """Give what an operation's alerts would be now."""
    if of.calls < _FEWEST_CALLS:
        return
    if name in ALERTED_MS:
        slow, bound = of.quantile_ms(0.95), ALERTED_MS[name]
        event: _Event = "alert.raised" if slow > bound else "alert.cleared"
        yield Alert(event, name, "p95_ms", round(slow, 3), bound, of.calls, now)
    event = "alert.raised" if of.success_rate < LEAST_SUCCESS else "alert.cleared"
    yield Alert(event, name, "success_rate", round(of.success_rate, 3), LEAST_SUCCESS, of.calls, now)


def _note(connection: Connection, alert: Alert) -> None:
    if alert.is_raised:
        raised = {"name": alert.name, "noted_at": alert.at}
        connection.execute(insert_unless_there(upkeep)[connection.dialect.name], raised)
        return
    here = upkeep.c.name == alert.name
    began = connection.execute(select(upkeep.c.noted_at).where(here)).scalar_one()
    over = f"{_OVER}{began.isoformat()} {alert.name.removeprefix(_PREFIX)}"
    connection.execute(update(upkeep).where(here).values(name=over, noted_at=alert.at))
    old = [each.name for each in _noted(connection, _OVER)[_MOST_OVER:]]
    connection.execute(delete(upkeep).where(upkeep.c.name.in_(old)))


def _noted(connection: Connection, prefix: str) -> list[Any]:
    """Return the rows whose name begins so, the last noted first."""
    named = select(upkeep.c.name, upkeep.c.noted_at).where(upkeep.c.name.startswith(prefix))
    return list(connection.execute(named.order_by(upkeep.c.noted_at.desc(), upkeep.c.name)))


@dataclass(frozen=True)
class OperationFigures:
    """Figures of one operation. `success_rate` is in [0, 1]; `ok` says that no threshold is passed; without a threshold
    `threshold_ms` is None.
    """

    operation: str
    count: int
    success_rate: float
    average_ms: float
    p50_ms: float
    p95_ms: float
    threshold_ms: float | None
    ok: bool


class OperationFlusher:
    """The background writer of what the verbs of this process took: some seconds after it was noted, and at `close`.

    While the database cannot be reached the figures are kept, and lost with the process. `stored` is called after each
    time in the background. In a forked process the thread starts with the first verb there.
    """

    def __init__(
        self,
        database: Database,
        *,
        now: Callable[[], datetime],
        stored: Callable[[], object] = lambda: None,
        every: float = EVERY_SECONDS,
    ) -> None:
        self._database = database
        self._now = now
        self._stored = stored
        self.every = every
        self._is_down = False
        self._worker = BackgroundWorker("operations", self._look)
        # Not a method of this: an unclosed flusher can be freed.
        database.operations.noted = partial(self._worker.start, every)

    def flush(self) -> None:
        """Store what was noted until now. Raises StoreUnavailable, with all of it kept for the next time."""
        taken = self._database.operations.take()
        if not taken:
            return
        minute = self._now().replace(second=0, microsecond=0)
        try:
            with self._database.write(durable=False) as connection:
                for name in sorted(taken):  # in one order: two processes would wait for each other
                    _add(connection, name, minute, taken[name])
        except BaseException:
            self._database.operations.put_back(taken)
            raise

    def close(self) -> None:
        """Store the last figures, unless the database could not be reached just now."""
        self._worker.stop()
        self._worker.wait(_CLOSING_SECONDS)
        if not self._is_down:  # else it would be waited for once more
            self._try(self.flush)

    def _look(self) -> float:
        self._try(self.flush, self._stored)
        return self.every

    def _try(self, *steps: Callable[[], object]) -> None:
        """Take the steps. A failure is logged once."""
        try:
            for step in steps:
                step()
            self._is_down = False
        except StoreUnavailable:
            if not self._is_down:
                log.warning("operations.not_stored", exc_info=True)
            self._is_down = True


def figures(database: Database, *, since: datetime) -> list[OperationFigures]:
    """Return the figures of all processes, the most called operation first."""
    with database.read() as connection:
        latencies = latencies_since(connection, since)
    found = []
    for name, each in latencies.items():
        threshold, p95 = THRESHOLDS_MS.get(name), each.quantile_ms(0.95)
        found.append(
            OperationFigures(
                operation=name,
                count=each.calls,
                success_rate=each.success_rate,
                average_ms=each.average_ms,
                p50_ms=each.quantile_ms(0.5),
                p95_ms=p95,
                threshold_ms=threshold,
                ok=(threshold is None or p95 <= threshold) and each.success_rate >= LEAST_SUCCESS,
            )
        )
    return sorted(found, key=lambda each: (-each.count, each.operation))


def latencies_since(connection: Connection, since: datetime) -> dict[str, Latencies]:
    """Return the latencies by operation, of all processes, for the minutes from `since` on."""
    found: dict[str, Latencies] = {}
    for row in connection.execute(select(table).where(table.c.minute >= since)):
        found.setdefault(row.name, Latencies()).add(_stored(row))
    return found


def _add(connection: Connection, name: str, minute: datetime, more: Latencies) -> None:
    nothing = {"calls": 0, "failures": 0, "total_ms": 0.0, "buckets": {}}
    begun = insert_unless_there(table)[connection.dialect.name]
    connection.execute(begun, {"name": name, "minute": minute, **nothing})
    here = and_(table.c.name == name, table.c.minute == minute)
    held = _stored(connection.execute(select(table).where(here).with_for_update()).one())
    held.add(more)
    connection.execute(update(table).where(here).values(**asdict(held)))


def _stored(row: Any) -> Latencies:
    buckets = {int(bucket): count for bucket, count in row.buckets.items()}  # JSON turns the numbers into texts
    return Latencies(row.calls, row.failures, row.total_ms, buckets)
