"""Keeps sessions: opens the right one for each call, in one transaction, with what is cached of it."""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Self, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, run_in_executor
from langgraph.checkpoint.base import BaseCheckpointSaver, get_checkpoint_id
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, select

from langmem_plugin import forks
from langmem_plugin.conversation.media.media_store import Media, MediaReference, files_of
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.run_sessions import Runs, control_of
from langmem_plugin.conversation.sessions.session_rows import HALF_AN_HOUR, Client, Session, Silence
from langmem_plugin.conversation.storage.checkpoint_store import DecodedCache, History
from langmem_plugin.conversation.storage.codec import StrictSerializer
from langmem_plugin.conversation.storage.message_cache import VersionCache
from langmem_plugin.conversation.storage.message_store import CountTokens, Rows
from langmem_plugin.conversation.storage.row_allocator import Standings
from langmem_plugin.conversation.storage.shared_writes import SharedWrites
from langmem_plugin.conversation.turns.turns import TURN_KEY, Opened, Turn, Turns, holds
from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.conversation_tables import media as media_table
from langmem_plugin.database.conversation_tables import session as session_table
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.errors import DamagedSession, InvalidInput, TurnLost
from langmem_plugin.phones import thread_key
from langmem_plugin.settings import Settings

log = logging.getLogger(__name__)

_CACHE_BYTES = 64_000_000
_EXPIRED_AT_ONCE = 50


def quarter_of_length(message: BaseMessage) -> int:
    """The estimate used by default: a token is about four characters, and nothing is downloaded to know it."""
    return len(message.text) // 4


