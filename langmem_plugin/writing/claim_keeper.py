"""The claims of this process are kept alive while they are worked on; those of processes that are gone are taken.

Turns do the same (conversation/turns/turns.py): each holder counts up, and the others watch with a stopwatch of their
own. No clocks are compared.
"""

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Iterator

from langmem_plugin import process_forks
from langmem_plugin.conversation.turns.turns import RENEW_SECONDS, Watch
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.writing.jobs import ExtractionJobs, Held, Job

log = event_log(__name__)


class ClaimKeeper:
    """The watcher of claims; its thread runs while any process works on a job. `released` is called when a job was
    taken from a process that is gone.
    """

    def __init__(self, jobs: ExtractionJobs) -> None:
        self._jobs = jobs
        self.released: Callable[[], None] = lambda: None
        self._begin()
        process_forks.register(after_in_child=self._begin)

    def _begin(self) -> None:
        """Start anew, also in a forked child: the claims are the parent's."""
        self._own: dict[tuple[str, int, int], Job] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._stopped.set).atexit = False

    @contextlib.contextmanager
    def holding(self, job: Job) -> Iterator[None]:
        key = (job.thread, job.number, job.claim)
        with self._lock:
            self._own[key] = job
        self._keep_watch()
        try:
            yield
        finally:
            with self._lock:
                self._own.pop(key, None)

    def watch(self) -> None:
        """Look after the jobs of other processes, if there are any."""
        if self._jobs.held():
            self._keep_watch()

    def close(self) -> None:
        self._stopped.set()

    def _keep_watch(self) -> None:
        with self._lock:
            if self._stopped.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=_run, args=(weakref.ref(self), self._stopped), name="langmem-extraction-claims", daemon=True
            )
            self._thread.start()

    def look(self, watch: Watch) -> bool:
        """Do one round; tell whether any process works on a job."""
        with self._lock:
            own = list(self._own.values())
        held = self._jobs.renew(own)
        mine = {(job.thread, job.number, job.claim) for job in own}
        others = {_named(each): each for each in held if (each.thread, each.number, each.claim) not in mine}
        gone = watch.gone({name: each.beats for name, each in others.items()}, time.monotonic())
        if gone and self._jobs.release([others[name] for name, _ in gone]):
            log.warning("extraction.taken_over", extra={"jobs": len(gone)})
            self.released()
        with self._lock:
            if not held and not self._own:
                self._thread = None
                return False
        return True


def _named(held: Held) -> tuple[str, int]:
    return f"{held.thread}\n{held.number}", held.claim


def _run(found: "weakref.ref[ClaimKeeper]", stopped: threading.Event) -> None:
    """Watch until stopped; while it waits it holds no reference, so that the keeper can be freed."""
    watch = Watch()
    while (keeper := found()) is not None:
        with contextlib.suppress(StoreUnavailable):  # the database may be there in the next round
            if not keeper.look(watch):
                return
        del keeper
        if stopped.wait(RENEW_SECONDS):
            return
