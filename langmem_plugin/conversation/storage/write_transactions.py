"""The transaction in which a run writes: it opens the run's session, stores, and then lets this process remember it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from langchain_core.runnables import RunnableConfig

from langmem_plugin import process_forks
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_store import SessionStore
from langmem_plugin.conversation.storage.checkpoint_store import CheckpointStore
from langmem_plugin.conversation.storage.session_checkpoints import SessionCheckpoints
from langmem_plugin.database import Database


class WriteTransactions:
    """One writer per thread at a time, so that what it added is in the caches before the next one looks."""

    def __init__(
        self, database: Database, sessions: SessionStore, checkpoints: CheckpointStore, now: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._checkpoints = checkpoints
        self._now = now
        self._writing = [process_forks.Lock() for _ in range(64)]

    @contextmanager
    def open(self, config: RunnableConfig, *, durable: bool = True) -> Iterator[SessionCheckpoints]:
        """What the block writes is on disk when it ends, or none of it. Raises as `open_to_write`."""
        now = self._now()
        opened: SessionCheckpoints | None = None
        with self._writing[hash(self._sessions.thread_of(config)) % len(self._writing)]:
            try:
                with self._database.write(durable=durable) as connection:
                    session = self._sessions.open_to_write(connection, config, now)
                    opened = self._checkpoints.of(connection, session, now)
                    yield opened
                    active_at = now if self._sessions.count_as_activity(connection, session, config, now) else None
                    session_rows.advance(connection, session, next_row=opened.lease.next_row, active_at=active_at)
            except BaseException:
                if opened is not None:
                    # It may be on disk although an error came back: what was reserved must not be given again.
                    opened.lease.forget()
                raise
            opened.messages.publish()
            self._sessions.wrote(config, session)
