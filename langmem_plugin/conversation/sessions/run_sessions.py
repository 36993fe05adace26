"""Which session each run of a graph belongs to, from its first read to its last write."""

from collections import OrderedDict

from langmem_plugin import process_forks

_MOST_RUNS = 4_096


class RunSessions:
    """Remembers a run's session by the run's control object: the one thing that reaches every call of it.

    A session of None means that the run starts a fresh one at its first write, unless its person was erased after the
    erasures it had seen; a run that has `expired` writes nothing.
    """

    def __init__(self) -> None:
        # The control object is kept beside its id: it takes no weak reference, and an id is used again.
        self._runs: OrderedDict[int, tuple[object, str, str | None, int | None]] = OrderedDict()
        self._expired: OrderedDict[int, object] = OrderedDict()
        self._lock = process_forks.Lock()

    def remember(
        self, control: object, thread: str, session_id: str | None, *, erasures_seen: int | None = None
    ) -> None:
        with self._lock:
            self._runs[id(control)] = (control, thread, session_id, erasures_seen)
            self._runs.move_to_end(id(control))
            if len(self._runs) > _MOST_RUNS:
                self._runs.popitem(last=False)

    def expire(self, control: object) -> None:
        with self._lock:
            self._expired[id(control)] = control
            if len(self._expired) > _MOST_RUNS:
                self._expired.popitem(last=False)

    def has_expired(self, control: object | None) -> bool:
        return id(control) in self._expired

    def knows(self, control: object | None, thread: str) -> bool:
        with self._lock:
            run = self._runs.get(id(control))
        return run is not None and run[1] == thread

    def session_of(self, control: object | None) -> str | None:
        with self._lock:
            return self._runs[id(control)][2]

    def erasures_seen(self, control: object | None) -> int | None:
        """The newest erasure there was when the run that starts a fresh session began; None of any other."""
        with self._lock:
            run = self._runs.get(id(control))
        return None if run is None else run[3]
