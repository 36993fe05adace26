"""Calls with a timeout of code that may hang: each runs in a daemon thread, left alone when it takes too long."""

import atexit
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar
from weakref import WeakSet

from langmem_plugin import process_forks
from langmem_plugin.background_worker import BackgroundWorker
from langmem_plugin.errors import EmbeddingUnavailable, StoreUnavailable
from langmem_plugin.logs import event_log

log = event_log(__name__)

Answer = TypeVar("Answer")

_MOST_HUNG = 4
_LAST_SECONDS = 2.0
_threads: "WeakSet[threading.Thread]" = WeakSet()
_CLOSING_SECONDS = 10.0
_AGAIN_SECONDS = 300.0


class GivenUp(TimeoutError):
    """The error of a call that did not end in time, or was not begun because it would not."""


class Panic(RuntimeError):
    """The error of a call that ended with something that is no Exception, as a panic in Rust does."""


class TimedCalls:
    """Calls of code that may hang, each given up in time.

    Four threads may be left behind; until one of them comes back every further call is given up at once. None of them
    keeps the interpreter from ending for more than two seconds.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._closed = False
        self._begin_with_none()
        process_forks.register(after_in_child=self._begin_with_none)

    def _begin_with_none(self) -> None:
        """Start without left threads, also in a forked child: no thread lives on there, so none comes back."""
        self._waited_for: set[Future[Any]] = set()
        self._hung: set[Future[Any]] = set()
        self._lock = threading.Lock()

    def answer(self, ask: Callable[[], Answer], seconds: float) -> Answer:
        """Return or raise the outcome of `ask`; anything raised that is no Exception is a Panic. Raises GivenUp."""
        answer: Future[Answer] = Future()
        with self._lock:
            if self._closed or len(self._hung) >= _MOST_HUNG:
                raise GivenUp("closed" if self._closed else f"{len(self._hung)} calls before this one still hang")
            self._waited_for.add(answer)
        work = copy_context().run  # the context of the caller: tracing is among it
        thread = threading.Thread(target=work, args=(self._work, ask, answer), name=self._name, daemon=True)
        thread.start()
        _threads.add(thread)  # one that has not begun cannot be waited for
        try:
            return answer.result(seconds)
        except CancelledError as error:
            raise GivenUp("closed") from error
        except TimeoutError as error:
            if answer.done():  # `ask` raised it
                raise
            raise GivenUp(f"no answer in {seconds:g} seconds") from error
        finally:
            with self._lock:
                self._waited_for.discard(answer)
                if not answer.done():
                    self._hung.add(answer)

    def close(self) -> None:
        """Wait for nothing from now on, neither for what runs nor for what is asked."""
        with self._lock:
            self._closed = True
            for answer in self._waited_for:
                answer.cancel()

    def _work(self, ask: Callable[[], Answer], answer: Future[Answer]) -> None:
        try:
            settle = partial(answer.set_result, ask())
        except Exception as error:  # noqa: BLE001 - carried to the caller, who names it
            settle = partial(answer.set_exception, error)
        except BaseException as error:  # noqa: BLE001 - nothing else ends a thread like this one
            settle = partial(answer.set_exception, Panic(f"{type(error).__name__}: {error}"))
        with self._lock:
            self._hung.discard(answer)
            if answer.set_running_or_notify_cancel():
                settle()


@atexit.register
def _let_end() -> None:
    """Wait for the threads when the interpreter ends: a model's native code aborts the process if it
    goes away under it.
    """
    deadline = time.monotonic() + _LAST_SECONDS
    for thread in list(_threads):
        thread.join(max(0.0, deadline - time.monotonic()))


class BackgroundThread:
    """A thread that does what it is asked for, one after another; it starts with the first request and ends with
    `close`.

    Long work looks at `closing` between its steps and stops there: it must lose nothing by that. What fails for want
    of the database or of the embedding model is done again five minutes later.
    """

    def __init__(self) -> None:
        self._asked: dict[str, Callable[[], object]] = {}
        self._worker = BackgroundWorker("background", self._work)
        process_forks.register(after_in_child=self._asked_of_parent)

    @property
    def closing(self) -> threading.Event:
        return self._worker.closing

    def ask(self, name: str, work: Callable[[], object]) -> None:
        """Queue `work`, unless work of this name waits already; asked for while it runs, it is done once more."""
        self._asked.setdefault(name, work)
        self._worker.wake()

    def close(self) -> None:
        """Wait for the step that runs; what still waits is left to the next process."""
        self._worker.stop()
        self._worker.wait(_CLOSING_SECONDS)

    def _work(self) -> float:
        for name in tuple(self._asked):  # what others ask for meanwhile wakes the thread again
            if self.closing.is_set():
                break
            work = self._asked.pop(name)
            try:
                work()
            except (StoreUnavailable, EmbeddingUnavailable):
                if not self.closing.is_set():
                    log.warning("background.failed", exc_info=True)
                self._asked.setdefault(name, work)
        return _AGAIN_SECONDS if self._asked else math.inf

    def _asked_of_parent(self) -> None:
        """Leave what waits to the parent, in a forked child."""
        self._asked.clear()
