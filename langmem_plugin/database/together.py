"""Several verbs in one transaction: what a command does and what it answers are on disk together, or not at all."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar

from sqlalchemy import Connection

from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.logs import event_log

log = event_log(__name__)

current: "ContextVar[Together | None]" = ContextVar("langmem_together", default=None)


class Together:
    """The transaction of one block in one thread, see Database.together; `open` opens it."""

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
        """False in a thread that has the block's context, and cannot share its connection."""
        return self._database is database and self._thread == threading.get_ident()

    def begun(self) -> Connection:
        """Begins it, unless it has. What its beginning raised, it raises from then on."""
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
        """Raises what makes it fail as a whole, though the block went on. One that never began has written nothing."""
        if self.connection is not None and self.failed is not None:
            raise self.failed
        if self._first and self.failed is None:
            try:
                self.begun()
            except StoreUnavailable:  # of what was done nothing needed the database
                log.warning("together.not_written", exc_info=True)
                self.connection = None

    def lost(self) -> None:
        """The connection is gone, and with it what was written."""
        self.failed = StoreUnavailable("the connection was lost in the middle of what belongs together: try again")


def is_shared(connection: Connection) -> bool:
    """Tells whether its transaction has other parts: it may be given up, and others do not see it yet."""
    together = current.get()
    return together is not None and together.connection is connection
