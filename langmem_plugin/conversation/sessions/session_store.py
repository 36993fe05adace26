"""Which session of a conversation a call belongs to; when one begins, changes hands, is touched and ends."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id
from sqlalchemy import Connection, select

from langmem_plugin.conversation.config_keys import (
    SESSION,
    TURN,
    control_of,
    namespace_of,
    session_id_of,
    starts_run,
    ticket_of,
)
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.run_sessions import RunSessions
from langmem_plugin.conversation.sessions.session_rows import Client, Session
from langmem_plugin.conversation.sessions.silence import Silence
from langmem_plugin.conversation.turns.turns import Opened, holds
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import session as session_table
from langmem_plugin.errors import InvalidInput, TurnLost
from langmem_plugin.phones import thread_key

log = logging.getLogger(__name__)

_EXPIRED_AT_ONCE = 50


class SessionStore:
    """The sessions of all conversations of one database.

    `is_readable` says whether a run can start from a session: one that is damaged must not silence its person.
    """

    def __init__(
        self,
        database: Database,
        *,
        silence: Silence,
        region: str | None,
        now: Callable[[], datetime],
        is_readable: Callable[[Connection, Session], bool],
    ) -> None:
        self._database = database
        self.silence = silence
        self.region = region
        self.now = now
        self._is_readable = is_readable
        self._runs = RunSessions()

    # Which conversation, which session

    def thread(self, thread_id: str) -> str:
        """The key of the conversation, whatever form of a phone names it."""
        return thread_key(thread_id, self.region)

    def thread_of(self, config: RunnableConfig) -> str:
        try:
            return self.thread(str(config["configurable"]["thread_id"]))
        except KeyError as error:
            raise InvalidInput(
                'the config names no conversation: pass {"configurable": {"thread_id": phone}}'
            ) from error

    def threads(self) -> Sequence[str]:
        """Of all conversations."""
        with self._database.read() as connection:
            return connection.execute(select(session_table.c.thread).distinct()).scalars().all()

    def find(self, connection: Connection, config: RunnableConfig, *, lock: bool = False) -> Session | None:
        """The session the config belongs to; None if the thread has none or the run begins a fresh one."""
        thread, control = self.thread_of(config), control_of(config)
        session_id = session_id_of(config)
        # The first write of a run looks like the read it began with; what that read decided holds.
        if session_id is None and self._runs.knows(control, thread):
            session_id = self._runs.session_of(control)
            if session_id is None:
                return None
        if session_id is not None:
            return session_rows.by_id(connection, thread, session_id, lock=lock)
        checkpoint_id = get_checkpoint_id(config)
        found = session_rows.newest(connection, thread, lock=lock)
        if checkpoint_id and found:
            found = (
                session_rows.with_checkpoint(connection, thread, namespace_of(config), checkpoint_id, lock=lock)
                or found
            )
            if control is not None:  # a replay goes on where it begins, also in a session that has ended
                self._runs.remember(control, thread, found.session_id)
        return found

    def session_of(self, config: RunnableConfig) -> str | None:
        """The id of the session that holds the config's checkpoint, without one of the thread's newest session."""
        with self._database.read() as connection:
            found = self.find(connection, config)
        return found.session_id if found else None

    # What a run reads and writes

    def is_over(self, connection: Connection, found: Session | None, config: RunnableConfig) -> bool:
        """Whether the config is that of a run that begins and needs a fresh session; the rest of the run knows it."""
        thread, control = self.thread_of(config), control_of(config)
        if not starts_run(config) or self._runs.knows(control, thread):
            return False
        over = found is None or session_rows.has_ended(connection, found, self.now(), self.silence)
        self._runs.remember(control, thread, None if over or found is None else found.session_id)
        return over

    def begin_anew(self, config: RunnableConfig, over: Session) -> None:
        """Archives the session; the first write of the config's run opens another."""
        self._runs.remember(control_of(config), over.thread, None)
        with self._database.write() as connection:
            session_rows.end(connection, over.thread, self.now(), number=over.number)

    def open_to_write(self, connection: Connection, config: RunnableConfig, now: datetime) -> Session:
        """The config's session, a fresh one if its run needs that. Raises TurnLost."""
        found = self.find(connection, config, lock=True)
        _refuse_outrun(connection, found, config)
        return found or session_rows.begin(connection, self.thread_of(config), now)

    def wrote(self, config: RunnableConfig, written: Session) -> None:
        """From now on the config's run stays in this session."""
        control = control_of(config)
        if control is not None:
            self._runs.remember(control, written.thread, written.session_id)

    @contextmanager
    def fenced(self, config: RunnableConfig) -> Iterator[None]:
        """What the config's run writes in the block, to any table, is refused as the checkpointer's writes would be."""
        if ticket_of(config) is None:
            yield
            return

        def check(connection: Connection) -> None:
            _refuse_outrun(connection, self.find(connection, config, lock=True), config)

        with self._database.provided(check):
            yield

    # Turns

    def look(self, thread: str) -> Session | None:
        """The thread's session, if it goes on and can be read; what a turn's run needs of it is then decoded."""
        with self._database.read() as connection:
            found = session_rows.newest(connection, thread)
            goes_on = found is not None and not session_rows.has_ended(connection, found, self.now(), self.silence)
            return found if goes_on and found and self._is_readable(connection, found) else None

    def open(self, connection: Connection, thread: str, ticket: int, seen: Session | None) -> Opened:
        """The session of a turn that begins, pinned in its config; whoever held the thread before is shut out."""
        before = session_rows.newest(connection, thread, lock=True)
        opened = self._opened(connection, thread, before, seen)
        session_rows.take(connection, before or opened, ticket)
        return Opened(
            {"configurable": {"thread_id": thread, SESSION: opened.session_id, TURN: ticket}},
            session_rows.is_interrupted(connection, opened),
        )

    # Beginning, ending, touching

    def current(self, thread_id: str) -> Session:
        """The session a message would go to now; a fresh one if there is none or the last one fell silent."""
        thread = self.thread(thread_id)
        seen = self.look(thread)
        if seen is not None:
            return seen
        with self._database.write() as connection:
            return self._opened(connection, thread, session_rows.newest(connection, thread, lock=True), None)

    def end(self, thread_id: str) -> None:
        """Archives the thread's current session, if it has one; the next message starts afresh."""
        with self._database.write() as connection:
            session_rows.end(connection, self.thread(thread_id), self.now())

    def silent_since(self) -> datetime:
        """Who was active last at this instant or before has fallen silent."""
        return self.now() - self.silence.timeout

    def end_silent(self) -> int:
        """Archives the sessions that fell silent; how many."""
        now, ended = self.now(), 0
        with self._database.write() as connection:
            session_rows.none_ahead(connection, now)
        while True:
            with self._database.write() as connection:
                silent = session_rows.idle(connection, now, self.silence, _EXPIRED_AT_ONCE)
                for each in silent:
                    session_rows.end(connection, each.thread, now, number=each.number)
            if not silent:
                return ended
            ended += len(silent)

    def restore(self, session_id: str) -> None:
        """Makes an archived session the current one again; the one that was is archived. Raises UnknownSession."""
        with self._database.write() as connection:
            session_rows.restore(connection, session_rows.anywhere(connection, session_id), self.now())

    def touch(self, config: RunnableConfig, client: Client | None = None) -> None:
        """Counts as activity of the session, and says who its client is."""
        with self._database.write() as connection:
            found = self.find(connection, config, lock=True)
            _refuse_outrun(connection, found, config)
            if found is not None:
                session_rows.advance(connection, found, next_row=found.next_row, active_at=self.now())
                if client is not None:
                    session_rows.set_client(connection, found, client)

    def _opened(self, connection: Connection, thread: str, found: Session | None, seen: Session | None) -> Session:
        """The newest session `found`, or a fresh one. What `look` has `seen` need not be read again."""
        now = self.now()
        if (
            found is not None
            and not session_rows.has_ended(connection, found, now, self.silence)
            and ((seen is not None and seen.number == found.number) or self._is_readable(connection, found))
        ):
            return found
        return session_rows.begin(connection, thread, now, over=found)


def _refuse_outrun(connection: Connection, found: Session | None, config: RunnableConfig) -> None:
    """Nothing of a turn's run is written once another turn has begun; asked in the transaction that writes."""
    ticket = ticket_of(config)
    if ticket is None or found is None:
        return
    # A turn binds the sessions from the newest on: one that had ended before it is looked up by the ticket.
    outrun = found.ended_at is not None and not holds(connection, found.thread, ticket)
    if outrun or found.epoch > ticket:
        raise TurnLost("another turn of this conversation began while this one stood still: run it again")
