"""Transactions: what one asks for, how long it may wait, and several verbs in one: on disk together, or not at all."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from typing import NamedTuple

from sqlalchemy import Connection

from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.logs import event_log

log = event_log(__name__)

_SHORT_SECONDS = 0.05
_in_vain: ContextVar[set[object] | None] = ContextVar("waited_in_vain", default=None)


class WaitedInVain(StoreUnavailable):
    """A transaction has waited for the whole time that it may."""


@contextlib.contextmanager
def waiting_once() -> Iterator[None]:
    """Make transactions of the block hardly wait for a thing that another one of them has waited for in vain.

    It is for work that one person waits for: a reply asks the database many times. It also counts for threads with the
    block's context. An inner block shares the list of the outer one.
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
    """Return the longest wait in seconds: short if `awaited` was waited for in vain before, else `otherwise`."""
    return min(otherwise, _SHORT_SECONDS) if awaited in (_in_vain.get() or ()) else otherwise


def note_in_vain(awaited: object) -> None:
    known = _in_vain.get()
    if known is not None:
        known.add(awaited)


class Transaction(NamedTuple):
    """A transaction: it may wait until `deadline` for all that comes before its first answer, and `patience` for each
    further answer.

    A lock that another holds may keep it waiting for `lock_seconds` of its patience.
    """

    writes: bool
    durable: bool
    patience: float  # in seconds
    lock_seconds: float
    deadline: float  # of time.monotonic(), as all deadlines here
    awaited: object  # the thing that others of a `waiting_once` block wait for too

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


current: "ContextVar[Together | None]" = ContextVar("langmem_together", default=None)


class Together:
    """The transaction of one block in one thread, see Database.together; `open_` opens it."""

    def __init__(self, database: object, open_: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._database = database
        self._open = open_
        self._thread = threading.get_ident()
        self._first: list[Callable[[Connection], object]] = []
        self.transaction = ExitStack()
        self.kept = ExitStack()
        self.connection: Connection | None = None
        self.failed: BaseException | None = None

    def is_of(self, database: object) -> bool:
        """Tell whether it is of this database and this thread; another thread with the block's context cannot share the
        connection.
        """
        return self._database is database and self._thread == threading.get_ident()

    def begun(self) -> Connection:
        """Begin the transaction unless it has begun. An error at its beginning is raised again at each later call."""
        if self.failed is not None:
            raise self.failed
        if self.connection is None:
            try:
                self.connection = self.transaction.enter_context(self._open())
                for work in self._first:
                    work(self.connection)
            except BaseException as error:
                self.failed = error
                raise
        return self.connection

    def first(self, work: Callable[[Connection], object]) -> None:
        if self.connection is None:
            self._first.append(work)
        else:
            work(self.connection)

    def finish(self) -> None:
        """Raise the error that makes it fail as a whole, though the block went on. One that never began has written
        nothing.
        """
        if self.connection is not None and self.failed is not None:
            raise self.failed
        if self._first and self.failed is None:
            try:
                self.begun()
            except StoreUnavailable:  # nothing that was done needed the database
                log.warning("together.not_written", exc_info=True)
                self.connection = None

    def lost(self) -> None:
        """Note that the connection is lost, and with it what was written."""
        self.failed = StoreUnavailable("the connection was lost in the middle of what belongs together: try again")


def is_shared(connection: Connection) -> bool:
    """Tell whether its transaction has other parts: it may be given up, and others do not see it yet."""
    together = current.get()
    return together is not None and together.connection is connection
