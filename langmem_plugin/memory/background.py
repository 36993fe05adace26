"""Work that no reply waits for: one thread, one thing at a time, each thing once."""

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

from langmem_plugin.errors import EmbeddingUnavailable, StoreUnavailable

log = logging.getLogger(__name__)

_CLOSING_SECONDS = 10.0


class Background:
    """Does what it is asked for in a daemon thread, which starts with the first request and ends with `close`.

    Long work looks at `closing` between its steps and stops there: it must lose nothing by that.
    """

    def __init__(self) -> None:
        self.closing = threading.Event()
        self._asked: SimpleQueue[tuple[str, Callable[[], object]] | None] = SimpleQueue()
        self._waiting: set[str] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def ask(self, name: str, work: Callable[[], object]) -> None:
        """Queues `work`, unless something of this name waits or runs already."""
        with self._lock:
            if name in self._waiting or self.closing.is_set():
                return
            self._waiting.add(name)
            self._asked.put((name, work))
            if self._thread is None or not self._thread.is_alive():  # it does not live on in a forked process
                self._thread = threading.Thread(target=self._run, name="langmem-background", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Waits for the step that runs; what still waits is left to the next process."""
        self.closing.set()
        self._asked.put(None)
        if self._thread is not None:
            self._thread.join(_CLOSING_SECONDS)

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None and not self.closing.is_set():
            name, work = asked
            try:
                work()
            except (StoreUnavailable, EmbeddingUnavailable):
                log.warning("background.failed", exc_info=True)
            finally:
                with self._lock:
                    self._waiting.discard(name)
