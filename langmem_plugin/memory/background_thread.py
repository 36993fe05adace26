"""Work that no reply waits for: one thread, one thing at a time, each thing once."""

import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

from langmem_plugin import process_forks
from langmem_plugin.errors import EmbeddingUnavailable, StoreUnavailable
from langmem_plugin.logs import event_log

log = event_log(__name__)

_CLOSING_SECONDS = 10.0
_Queue = SimpleQueue[tuple[str, Callable[[], object]] | None]


class BackgroundThread:
    """Does what it is asked for in a daemon thread, which starts with the first request and ends with `close`.

    Long work looks at `closing` between its steps and stops there: it must lose nothing by that.
    """

    def __init__(self) -> None:
        self._begin()
        process_forks.register(after_in_child=self._begin)

    def _begin(self) -> None:
        """Also in a forked child: what waits is the parent's to do."""
        self.closing = threading.Event()
        self._asked: _Queue = SimpleQueue()
        self._waiting: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        weakref.finalize(self, self._asked.put, None).atexit = False

    def ask(self, name: str, work: Callable[[], object]) -> None:
        """Queues `work`, unless something of this name waits or runs already."""
        with self._lock:
            if name in self._waiting or self.closing.is_set():
                return
            self._waiting.add(name)
            self._asked.put((name, work))
            if self._thread is None or not self._thread.is_alive():  # a mistake in the work before may have ended it
                self._thread = threading.Thread(
                    target=_run,
                    args=(self._asked, self.closing, self._waiting, self._lock),
                    name="langmem-background",
                    daemon=True,
                )
                self._thread.start()

    def close(self) -> None:
        """Waits for the step that runs; what still waits is left to the next process."""
        self.closing.set()
        self._asked.put(None)
        if self._thread is not None:
            self._thread.join(_CLOSING_SECONDS)


def _run(queued: _Queue, closing: threading.Event, waiting: set[str], lock: threading.Lock) -> None:
    """While it waits it keeps nobody alive, so that who was not closed can go."""
    while (asked := queued.get()) is not None and not closing.is_set():
        name, work = asked
        try:
            work()
        except (StoreUnavailable, EmbeddingUnavailable):
            if not closing.is_set():
                log.warning("background.failed", exc_info=True)
        finally:
            with lock:
                waiting.discard(name)
        del asked, work
