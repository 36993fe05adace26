"""Archive and delete, in the background and by one process at a time, what is too old or was deleted."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta

from langmem_plugin.background_worker import BackgroundWorker
from langmem_plugin.conversation.saver import ConversationSaver
from langmem_plugin.conversation.sessions import sessions_to_index
from langmem_plugin.conversation.sessions.session_timeout import (
    ARCHIVED_TERM,
    INTERRUPT_TERM,
    SESSION_TERM,
    Silence,
    longest_noted,
)
from langmem_plugin.conversation.turns.message_claims import ANSWERS_KEPT_FOR
from langmem_plugin.database import Database
from langmem_plugin.database.audit_recording import SYSTEM, acts_from_now_on
from langmem_plugin.database.batched_deletion import delete_in_slices
from langmem_plugin.database.conversation_tables import acknowledged, incoming, question, thread_owner
from langmem_plugin.database.operations_tables import operation
from langmem_plugin.database.people_tables import link_code
from langmem_plugin.database.process_lease import alone
from langmem_plugin.errors import LangMemError
from langmem_plugin.logs import event_log
from langmem_plugin.memory.keep.retention import Retention
from langmem_plugin.settings import QUESTION_OPEN_FOR
from langmem_plugin.telemetry import TIMINGS_KEPT_FOR

log = event_log(__name__)

_FIRST_LOOK_SECONDS = 60.0
_SHORTEST_PAUSE_SECONDS = 0.01
_CLOSING_SECONDS = 10.0


class Housekeeping:
    """The sweeper of one database: `start` sweeps every `every` from then on, `sweep` here and now.

    `archived_for` is how long an ended session is kept (None: for ever). `finish_erasures` is one more step.
    `settle_audit` comes last: it writes down the audit entries of all steps.
    """

    def __init__(
        self,
        saver: ConversationSaver,
        retention: Retention,
        *,
        archived_for: timedelta | None,
        every: timedelta | None,
        finish_erasures: Callable[[], Iterator[int]] = lambda: iter(()),
        settle_audit: Callable[[], object] = lambda: None,
    ) -> None:
        self._saver = saver
        self._database: Database = saver.database
        self._retention = retention
        self._archived_for = archived_for
        self._every = every
        self._finish_erasures = finish_erasures
        self._settle_audit = settle_audit
        self.worker = BackgroundWorker("housekeeping", self._look)  # none in a forked child: the parent sweeps

    def start(self) -> None:
        """Start the thread; its first look is after a minute, so a process that lives for less sweeps nothing."""
        if self._every is not None:
            self.worker.start(min(_FIRST_LOOK_SECONDS, self._every.total_seconds()))

    def close(self) -> None:
        """Wait for the transaction that runs; the rest is done by the next sweep."""
        self.worker.stop()
        self.worker.wait(_CLOSING_SECONDS)

    def sweep(self) -> Counter[str] | None:
        """Archive the sessions that fell silent, delete for good what is too old, and count the rows of each kind.

        Does nothing, and returns None, while another sweep runs, in any process. Raises StoreUnavailable; what was done
        before stays done.
        """
        with alone(self._database, "sweep", waits=False) as is_alone:
            return self._swept() if is_alone else None

    def _swept(self) -> Counter[str]:
        """Sweep each kind in turn; if it is closed meanwhile, return what was done until then."""
        sessions, deletion, database = self._saver.sessions, self._saver.deletion, self._database
        now = sessions.now()
        with database.read() as connection:
            # What another service of this database still keeps is left to it.
            terms = longest_noted(connection, {**sessions.terms.own, ARCHIVED_TERM: self._archived_for})
        kept, silence = terms[ARCHIVED_TERM], Silence(terms[SESSION_TERM], terms[INTERRUPT_TERM])
        steps: dict[str, Callable[[], Iterator[int]]] = {
            "sessions_archived": lambda: sessions.silent_ended(silence),
            "sessions_deleted": lambda: iter(()) if kept is None else deletion.archived_deleted(now - kept),
            "pending_lapsed": self._retention.pending_lapsed,
            "memories_deleted": self._retention.memories_deleted,
            "uses_deleted": self._retention.uses_deleted,
            "claimed_ids_deleted": lambda: delete_in_slices(
                database, incoming, incoming.c.received_at <= now - ANSWERS_KEPT_FOR
            ),
            "acknowledged_deleted": lambda: delete_in_slices(
                database, acknowledged, acknowledged.c.received_at <= now - ANSWERS_KEPT_FOR
            ),
            "questions_dropped": lambda: delete_in_slices(
                database, question, question.c.asked_at <= now - QUESTION_OPEN_FOR
            ),
            "threads_forgotten": lambda: delete_in_slices(database, thread_owner, sessions_to_index.of_nobody(now)),
            "link_codes_deleted": lambda: delete_in_slices(database, link_code, link_code.c.expires_at <= now),
            "figures_deleted": lambda: delete_in_slices(
                database, operation, operation.c.minute <= now - TIMINGS_KEPT_FOR
            ),
            "owners_forgotten": self._retention.owners_forgotten,
            "erasures_finished": self._finish_erasures,
        }
        counts = Counter({name: self._done(step()) for name, step in steps.items()})
        self._settle_audit()
        log.info("sweep.done", extra=counts)
        return counts

    def _done(self, slices: Iterator[int]) -> int:
        """Pause after each transaction for as long as it took, so that others who wait to write can go between."""
        done, began = 0, time.monotonic()
        while not self.worker.closing.is_set():
            one = next(slices, None)
            if one is None:
                break
            done += one
            self.worker.closing.wait(max(_SHORTEST_PAUSE_SECONDS, time.monotonic() - began))
            began = time.monotonic()
        return done

    def _look(self) -> float:
        """Sweep; return the seconds until the next look."""
        acts_from_now_on(SYSTEM)
        try:
            self.sweep()
        except (LangMemError, OSError):
            log.warning("sweep.failed", exc_info=True)
        except Exception:
            # A mistake in one sweep must not end all the others: without them nothing is ever deleted.
            log.exception("sweep.failed")
        return (self._every or timedelta.max).total_seconds()
