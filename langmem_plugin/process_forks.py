"""Objects that a forked process makes anew: no thread lives on in it, and locks that another thread held stay
locked.
"""

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar
from weakref import WeakMethod, WeakSet

from langmem_plugin.errors import StoreUnavailable

_Result = TypeVar("_Result")
_Hook = Callable[[], None]
_Hooks = dict[WeakMethod[_Hook], None]

_before: _Hooks = {}
_after_in_parent: _Hooks = {}
_after_in_child: _Hooks = {}
_locks: "WeakSet[Lock]" = WeakSet()


def register(
    *, before: _Hook | None = None, after_in_parent: _Hook | None = None, after_in_child: _Hook | None = None
) -> None:
    """Register hooks as os.register_at_fork does, but for methods of objects that may be freed before the
    process ends.
    """
    for hooks, hook in ((_before, before), (_after_in_parent, after_in_parent), (_after_in_child, after_in_child)):
        if hook is not None:
            hooks[WeakMethod(hook, hooks.pop)] = None


class Lock:
    """A lock for `with`, which its holder may enter again; in a forked child it is free, whoever held it."""

    def __init__(self) -> None:
        self.renew()
        _locks.add(self)

    def renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Gate:
    """A gate that lets `room` threads in at once, and delays a fork while a thread is inside.

    A fork waits for them for `patience` seconds at most, and lets nobody new in; then it happens anyway, and
    `was_at_rest` is False in the child.
    """

    was_at_rest = True

    def __init__(self, room: float = math.inf, patience: float = 5.0) -> None:
        self._room = room
        self._patience = patience
        self._begin_empty()
        register(before=self._before, after_in_parent=self._after, after_in_child=self._after_in_child)

    def enter(self, deadline: float = math.inf) -> bool:
        """Enter if there is room before `deadline`, in seconds of time.monotonic(); tell whether it did, and if so
        `leave` later.
        """
        thread = threading.get_ident()
        with self._changed:
            # A thread that is inside may always enter again: otherwise it would wait for itself.
            already = self._inside.get(thread, 0)
            if not (already or self._has_place() or self._changed.wait_for(self._has_place, _until(deadline))):
                return False
            self._inside[thread] = already + 1
        return True

    def leave(self) -> None:
        thread = threading.get_ident()
        with self._changed:
            self._inside[thread] -= 1
            if not self._inside[thread]:
                del self._inside[thread]
                self._changed.notify_all()

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def shut(self) -> bool:
        """Let nobody new in until `open`; tell whether all have left in time."""
        with self._changed:
            self._shut += 1
            return self._changed.wait_for(self._others_left, self._patience) and not self._inside

    def open(self) -> None:
        with self._changed:
            self._shut -= 1
            self._changed.notify_all()

    def _begin_empty(self) -> None:
        self._inside: dict[int, int] = {}  # by thread, how many nested blocks it is in
        self._shut = 0
        self._forking = 0
        self._changed = threading.Condition()

    def _has_place(self) -> bool:
        return not self._shut and len(self._inside) < self._room

    def _others_left(self) -> bool:
        """Tell whether all other threads have left. The calling thread is not counted: it would wait for itself."""
        return self._inside.keys() <= {threading.get_ident()}

    def _before(self) -> None:
        self._forking += 1
        self.was_at_rest = self.shut()

    def _after(self) -> None:
        if self._forking:  # false for a gate that another thread made meanwhile
            self._forking -= 1
            self.open()

    def _after_in_child(self) -> None:
        self.was_at_rest = self.was_at_rest and self._forking > 0
        self._begin_empty()


class Threads(ThreadPoolExecutor):
    """A pool of at most so many threads of this name, which a forked child starts anew."""

    def __init__(self, name: str, most: int | None = None) -> None:
        super().__init__(most, name)
        self._name, self._most = name, most
        register(after_in_child=self._begin_anew)

    def submit(self, function: Callable[..., _Result], /, *arguments: Any, **named: Any) -> Future[_Result]:
        """Submit as ThreadPoolExecutor does. Raises StoreUnavailable once it is shut down."""
        try:
            return super().submit(function, *arguments, **named)
        except RuntimeError as error:
            raise StoreUnavailable("closed: what was asked for came after close(), construct it anew") from error

    def _begin_anew(self) -> None:
        was_shut_down = self._shutdown
        super().__init__(self._most, self._name)
        if was_shut_down:
            self.shutdown()


def _until(deadline: float) -> float | None:
    """Return how many seconds are left; None for ever."""
    return None if deadline == math.inf else max(0.0, deadline - time.monotonic())


def _call(hooks: _Hooks) -> None:
    for found in list(hooks):
        hook = found()
        if hook is not None:
            hook()


def _begin_child() -> None:
    for lock in list(_locks):
        lock.renew()
    _call(_after_in_child)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _call(_before),
        after_in_parent=lambda: _call(_after_in_parent),
        after_in_child=_begin_child,
    )
