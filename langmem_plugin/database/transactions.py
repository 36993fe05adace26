"""A transaction's requests, and how long it may wait."""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

from langmem_plugin.errors import StoreUnavailable

_SHORT_SECONDS = 0.05
_in_vain: ContextVar[set[object] | None] = ContextVar("waited_in_vain", default=None)


class WaitedInVain(StoreUnavailable):
    """The whole time that a transaction may wait went by."""


@contextlib.contextmanager
def waiting_once() -> Iterator[None]:
    """Once a transaction of the block has waited in vain, the others hardly wait for the same thing any more.

    For what one person waits for: a reply asks the database many times. It counts for threads with the block's
    context too. A block within a block waits for nothing that the other has waited for.
    """
    if _in_vain.get() is not None:
        yield
        return
    token = _in_vain.set(set())
    try:
        yield
    finally:
        _in_vain.reset(token)


def longest_wait(awaited: object, otherwise: float) -> float:
    """The longest wait in seconds, for a thing that one may have waited for in vain."""
    return min(otherwise, _SHORT_SECONDS) if awaited in (_in_vain.get() or ()) else otherwise


def note_in_vain(awaited: object) -> None:
    known = _in_vain.get()
    if known is not None:
        known.add(awaited)


class Transaction(NamedTuple):
    """A transaction: it may wait until `deadline` for all that comes before its first answer, and `patience` for each
    other.

    A lock that another holds may keep it for `lock_seconds` of its patience.
    """

    writes: bool
    durable: bool
    patience: float  # in seconds
    lock_seconds: float
    deadline: float  # of time.monotonic(), as all deadlines here
    awaited: object  # what the others of a `waiting_once` block wait for too

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())
