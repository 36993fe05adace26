"""What a transaction asks for, and who is inside one: so many at once, nobody while the process forks."""

import contextlib
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

from langmem_plugin.errors import StoreUnavailable

_SHORT_SECONDS = 0.2
_in_vain: ContextVar[set[object] | None] = ContextVar("waited_in_vain", default=None)


class WaitedInVain(StoreUnavailable):
    """The whole time that a transaction may wait went by."""


@contextlib.contextmanager
def waiting_once() -> Iterator[None]:
    """Once a transaction of the block has waited in vain, the others hardly wait for the same thing any more.

    For what one person waits for: a reply asks the database many times. It counts for threads with the block's
    context too.
    """
    token = _in_vain.set(set())
    try:
        yield
    finally:
        _in_vain.reset(token)


def longest_wait(awaited: object, otherwise: float) -> float:
    """In seconds, for a thing that one may have waited for in vain."""
    return min(otherwise, _SHORT_SECONDS) if awaited in (_in_vain.get() or ()) else otherwise


def note_in_vain(awaited: object) -> None:
    known = _in_vain.get()
    if known is not None:
        known.add(awaited)


class Transaction(NamedTuple):
    """It may wait `seconds`, until `deadline`, for all that comes before its first answer."""

    writes: bool
    durable: bool
    seconds: float
    deadline: float  # of time.monotonic(), as all deadlines here
    awaited: object  # what the others of a `waiting_once` block wait for too

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


class Gate:
    """Lets `room` threads in at once."""

    def __init__(self, room: float) -> None:
        self._room = room
        self._inside: dict[int, int] = {}  # thread -> how many transactions, one inside the other
        self._shut = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def inside(self, asked: Transaction) -> Iterator[None]:
        """Raises WaitedInVain if there is no place in time."""
        thread = threading.get_ident()
        with self._changed:
            # Who is inside has what the others wait for, and must not wait for them.
            already = self._inside.get(thread, 0)
            if (
                not already
                and not self._has_place()
                and not self._changed.wait_for(self._has_place, asked.seconds_left)
            ):
                raise WaitedInVain(f"no place for another transaction within {asked.seconds} s: try again")
            self._inside[thread] = already + 1
        try:
            yield
        finally:
            with self._changed:
                self._inside[thread] -= 1
                if not self._inside[thread]:
                    del self._inside[thread]
                    self._changed.notify_all()

    def shut(self, deadline: float) -> bool:
        """Lets nobody in until `open`; whether all have left in time."""
        with self._changed:
            self._shut += 1
            return self._changed.wait_for(self._others_left, deadline - time.monotonic()) and not self._inside

    def open(self) -> None:
        with self._changed:
            self._shut -= 1
            self._changed.notify_all()

    def _has_place(self) -> bool:
        return not self._shut and len(self._inside) < self._room

    def _others_left(self) -> bool:
        """To wait for oneself would be for ever."""
        return self._inside.keys() <= {threading.get_ident()}
