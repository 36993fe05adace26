"""The thread in which a process takes what was said into the memory, while replies go out."""

import contextlib
import queue
import threading
import weakref

from sqlalchemy import Connection

from langmem_plugin import process_forks
from langmem_plugin.database.audit_trail import SYSTEM, acts_from_now_on
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.writing.claim_keeper import ClaimKeeper
from langmem_plugin.writing.extraction import Extraction
from langmem_plugin.writing.jobs import ExtractionJobs

log = event_log(__name__)

EVERY_SECONDS = 15.0
_CLOSING_SECONDS = 10.0
_Asked = queue.SimpleQueue[bool]


class ExtractionWorker:
    """The worker that looks every `every` seconds for jobs that are due, and works on them one after another.

    In a forked process it starts with the first session that is marked there.
    """

    def __init__(
        self, jobs: ExtractionJobs, keeper: ClaimKeeper, extraction: Extraction, *, every: float = EVERY_SECONDS
    ) -> None:
        self.jobs = jobs
        self.work = extraction
        self.every = every
        self._keeper = keeper
        keeper.released = self.wake
        self._begin()
        process_forks.register(after_in_child=self._begin)

    def _begin(self) -> None:
        self._asked: _Asked = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._asked.put, False).atexit = False

    def start(self) -> None:
        self._thread = threading.Thread(
            target=_work, args=(weakref.ref(self), self._asked), name="langmem-extraction", daemon=True
        )
        self._thread.start()

    def mark(self, connection: Connection, thread: str, number: int) -> None:
        """Mark the session in which something was said: see ExtractionJobs."""
        self.jobs.mark(connection, thread, number)
        if self._thread is None and not self._stopped.is_set():  # the first time in a forked process
            self.start()

    def wake(self) -> None:
        """Wake the worker: a job may be due just now."""
        self._asked.put(True)

    def stop(self) -> None:
        """Take no more jobs; the one that is worked on is done to its end."""
        self._stopped.set()
        self._asked.put(False)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the worker's thread to end; tell whether it has."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def close(self) -> None:
        """Leave the job that is worked on after the step it is in: another process goes on with it."""
        self.stop()
        self.work.close()
        self.wait(_CLOSING_SECONDS)
        self._keeper.close()

    def work_through(self) -> bool:
        """Work on all that is due, one after another; tell whether to go on later."""
        try:
            self._keeper.watch()
            while not self._stopped.is_set() and self.work.next_done():
                pass
        except StoreUnavailable:
            if not self._stopped.is_set():
                log.warning("extraction.unavailable", exc_info=True)
        except Exception:
            # A mistake in one job must not end all the others.
            log.exception("extraction.failed")
        return not self._stopped.is_set()


def _work(found: "weakref.ref[ExtractionWorker]", asked: _Asked) -> None:
    """Work until closed; while this waits it holds no reference, so that an unclosed worker can be freed. A short
    process takes nothing.
    """
    acts_from_now_on(SYSTEM)
    every = _every(found)
    while every is not None:
        with contextlib.suppress(queue.Empty):
            if not asked.get(timeout=every):
                return
        worker = found()
        goes_on = worker is not None and worker.work_through()
        del worker
        every = _every(found) if goes_on else None


def _every(found: "weakref.ref[ExtractionWorker]") -> float | None:
    worker = found()
    return None if worker is None else worker.every
