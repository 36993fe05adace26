"""Durations and failures of the verbs: counted by every process, added up in the database, and read."""

import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, and_, delete, select, update

from langmem_plugin import process_forks
from langmem_plugin.database import Database
from langmem_plugin.database.one_process import alone_or_not
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.database.upkeep_tables import operation as table
from langmem_plugin.database.upkeep_tables import upkeep
from langmem_plugin.errors import InvalidInput, StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.operation_timing import Latencies

_LOOKED_BACK = timedelta(minutes=5)
_FEWEST_CALLS = 20
_PREFIX = "alert "


@dataclass(frozen=True)
class Alert:
    """A measure of an operation that is beyond its bound, or, if `cleared`, no longer is. It holds numbers alone."""

    event: Literal["alert.raised", "alert.cleared"]
    operation: str
    measure: Literal["p95_ms", "success_rate"]
    value: float
    bound: float
    calls: int
    at: datetime

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "at": self.at.isoformat()}


@dataclass(frozen=True)
class _Judged:
    operation: str
    measure: Literal["p95_ms", "success_rate"]
    value: float
    bound: float
    calls: int

    @property
    def name(self) -> str:
        """Return the name of the row that is there while the alert is raised."""
        return f"{_PREFIX}{self.operation} {self.measure}"

    @property
    def is_beyond(self) -> bool:
        return self.value > self.bound if self.measure == "p95_ms" else self.value < self.bound


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
        with alone_or_not(self._database, "alerts") as alone:
            found = self._changed() if alone else []
        for each in found:
            log.warning(each.event, extra={name: value for name, value in each.to_dict().items() if name != "event"})
        return found

    def raised(self) -> list[tuple[str, datetime]]:
        """Return the operation and the measure of each open alert, and since when it is open, the oldest first."""
        names = select(upkeep.c.name, upkeep.c.noted_at).where(upkeep.c.name.startswith(_PREFIX))
        with self._database.read() as connection:
            rows = connection.execute(names.order_by(upkeep.c.noted_at, upkeep.c.name))
            return [(row.name.removeprefix(_PREFIX), row.noted_at) for row in rows]

    def _changed(self) -> list[Alert]:
        now = self._now()
        with self._database.read() as connection:
            latencies = latencies_since(connection, now - _LOOKED_BACK)
            raised = set(connection.execute(select(upkeep.c.name).where(upkeep.c.name.startswith(_PREFIX))).scalars())
        judged = [each for name, of in latencies.items() for each in self._judged(name, of)]
        changed = [each for each in judged if each.is_beyond != (each.name in raised)]
        if changed:
            with self._database.write() as connection:
                for each in changed:
                    _note(connection, each, now)
        return [
            Alert(
                "alert.raised" if each.is_beyond else "alert.cleared",
                each.operation,
                each.measure,
                round(each.value, 3),
                each.bound,
                each.calls,
                now,
            )
            for each in changed
        ]

    def _judged(self, name: str, of: Latencies) -> Iterator[_Judged]:
        if of.calls < _FEWEST_CALLS:
            return
        if name in ALERTED_MS:
            yield _Judged(name, "p95_ms", of.quantile_ms(0.95), ALERTED_MS[name], of.calls)
        yield _Judged(name, "success_rate", of.success_rate, LEAST_SUCCESS, of.calls)


def _note(connection: Connection, judged: _Judged, now: datetime) -> None:
    if judged.is_beyond:
        connection.execute(insert_unless_there(upkeep)[connection.dialect.name], {"name": judged.name, "noted_at": now})
    else:
        connection.execute(delete(upkeep).where(upkeep.c.name == judged.name))


log = event_log(__name__)

EVERY_SECONDS = 10.0
THRESHOLDS_MS: Mapping[str, float] = {"inject": 50, "search": 200, "extract": 5_000, "store": 100}
"""The time in ms within which 95 % of an operation's calls should end, as figures tell it."""
ALERTED_MS: Mapping[str, float] = {"inject": 500, "search": 1_000, "extract": 30_000, "store": 1_000}
"""The time in ms from which on an operator is told: a small machine that is busy misses the times above every day."""
LEAST_SUCCESS = 0.95
"""The part of an operation's calls that has to succeed within five minutes."""
_CLOSING_SECONDS = 5.0
_MOST_HOURS = 24 * 7


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

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


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
        self._begin()
        process_forks.register(after_in_child=self._begin)
        held = weakref.WeakMethod(self._wake)

        def wake() -> None:
            if (found := held()) is not None:
                found()

        database.operations.noted = wake

    def _begin(self) -> None:
        self._noted, self._closing = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._is_down = False
        weakref.finalize(self, _end, self._noted, self._closing).atexit = False

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
        _end(self._noted, self._closing)
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(_CLOSING_SECONDS)
        if not self._is_down:  # else it would be waited for once more
            self._try()

    def _wake(self) -> None:
        if self._thread is None and not self._closing.is_set():
            self._thread = threading.Thread(
                target=_work,
                args=(weakref.ref(self), self._noted, self._closing, self.every),
                name="langmem-operations",
                daemon=True,
            )
            self._thread.start()
        self._noted.set()

    def _try(self) -> bool:
        """Tell whether all is stored. A failure is logged once."""
        try:
            self.flush()
        except StoreUnavailable:
            if not self._is_down:
                log.warning("operations.not_stored", exc_info=True)
            self._is_down = True
            self._noted.set()  # set again: what is left is not noted a second time
            return False
        self._is_down = False
        return True

    def _turn(self) -> None:
        try:
            if self._try():
                self._stored()
        except Exception:
            # A mistake in one turn must not end all the others.
            log.exception("operations.failed")


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


def checked_hours(hours: int) -> timedelta:
    """Return the hours as a duration. Raises InvalidInput for less than 1 hour or more than is kept."""
    if isinstance(hours, bool) or not isinstance(hours, int) or not 1 <= hours <= _MOST_HOURS:
        raise InvalidInput(f"figures are kept for 1 to {_MOST_HOURS} hours, not for {hours!r}")
    return timedelta(hours=hours)


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


def _end(noted: threading.Event, closing: threading.Event) -> None:
    closing.set()
    noted.set()


def _work(
    found: "weakref.ref[OperationFlusher]", noted: threading.Event, closing: threading.Event, every: float
) -> None:
    """Store what is noted until closed. While this waits it holds no reference, so that an unclosed
    flusher can be freed.
    """
    while noted.wait() and not closing.wait(every) and (flusher := found()) is not None:
        noted.clear()
        flusher._turn()  # noqa: SLF001 - its own thread
        del flusher
