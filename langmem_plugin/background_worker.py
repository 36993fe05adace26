"""A thread that looks after something now and then, and at once where it is woken, until it is stopped."""

import threading
import weakref
from collections.abc import Callable

from langmem_plugin import process_forks

_LONGEST_WAIT_SECONDS = 86_400.0


class BackgroundWorker:
    """The thread of an object whose method `look` does what is due and returns the seconds until the next look.

    While it waits it holds no reference to the object, so that one that was not closed can be freed. A forked process
    has no such thread until it is started there.
    """

    def __init__(self, name: str, look: Callable[[], float]) -> None:
        self._name = name
        self._look = weakref.WeakMethod(look)
        self._begin()
        process_forks.register(after_in_child=self._begin)

    def _begin(self) -> None:
        self.closing, self._woken = threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None
        weakref.finalize(self, _end, self.closing, self._woken).atexit = False

    def start(self, wait: float = 0.0) -> None:
        """Look for the first time after so many seconds, unless the thread runs already or was stopped."""
        if self.closing.is_set() or (self.thread is not None and self.thread.is_alive()):
            return
        self.thread = threading.Thread(
            target=_work, args=(self._look, self.closing, self._woken, wait), name=f"langmem-{self._name}", daemon=True
        )
        self.thread.start()

    def wake(self) -> None:
        """Look now."""
        self._woken.set()
        self.start()

    def stop(self) -> None:
        """Look no more; what runs is done to its end, or to where it sees that this is `closing`."""
        _end(self.closing, self._woken)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the thread to end; tell whether it has."""
        if self.thread is None:
            return True
        self.thread.join(seconds)
        return not self.thread.is_alive()


def _work(
    look: "weakref.WeakMethod[Callable[[], float]]", closing: threading.Event, woken: threading.Event, wait: float
) -> None:
    while True:
        woken.wait(min(wait, _LONGEST_WAIT_SECONDS))
        woken.clear()
        if closing.is_set() or (found := look()) is None:
            return
        wait = found()
        del found


def _end(closing: threading.Event, woken: threading.Event) -> None:
    closing.set()
    woken.set()
