"""Opens the checkpoints of a session inside a transaction, with what this process remembers of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import NamedTuple

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import INTERRUPT
from sqlalchemy import Connection

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage.message_cache import MessageCache, RowAllocator, RowLease
from langmem_plugin.conversation.storage.session_checkpoints import SessionCheckpoints
from langmem_plugin.conversation.storage.session_messages import (
    CountTokens,
    DamageReports,
    SessionMessages,
)
from langmem_plugin.database import Database
from langmem_plugin.errors import DamagedSession
from langmem_plugin.logs import event_log

log = event_log(__name__)

_CACHE_BYTES = 64_000_000


class FirstState(NamedTuple):
    """The checkpoint that a run starts from; None in a session without any."""

    found: CheckpointTuple | None

    @property
    def waits(self) -> bool:
        """Tell whether it waits with a question."""
        writes = (self.found.pending_writes if self.found else None) or ()
        return any(channel == INTERRUPT for _, channel, _ in writes)


class CheckpointStore:
    """The checkpoints and messages of all sessions of one database; `serde` returns the current serializer."""

    def __init__(
        self,
        database: Database,
        *,
        serde: Callable[[], SerializerProtocol],
        media: Media,
        count_tokens: CountTokens,
    ) -> None:
        self._serde = serde
        self._database = database
        self._media = media
        self.count_tokens = count_tokens
        self._messages = MessageCache(_CACHE_BYTES)
        self._allocator = RowAllocator()
        self.reports = DamageReports()

    def of(
        self, connection: Connection, session: Session, now: datetime | None = None, *, fresh: bool = False
    ) -> SessionCheckpoints:
        """The checkpoints of a session, to read from, and with `now` to write to.

        Damaged parts are reported, and marked or left out. `fresh` reads every byte from the database, whatever is
        cached, and raises DamagedSession instead.
        """
        allocator = RowAllocator() if fresh else self._allocator
        lease = RowLease(allocator, (session.thread, session.number), session.next_row)
        serde = self._serde()
        messages = SessionMessages(
            connection,
            session,
            serde,
            MessageCache(_CACHE_BYTES) if fresh else self._messages,
            lease,
            self._media,
            now=now,
            count_tokens=self.count_tokens,
            on_damage=None if fresh else partial(self.reports.note, session.session_id),
        )
        return SessionCheckpoints(connection, session, serde, lease, messages)

    @contextmanager
    def reading(self, session_id: str, *, fresh: bool = False) -> Iterator[SessionCheckpoints]:
        """The checkpoints of a session of any thread, by its id: for operators and records. Raises UnknownSession."""
        with self._database.read() as connection:
            yield self.of(connection, session_rows.anywhere(connection, session_id), fresh=fresh)

    def first_state(self, connection: Connection, session: Session) -> FirstState | None:
        """The state that a run begins with now; None if the session is damaged.

        A damaged session must not keep its person from being answered.
        """
        try:
            return FirstState(self.of(connection, session).read("", None))
        except DamagedSession as error:
            self.reports.report(session.session_id, "what a run begins with", error)
            return None

    def has_run(self, connection: Connection, session: Session) -> bool:
        """Tell whether any run has written in the session."""
        return self.of(connection, session).load("", None) is not None
