"""Telemetry of the verbs: how long they take and whether they fail; counted here, and reported to OpenTelemetry."""

import bisect
import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, ParamSpec, Self, TypeVar

from opentelemetry import metrics

from langmem_plugin import process_forks
from langmem_plugin.errors import (
    DamagedMemory,
    DamagedSession,
    DecryptionRefused,
    EmbeddingUnavailable,
    LangMemError,
    ModelUnavailable,
    StoreUnavailable,
    TurnLost,
    TurnTimeout,
    client_errors,
)

Operation = Literal["inject", "search", "store", "change", "forget", "extract", "index", "reply"]
"""The timed operations: `inject` recalls for a reply, `extract` takes what a conversation said into the memory, `index`
follows changes.
"""

TIMINGS_KEPT_FOR = timedelta(days=7)
_SHORTEST_MS, _PER_OCTAVE, _OCTAVES = 0.01, 8, 24
_BOUNDS = [_SHORTEST_MS * 2 ** (step / _PER_OCTAVE) for step in range(_OCTAVES * _PER_OCTAVE + 1)]  # up to 168 s
_FAILURES = (
    StoreUnavailable,
    EmbeddingUnavailable,
    ModelUnavailable,
    DamagedSession,
    DamagedMemory,
    DecryptionRefused,
    TurnTimeout,
    TurnLost,
)

_meter = metrics.get_meter("langmem_plugin")
_duration = _meter.create_histogram(
    "langmem.operation.duration", unit="ms", description="How long a verb of the memory took, by operation and outcome"
)

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclass(slots=True)
class Latencies:
    """The calls of one operation: how many there were, how many failed, and how many took how long.

    `buckets` counts them by the step of a scale on which eight steps double: a quantile is off by 9 % at most.
    """

    calls: int = 0
    failures: int = 0
    total_ms: float = 0.0
    buckets: dict[int, int] = field(default_factory=dict)

    def note(self, milliseconds: float, *, failed: bool) -> None:
        self.calls += 1
        self.failures += failed
        self.total_ms += milliseconds
        bucket = bisect.bisect_left(_BOUNDS, milliseconds)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1

    def add(self, other: "Latencies") -> None:
        self.calls += other.calls
        self.failures += other.failures
        self.total_ms += other.total_ms
        for bucket, count in other.buckets.items():
            self.buckets[bucket] = self.buckets.get(bucket, 0) + count

    @property
    def average_ms(self) -> float:
        return self.total_ms / self.calls if self.calls else 0.0

    @property
    def success_rate(self) -> float:
        """Return the share of calls that succeeded, in [0, 1]; 1 if there were none."""
        return 1.0 - self.failures / self.calls if self.calls else 1.0

    def quantile_ms(self, share: float) -> float:
        """Return the time in ms that a `share` of the calls took at most; calls of one bucket are taken to lie evenly
        in it.
        """
        wanted, below = share * self.calls, 0
        for bucket in sorted(self.buckets):
            count = self.buckets[bucket]
            if below + count >= wanted:
                lower = _bound(bucket - 1) if bucket else 0.0
                return lower + (_bound(bucket) - lower) * (wanted - below) / count
            below += count
        return 0.0


def _bound(bucket: int) -> float:
    """Return a bucket's upper bound in ms; buckets above the last one, and unknown ones of another version, have the
    last bound.
    """
    return _BOUNDS[min(bucket, len(_BOUNDS) - 1)]


class OperationTimes:
    """The times of one database's operations in this process since they were last taken. A forked child begins with
    none.

    `noted` is called when the first call after that was noted, in the thread that made it: it must be quick.
    """

    def __init__(self) -> None:
        self.enabled = True
        self.noted: Callable[[], object] = lambda: None
        self._lock = process_forks.Lock()
        self._begin()
        process_forks.register(after_in_child=self._begin)

    def _begin(self) -> None:
        self._held: dict[str, Latencies] = {}

    def note(self, operation: Operation, seconds: float, *, failed: bool) -> None:
        if not self.enabled:
            return
        milliseconds = seconds * 1_000
        with self._lock:
            is_first = not self._held
            held = self._held.get(operation)
            if held is None:
                held = self._held[operation] = Latencies()
            held.note(milliseconds, failed=failed)
        _duration.record(milliseconds, {"operation": operation, "outcome": "failed" if failed else "ok"})
        if is_first:
            self.noted()

    def take(self) -> dict[str, Latencies]:
        """Return what was noted so far, and begin anew."""
        with self._lock:
            held, self._held = self._held, {}
        return held

    def put_back(self, taken: Mapping[str, Latencies]) -> None:
        """Add again what was taken and could not be stored."""
        with self._lock:
            for operation, latencies in taken.items():
                self._held.setdefault(operation, Latencies()).add(latencies)


def timed(
    operation: Operation,
) -> Callable[[Callable[_Arguments, _Result]], Callable[_Arguments, _Result]]:
    """Return a decorator that notes each call of a method, whose object has `operations`; a caller's mistake is no
    failure of the operation.
    """

    def decorate(verb: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
        @functools.wraps(verb)
        def measured(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
            of: Any = arguments[0]
            with timing(of.operations, operation):
                return verb(*arguments, **named)

        return measured

    return decorate


class timing:  # noqa: N801 - used as a function is, and twice as fast as a generator
    """A context manager that notes its block as one call. Set `failed` where an error is not raised; a cancelled block
    is not counted.
    """

    __slots__ = ("_began", "_operation", "_operations", "failed")

    def __init__(self, operations: OperationTimes, operation: Operation) -> None:
        self._operations = operations
        self._operation: Operation = operation
        self.failed = False

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, Exception):
            failed = self.failed if error is None else is_failure(error)
            self._operations.note(self._operation, time.perf_counter() - self._began, failed=failed)


def is_failure(error: Exception) -> bool:
    """Tell whether the error says that something here does not work, and not that the request cannot be met."""
    if isinstance(error, LangMemError):
        return isinstance(error, _FAILURES)
    return not isinstance(error, client_errors(("langgraph.errors", "GraphBubbleUp")))  # a run that asks a person
