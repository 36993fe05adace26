"""Says once when a verb has become slow or fails often, and once when it is well again, in the log."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, delete, select

from langmem_plugin.database import Database
from langmem_plugin.database.one_process import alone_or_not
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.database.upkeep_tables import upkeep
from langmem_plugin.insight.operations import LEAST_SUCCESS, THRESHOLDS_MS, latencies_since
from langmem_plugin.logs import event_log
from langmem_plugin.operation_timing import Latencies

log = event_log(__name__)

_LOOKED_BACK = timedelta(minutes=5)
_FEWEST_CALLS = 20
_PREFIX = "alert "


@dataclass(frozen=True)
class Alert:
    """A measure of an operation that is beyond its bound, or, `cleared`, no longer. Numbers alone."""

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
        """Of the row that is there while the alert is raised."""
        return f"{_PREFIX}{self.operation} {self.measure}"

    @property
    def is_beyond(self) -> bool:
        return self.value > self.bound if self.measure == "p95_ms" else self.value < self.bound


class Alerts:
    """What is raised is noted in the database, so that of all processes one says it, once. A verb that was called less
    than twenty times in five minutes is not judged: what was raised for it stays so.
    """

    def __init__(self, database: Database, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def look(self) -> list[Alert]:
        """What has changed since anybody looked; nothing where another process is looking. Raises StoreUnavailable."""
        with alone_or_not(self._database, "alerts") as alone:
            found = self._changed() if alone else []
        for each in found:
            log.warning(each.event, extra={name: value for name, value in each.to_dict().items() if name != "event"})
        return found

    def raised(self) -> list[tuple[str, datetime]]:
        """The operation and the measure of each that is open, and since when, the oldest first."""
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
        if name in THRESHOLDS_MS:
            yield _Judged(name, "p95_ms", of.quantile_ms(0.95), THRESHOLDS_MS[name], of.calls)
        yield _Judged(name, "success_rate", of.success_rate, LEAST_SUCCESS, of.calls)


def _note(connection: Connection, judged: _Judged, now: datetime) -> None:
    if judged.is_beyond:
        connection.execute(insert_unless_there(upkeep)[connection.dialect.name], {"name": judged.name, "noted_at": now})
    else:
        connection.execute(delete(upkeep).where(upkeep.c.name == judged.name))
