"""What a forked process makes anew: no thread lives on in it, and what another thread had locked stays locked."""

import os
import threading
from collections.abc import Callable
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
    """As os.register_at_fork, but for methods of objects that may go before the process does."""
    for hooks, hook in ((_before, before), (_after_in_parent, after_in_parent), (_after_in_child, after_in_child)):
        if hook is not None:
            hooks[WeakMethod(hook, hooks.pop)] = None


class Lock:
    """For `with`; in a child it is free, whoever held it when the process forked."""

    def __init__(self) -> None:
        self.renew()
        _locks.add(self)

    def renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Threads(ThreadPoolExecutor):
    """At most so many threads of this name, which a child starts anew."""

    def __init__(self, name: str, most: int | None = None) -> None:
        super().__init__(most, name)
        self._name, self._most = name, most
        register(after_in_child=self._begin_anew)

    def submit(self, function: Callable[..., _Result], /, *arguments: Any, **named: Any) -> Future[_Result]:
        """Raises StoreUnavailable once it is shut down."""
        try:
            return super().submit(function, *arguments, **named)
        except RuntimeError as error:
            raise StoreUnavailable("closed: what was asked for came after close(), construct it anew") from error

    def _begin_anew(self) -> None:
        was_shut_down = self._shutdown
        super().__init__(self._most, self._name)
        if was_shut_down:
            self.shutdown()


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
