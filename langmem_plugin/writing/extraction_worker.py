"""The thread in which a process takes what was said into the memory, while replies go out."""

from sqlalchemy import Connection

from langmem_plugin.background_worker import BackgroundWorker
from langmem_plugin.database.audit_recording import SYSTEM, acts_from_now_on
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.writing.extraction import Extraction
from langmem_plugin.writing.extraction_jobs import ClaimKeeper, ExtractionJobs

log = event_log(__name__)

EVERY_SECONDS = 15.0
_CLOSING_SECONDS = 10.0


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
        self.worker = BackgroundWorker("extraction", self._look)
        keeper.released = self.worker.wake

    def start(self) -> None:
        """Look for the first time after `every` seconds: a short process takes nothing."""
        self.worker.start(self.every)

    def mark(self, connection: Connection, thread: str, number: int) -> None:
        """Mark the session in which something was said: see ExtractionJobs."""
        self.jobs.mark(connection, thread, number)
        if self.worker.thread is None:  # the first time in a forked process
            self.start()

    def close(self) -> None:
        """Leave the job that is worked on after the step it is in: another process goes on with it."""
        self.worker.stop()
        self.work.close()
        self.worker.wait(_CLOSING_SECONDS)
        self._keeper.close()

    def work_through(self) -> None:
        """Work on all that is due, one after another."""
        try:
            self._keeper.watch()
            while not self.worker.closing.is_set() and self.work.next_done():
                pass
        except StoreUnavailable:
            if not self.worker.closing.is_set():
                log.warning("extraction.unavailable", exc_info=True)
        except Exception:
            # A mistake in one job must not end all the others.
            log.exception("extraction.failed")

    def _look(self) -> float:
        acts_from_now_on(SYSTEM)
        self.work_through()
        return self.every
