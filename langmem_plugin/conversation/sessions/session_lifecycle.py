"""Finds the session that a call belongs to; begins, hands over, touches and ends sessions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache, partial

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import get_checkpoint_id
from langgraph.checkpoint.serde.types import INTERRUPT
from sqlalchemy import Connection, select

from langmem_plugin.conversation import config_keys
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Client, Session
from langmem_plugin.conversation.sessions.session_timeout import INTERRUPT_TERM, SESSION_TERM, NotedTerms, Silence
from langmem_plugin.conversation.storage.checkpoint_rows import CheckpointStore, FirstState
from langmem_plugin.conversation.turns.turn_queue import Opened, holds
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import session as session_table
from langmem_plugin.database.owners_and_erasures import newest_erasure, refuse_erased
from langmem_plugin.errors import InvalidInput, SessionExpired, TurnLost
from langmem_plugin.identifiers import IdentifierKey, thread_key
from langmem_plugin.logs import event_log
from langmem_plugin.lru_cache import LruCache

log = event_log(__name__)

_MOST_RUNS, _MOST_THREADS = 4_096, 10_000
_EXPIRED_AT_ONCE = 50
_EXPIRED = "this conversation has ended and its question with it: send a new message"


@dataclass(frozen=True, slots=True)
class _Run:
    """A run, found by its control object: the only thing that reaches every call of it.

    A session of None means that it begins a new one at its first write, unless its person was erased after the erasures
    it had seen; a run that `expired` writes nothing.
    """

    control: object  # kept because ids are used again, and it allows no weak reference
    thread: str
    session_id: str | None
    erasures_seen: int | None = None
    expired: bool = False


class SessionStore:
    """The sessions of all conversations of one database."""

    def __init__(
        self,
        database: Database,
        *,
        silence: Silence,
        region: str | None,
        now: Callable[[], datetime],
        contents: CheckpointStore,
    ) -> None:
        self._database = database
        self.silence = silence
        self.terms = NotedTerms({SESSION_TERM: silence.timeout, INTERRUPT_TERM: silence.while_interrupted})
        self.region = region
        self._thread = lru_cache(_MOST_THREADS)(partial(thread_key, region=region))  # called at every step of every run
        self.now = now
        self._contents = contents
        self._runs: LruCache[int, _Run] = LruCache(_MOST_RUNS)

    # Finding the conversation and the session

    def thread(self, thread_id: str) -> str:
        """The key of the conversation, for a phone in any form."""
        return thread_id if isinstance(thread_id, IdentifierKey) else self._thread(thread_id)

    def thread_of(self, config: RunnableConfig) -> str:
        try:
            return self.thread(str(config["configurable"]["thread_id"]))
        except KeyError as error:
            raise InvalidInput(
                'the config names no conversation: pass {"configurable": {"thread_id": phone}}'
            ) from error

    def threads(self) -> Sequence[str]:
        """The threads of all conversations."""
        with self._database.read() as connection:
            return connection.execute(select(session_table.c.thread).distinct()).scalars().all()

    def find(self, connection: Connection, config: RunnableConfig, *, lock: bool = False) -> Session | None:
        """The session the config belongs to; None if the thread has none or the run begins a new one.

        Raises SessionExpired for a run that has expired.
        """
        thread, session_id, run = self.thread_of(config), config_keys.session_id_of(config), self._run(config)
        if run is not None and run.expired:
            raise SessionExpired(_EXPIRED)
        # The first write of a run looks like its first read, whose decision holds.
        if session_id is None and run is not None:
            session_id = run.session_id
            if session_id is None:
                return None
        if session_id is not None:
            return session_rows.by_id(connection, thread, session_id, lock=lock)
        checkpoint_id = get_checkpoint_id(config)
        found = session_rows.newest(connection, thread, lock=lock)
        if checkpoint_id and found:
            named = config_keys.namespace_of(config), checkpoint_id
            found = session_rows.with_checkpoint(connection, thread, *named, lock=lock) or found
            self._remember(config, found.session_id)  # a replay stays in its session, even if that has ended
        return found

    def session_of(self, config: RunnableConfig) -> str | None:
        """The id of the session that holds the config's checkpoint; without one, of the thread's newest session."""
        with self._database.read() as connection:
            found = self.find(connection, config)
        return found.session_id if found else None

    def stores(self, config: RunnableConfig) -> bool:
        """Tell whether this checkpointer stores the config's run: it then has read the run's first state."""
        return self._run(config) is not None

    def _run(self, config: RunnableConfig) -> _Run | None:
        """The config's run, if it is remembered in this conversation."""
        run = self._runs.get(id(config_keys.control_of(config)))
        return run if run is not None and run.thread == self.thread_of(config) else None

    def _remember(self, config: RunnableConfig, session_id: str | None, erasures_seen: int | None = None) -> None:
        control = config_keys.control_of(config)
        if control is not None:
            self._runs.put(id(control), _Run(control, self.thread_of(config), session_id, erasures_seen), 1)

    # Reads and writes of a run

    def is_over(self, connection: Connection, found: Session | None, config: RunnableConfig) -> bool:
        """Tell whether the config's run begins and needs a new session, and remember it for the rest of the run."""
        if not config_keys.starts_run(config) or self._run(config) is not None:
            return False
        over = found is None or session_rows.has_ended(connection, found, self.now(), self.silence)
        goes_on = None if over or found is None else found.session_id
        seen = newest_erasure(connection) if over else None
        self._remember(config, goes_on, seen)
        return over

    def archive(self, config: RunnableConfig, over: Session) -> None:
        """Archive the session: the first write of the config's run begins the next one."""
        run = self._run(config)
        seen = run.erasures_seen if run else None
        with self._database.write() as connection:
            if seen is None:  # it was not over, and cannot be read
                seen = newest_erasure(connection)
            session_rows.end(connection, over.thread, self.now(), number=over.number, why="session.expired")
        self._remember(config, None, seen)

    def open_to_write(self, connection: Connection, config: RunnableConfig, now: datetime) -> Session:
        """The config's session, a new one if its run needs that. Raises TurnLost, SessionExpired, ErasedMeanwhile."""
        config["configurable"].get(config_keys.FIRST_STATE, []).clear()  # the state may change from here on
        found = self.find(connection, config, lock=True)
        _refuse_outrun(connection, found, config)
        opened = found or session_rows.begin(connection, self.thread_of(config), now)
        if found is None and (run := self._run(config)) is not None and run.erasures_seen is not None:
            refuse_erased(connection, opened.thread, run.erasures_seen)
        self.terms.note(connection, now)
        return opened

    def wrote(self, config: RunnableConfig, written: Session) -> None:
        """Keep the config's run in this session from now on."""
        self._remember(config, written.session_id)

    def count_as_activity(self, connection: Connection, found: Session, config: RunnableConfig, now: datetime) -> bool:
        """Tell whether a write with this config keeps the session alive: only a run's write does.

        `update_state` does not, but it reopens a session that had fallen silent: the next run must see what it wrote. A
        session that was ended on purpose, or that the config names by its id, is not opened again.
        """
        if config_keys.control_of(config) is not None:
            return True
        if config_keys.session_id_of(config) is not None or not self._fell_silent(connection, found, now):
            return False
        latest = session_rows.newest(connection, found.thread)
        if latest is None or latest.number != found.number:
            return False
        if found.ended_at is not None:
            session_rows.restore(connection, found, now)
        return True

    def refuse_late_answer(self, config: RunnableConfig) -> None:
        """Raise SessionExpired for a run that answers a question of a session that is over.

        All other writes of the run are refused too. A thread without any session has not expired.
        """
        control = config_keys.control_of(config)
        if control is None:
            return
        with self._database.read() as connection:
            found = self.find(connection, config)
            expired = (found is None or not self._contents.has_run(connection, found)) and any(
                each.ended_at is not None for each in session_rows.all_of(connection, self.thread_of(config))
            )
        if expired:
            self._runs.put(id(control), _Run(control, self.thread_of(config), None, expired=True), 1)
            raise SessionExpired(_EXPIRED)

    @contextmanager
    def fenced(self, config: RunnableConfig) -> Iterator[None]:
        """Check in each transaction of the block, on any table, that the config's turn was not overtaken."""
        if config_keys.ticket_of(config) is None:
            yield
            return

        def check(connection: Connection) -> None:
            _refuse_outrun(connection, self.find(connection, config, lock=True), config)

        with self._database.provided(check):
            yield

    # Turns

    def open(self, connection: Connection, thread: str, ticket: int) -> Opened:
        """The session of a turn that begins, named in its config; the thread's former holder is shut out."""
        before = session_rows.newest(connection, thread, lock=True)
        opened, first = self._opened(connection, thread, before)
        session_rows.take(connection, before or opened, ticket)
        return Opened(
            {
                "configurable": {
                    "thread_id": thread,
                    config_keys.SESSION: opened.session_id,
                    config_keys.TURN: ticket,
                    config_keys.FIRST_STATE: first,
                },
                "metadata": config_keys.traced_as(opened.session_id),
            },
            any(channel == INTERRUPT for found in first if found for _, channel, _ in found.pending_writes or ()),
        )

    # Beginning, ending, touching

    def current(self, thread_id: str) -> Session:
        """The session a message would go to now; a new one if there is none or the last one fell silent."""
        thread = self.thread(thread_id)
        with self._database.read() as connection:  # one that goes on waits for no writer
            seen = session_rows.newest(connection, thread)
            goes_on = seen is not None and not session_rows.has_ended(connection, seen, self.now(), self.silence)
            if seen is not None and goes_on and self._contents.first_state(connection, seen):
                return seen
        with self._database.write() as connection:
            return self._opened(connection, thread, session_rows.newest(connection, thread, lock=True))[0]

    def end(self, thread_id: str) -> None:
        """Archive the thread's current session, if it has one; the next message begins a new one."""
        with self._database.write() as connection:
            session_rows.end(connection, self.thread(thread_id), self.now())

    def silent_ended(self, silence: Silence | None = None) -> Iterator[int]:
        """Archive silent sessions a few at a time; yield their number after each transaction.

        `silence` replaces the store's own.
        """
        now, after = self.now(), None
        silence = silence or self.silence
        with self._database.write() as connection:
            session_rows.none_ahead(connection, now)
        while True:
            with self._database.read() as connection:
                silent, after = session_rows.idle(connection, now, silence, _EXPIRED_AT_ONCE, after)
            ended = 0
            if silent:
                with self._database.write() as connection:
                    for seen in silent:
                        ended += _end_if_still_silent(connection, seen, now, silence)
            yield ended
            if after is None:
                return

    def restore(self, session_id: str) -> None:
        """Make an archived session the current one again; the present one is archived. Raises UnknownSession."""
        with self._database.write() as connection:
            session_rows.restore(connection, session_rows.anywhere(connection, session_id), self.now())

    def touch(self, config: RunnableConfig, client: Client | None = None) -> None:
        """Count as activity of the session, and note its client. Raises TurnLost."""
        with self._database.write() as connection:
            found = self.find(connection, config, lock=True)
            _refuse_outrun(connection, found, config)
            if found is not None:
                session_rows.advance(connection, found, next_row=found.next_row, active_at=self.now())
                if client is not None:
                    session_rows.set_client(connection, found, client)

    def _opened(self, connection: Connection, thread: str, found: Session | None) -> tuple[Session, FirstState]:
        """The newest session `found`, with the state a run starts from, or a new session."""
        now, opened = self.now(), found
        goes_on = found is not None and not session_rows.has_ended(connection, found, now, self.silence)
        first = self._contents.first_state(connection, found) if found is not None and goes_on else []
        if opened is None or not first:
            opened = session_rows.begin(connection, thread, now, over=found)
        self.terms.note(connection, now)
        return opened, first

    def _fell_silent(self, connection: Connection, found: Session, now: datetime) -> bool:
        """Tell whether silence ended the session, or ends it now."""
        at = found.ended_at or now
        return session_rows.has_ended(connection, replace(found, ended_at=None), at, self.silence)


def _end_if_still_silent(connection: Connection, seen: Session, now: datetime, silence: Silence) -> bool:
    """End a session if nobody has written in it since it was seen; return whether it was ended."""
    found = session_rows.newest(connection, seen.thread, lock=True)
    return (
        found is not None
        and found.ended_at is None
        and found.number == seen.number
        and session_rows.has_ended(connection, found, now, silence)
        and session_rows.end(connection, found.thread, now, number=found.number, why="session.expired")
    )


def _refuse_outrun(connection: Connection, found: Session | None, config: RunnableConfig) -> None:
    """Raise TurnLost once another turn has begun; called in each transaction that writes for a turn's run."""
    ticket = config_keys.ticket_of(config)
    if ticket is None or found is None:
        return
    # A turn binds the newest session and later ones: for one that had ended before, the ticket decides.
    outrun = found.ended_at is not None and not holds(connection, found.thread, ticket)
    if outrun or found.epoch > ticket:
        raise TurnLost("another turn of this conversation began while this one stood still: run it again")