class SessionKeeper(BaseCheckpointSaver[str]):
    """The part of ConversationSaver that knows sessions, and what both parts share."""

    def __init__(
        self,
        database: Database | str,
        *,
        serde: SerializerProtocol | None = None,
        silence: Silence = HALF_AN_HOUR,
        region: str | None = None,
        count_tokens: CountTokens = quarter_of_length,
        media: Media | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        turn_timeout: timedelta = timedelta(minutes=2),
        executor: Executor | None = None,
    ) -> None:
        super().__init__(serde=serde or StrictSerializer())
        self.database = Database(database) if isinstance(database, str) else database
        self._owns_database = isinstance(database, str)
        Prepared.compile_all(self.database.engine.dialect)
        self.silence = silence
        self.region = region
        self.count_tokens = count_tokens
        self.media = media or Media.beside(self.database)
        self.now = now
        self._own_executor = None if executor else forks.Threads("langmem-saver")
        self._executor: Executor = executor or cast("Executor", self._own_executor)
        self._turns = Turns(self.database, self, turn_timeout, self._executor)
        self._shared = SharedWrites(self._write)
        self._runs = Runs()
        self._versions, self._decoded, self._standings = VersionCache(_CACHE_BYTES), DecodedCache(), Standings()
        # One writer per thread at a time, so that what it added is in the cache before the next one looks.
        self._writing = [forks.Lock() for _ in range(64)]

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        database: Database | str | None = None,
        *,
        serde: SerializerProtocol | None = None,
        count_tokens: CountTokens = quarter_of_length,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        executor: Executor | None = None,
    ) -> Self:
        """As the settings say, on their database unless another is given."""
        given = database if isinstance(database, Database) else None
        made = cls(
            given or Database.from_settings(settings, cast("str | None", database)),
            serde=serde or StrictSerializer(settings.allowed_types),
            silence=Silence(settings.session_timeout, settings.interrupt_timeout),
            region=settings.default_region,
            count_tokens=count_tokens,
            now=now,
            turn_timeout=settings.turn_timeout,
            executor=executor,
        )
        made._owns_database = given is None
        made.media = Media.by_setting(settings.media, made.database)
        return made

    def close(self) -> None:
        """Closes what this object opened: its threads, and the database if it was given a URL."""
        self._turns.close()
        if self._own_executor:
            self._own_executor.shutdown()
        if self._owns_database:
            self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await run_in_executor(None, self.close)

    # Turns and sessions

    def turn(self, thread_id: str) -> Turn:
        """`with` or `async with`: one turn of this thread at a time, its session pinned in the config it gives.

        Raises TurnTimeout if the turns before it do not end within `turn_timeout`.
        """
        return self._turns.turn(thread_key(thread_id, self.region))

    def current_session(self, thread_id: str) -> Session:
        """The session a message would go to now; a fresh one if there is none or the last one fell silent."""
        thread = thread_key(thread_id, self.region)
        seen = self.look(thread)
        if seen is not None:
            return seen
        with self.database.write() as connection:
            return self._opened(connection, thread, session_rows.newest(connection, thread, lock=True), None)

    def look(self, thread: str) -> Session | None:
        """The thread's session, if it goes on and can be read; what a turn's run needs of it is then decoded."""
        with self.database.read() as connection:
            found = session_rows.newest(connection, thread)
            goes_on = found is not None and not session_rows.has_ended(connection, found, self.now(), self.silence)
            return found if goes_on and found and self._is_readable(connection, found) else None

    def open(self, connection: Connection, thread: str, ticket: int, seen: Session | None) -> Opened:
        """The session of a turn that begins, pinned in its config; whoever held the thread before is shut out."""
        before = session_rows.newest(connection, thread, lock=True)
        session = self._opened(connection, thread, before, seen)
        session_rows.take(connection, before or session, ticket)
        return Opened(
            {"configurable": {"thread_id": thread, "session_id": session.session_id, TURN_KEY: ticket}},
            session_rows.is_interrupted(connection, session),
        )

    def write_along(self, config: RunnableConfig, work: Callable[[Connection], None]) -> None:
        """In a turn, has the run's next write take this along in its transaction; elsewhere it is written here."""
        if self._turns.runs_here(config):
            self._shared.leave(config, lambda history: work(history.connection))
        else:
            with self.database.write(durable=False) as connection:
                work(connection)

    @contextmanager
    def fenced(self, config: RunnableConfig) -> Iterator[None]:
        """What the config's run writes in the block, to any table, is refused as the saver's own writes would be."""
        if TURN_KEY not in (config.get("configurable") or {}):
            yield
            return
        thread = self._thread(config)

        def check(connection: Connection) -> None:
            self._refuse_outrun(connection, self._session(connection, thread, config, lock=True), config)

        with self.database.provided(check):
            yield

    def settle(self, config: RunnableConfig) -> None:
        """Writes what the turn's runs left to be written with their next step."""
        self._shared.settle(config)

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

    def end_session(self, thread_id: str) -> None:
        """Archives the thread's current session, if it has one; the next message starts afresh."""
        with self.database.write() as connection:
            session_rows.end(connection, thread_key(thread_id, self.region), self.now())

    def session_of(self, config: RunnableConfig) -> str | None:
        """The id of the session that holds the config's checkpoint, without one of the thread's newest session."""
        with self.database.read() as connection:
            session = self._session(connection, self._thread(config), config)
        return session.session_id if session else None

    def touch(self, config: RunnableConfig, client: Client | None = None) -> None:
        """Counts as activity of the session, and says who its client is."""
        with self.database.write() as connection:
            session = self._session(connection, self._thread(config), config, lock=True)
            self._refuse_outrun(connection, session, config)
            if session is not None:
                session_rows.advance(connection, session, next_row=session.next_row, active_at=self.now())
                if client is not None:
                    session_rows.set_client(connection, session, client)

    @contextmanager
    def reading(self, session_id: str, *, fresh: bool = False) -> Iterator[tuple[History, Session]]:
        """The history of a session by its id alone, for operators and records. Raises UnknownSession.

        `fresh` reads every byte from the database, whatever is cached.
        """
        with self.database.read() as connection:
            session = session_rows.anywhere(connection, session_id)
            yield self._history(connection, session, fresh=fresh), session

    def expire(self, archive_days: int | None) -> tuple[int, int]:
        """Archives the sessions that fell silent and purges what was archived so many days ago; how many of each.

        None keeps the archive for ever.
        """
        now, ended, purged = self.now(), 0, 0
        with self.database.write() as connection:
            session_rows.none_ahead(connection, now)
        while True:
            with self.database.write() as connection:
                silent = session_rows.idle(connection, now, self.silence, _EXPIRED_AT_ONCE)
                for session in silent:
                    session_rows.end(connection, session.thread, now, number=session.number)
            ended += len(silent)
            if not silent:
                break
        if archive_days is not None:
            with self.database.write(patience=BULK_WORK) as connection:
                purged = session_rows.purge(connection, now - timedelta(days=archive_days))
            self.sweep_media()
        return ended, purged

    def keep_media(self, config: RunnableConfig, value: Any) -> Any:
        """The value with references in place of its inline data, whose files belong to the config's session."""
        with self._write(config) as history:
            reduced = history.rows.reduced(value)
            history.rows.flush()
        return reduced

    def load_media(self, thread_id: str, reference: MediaReference) -> bytes | None:
        """What a reference stands for, if a message of this very thread brought it; else None.

        A message may hold any reference that somebody typed: what the database knows decides.
        """
        with self.database.read() as connection:
            if reference.sha256 not in files_of(connection, thread_key(thread_id, self.region)):
                return None
        return self.media.load(reference)

    def sweep_media(self) -> int:
        """Deletes the files that no session refers to any more, an hour after they were stored; how many."""
        with self.database.read() as connection:
            referenced = set(connection.execute(select(media_table.c.sha256).distinct()).scalars())
        return self.media.delete_unreferenced(referenced)

    # Which session, which rows

    def _thread(self, config: RunnableConfig) -> str:
        try:
            return thread_key(str(config["configurable"]["thread_id"]), self.region)
        except KeyError as error:
            raise InvalidInput(
                'the config names no conversation: pass {"configurable": {"thread_id": phone}}'
            ) from error

    def _session(
        self, connection: Connection, thread: str, config: RunnableConfig, *, lock: bool = False
    ) -> Session | None:
        """The session the config belongs to; None if the thread has none or the run begins a fresh one."""
        configurable = config["configurable"]
        control = control_of(config)
        session_id = configurable.get("session_id")
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

    def _over(self, connection: Connection, session: Session | None, control: object, thread: str) -> bool:
        """Whether the run that begins needs a fresh session; remembers the answer for the rest of the run."""
        fresh = session is None or session_rows.has_ended(connection, session, self.now(), self.silence)
        self._runs.remember(control, thread, None if fresh or session is None else session.session_id)
        return fresh

    @contextmanager
    def _write(self, config: RunnableConfig, *, durable: bool = True) -> Iterator[History]:
        thread, control, now = self._thread(config), control_of(config), self.now()
        history: History | None = None
        with self._writing[hash(thread) % len(self._writing)]:
            try:
                with self.database.write(durable=durable) as connection:
                    session = self._session(connection, thread, config, lock=True)
                    self._refuse_outrun(connection, session, config)
                    session = session or session_rows.begin(connection, thread, now)
                    history = self._history(connection, session, now)
                    yield history
                    # Only a run is activity: `update_state` and restoring from outside are not.
                    active_at = now if control is not None else None
                    session_rows.advance(connection, session, next_row=history.rows.next_row, active_at=active_at)
            except BaseException:
                if history is not None:
                    # It may be on disk although an error came back: what was reserved must not be given again.
                    history.rows.forget()
                raise
            history.rows.publish()
            if control is not None:
                self._runs.remember(control, thread, session.session_id)

    def _refuse_outrun(self, connection: Connection, session: Session | None, config: RunnableConfig) -> None:
        """Nothing of a turn's run is written once another turn has begun; asked in the transaction that writes."""
        ticket = config["configurable"].get(TURN_KEY)
        if ticket is None or session is None:
            return
        # A turn binds the sessions from the newest on: one that had ended before it is looked up by the ticket.
        outrun = session.ended_at is not None and not holds(connection, session.thread, ticket)
        if outrun or session.epoch > ticket:
            raise TurnLost("another turn of this conversation began while this one stood still: run it again")

    def _history(
        self, connection: Connection, session: Session, now: datetime | None = None, *, fresh: bool = False
    ) -> History:
        """A history to read from, and with `now` to write to."""
        rows = Rows(
            connection,
            session.thread,
            session.number,
            self.serde,
            VersionCache(_CACHE_BYTES) if fresh else self._versions,
            Standings() if fresh else self._standings,
            self.media,
            next_row=session.next_row,
            now=now,
            count_tokens=self.count_tokens,
        )
        return History(connection, session, self.serde, rows, self._decoded)

    def _is_readable(self, connection: Connection, session: Session) -> bool:
        """Whether a run can start from it; reading it here costs nothing more, the run finds it decoded."""
        try:
            self._history(connection, session).check()
        except DamagedSession:
            log.exception("session.damaged", extra={"session_id": session.session_id})
            return False
        return True

    def _threads(self) -> Sequence[str]:
        with self.database.read() as connection:
            return connection.execute(select(session_table.c.thread).distinct()).scalars().all()


def namespace_of(config: RunnableConfig) -> str:
    """The subgraph a config belongs to; "" is the root graph."""
    return str(config["configurable"].get("checkpoint_ns", ""))
