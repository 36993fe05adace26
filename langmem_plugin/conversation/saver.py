"""The checkpointer: LangGraph's contract over a store of sessions and a store of checkpoints and messages."""

import asyncio
import functools
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, Self, TypeVar, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, run_in_executor
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    empty_checkpoint,
)
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection

from langmem_plugin import process_forks
from langmem_plugin.conversation.config_keys import is_automated, ticket_of, without_trace
from langmem_plugin.conversation.media.media_reference import MediaReference
from langmem_plugin.conversation.media.media_store import FileEncryption, Media, data_of, files_of
from langmem_plugin.conversation.sessions.session_deletion import SessionDeletion
from langmem_plugin.conversation.sessions.session_lifecycle import SessionStore
from langmem_plugin.conversation.sessions.session_move import copy_sessions, standing_still
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.sessions.session_timeout import ARCHIVED_TERM, DEFAULT_SILENCE, Silence
from langmem_plugin.conversation.storage.checkpoint_put_and_get import Runs
from langmem_plugin.conversation.storage.checkpoint_rows import MESSAGES, CheckpointStore
from langmem_plugin.conversation.storage.serializer import StrictSerializer, classes_of
from langmem_plugin.conversation.turns.turn_queue import Arrival, Open, Opened, Turn, Turns
from langmem_plugin.conversation.window import CountTokens, estimated_tokens
from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.database_from_settings import open_database, refuse_encrypted
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.tenant_locations import media_of
from langmem_plugin.errors import InvalidInput, StoreUnavailable
from langmem_plugin.settings import DATABASE_TIMEOUT, TURN_TIMEOUT, Settings

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

_PAGE = 50


class _Closable(Protocol):
    executor: Executor
    is_closed: bool


_Object = TypeVar("_Object", bound=_Closable)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def while_open(
    method: Callable[Concatenate[_Object, _Given], _Result],
) -> Callable[Concatenate[_Object, _Given], _Result]:
    """Make a method raise StoreUnavailable once its object is closed."""

    @functools.wraps(method)
    def called(self: _Object, /, *arguments: _Given.args, **named: _Given.kwargs) -> _Result:
        if self.is_closed:
            raise StoreUnavailable("the checkpointer is closed: open another")
        return method(self, *arguments, **named)

    return called


def in_executor(
    method: Callable[Concatenate[_Object, _Given], _Result],
) -> Callable[Concatenate[_Object, _Given], Coroutine[Any, Any, _Result]]:
    """Make an async method that runs this one in the executor. Raises StoreUnavailable once that is shut down."""

    @functools.wraps(method)  # LangGraph looks at the signature
    async def forward(self: _Object, /, *arguments: _Given.args, **named: _Given.kwargs) -> _Result:
        return await run_in(self.executor, functools.partial(method, self, *arguments, **named))

    return forward


async def run_in(executor: Executor, function: Callable[[], _Result]) -> _Result:
    """Call the function in a thread that knows the current run, and return its result."""
    loop = asyncio.get_running_loop()
    try:
        called = loop.run_in_executor(executor, functools.partial(copy_context().run, function))
    except RuntimeError as error:
        raise StoreUnavailable("the checkpointer is closed, or its threads are shut down: open another") from error
    return await called


class Done:
    """A finished result: it may be awaited, but need not be."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


def check_arguments(  # noqa: PLR0917 - all are needed
    region: str | None,
    count_tokens: Callable[..., int],
    media: Media | Path | str,
    now: Callable[[], datetime],
    turn_timeout: timedelta,
    executor: Executor | None,
) -> None:
    """Check the arguments of the checkpointer. Raises InvalidInput."""
    if region is not None and not (isinstance(region, str) and re.fullmatch("[A-Z]{2}", region)):
        raise InvalidInput(f'region={region!r}: pass two capital letters such as "IL", or leave it out')
    if not callable(count_tokens):
        raise InvalidInput(f"count_tokens={count_tokens!r}: pass a function of a message that returns a number")
    if not isinstance(media, Media | Path | str):
        raise InvalidInput(f"media={media!r}: pass a folder, 'beside', 'database', 'drop' or a Media")
    if not callable(now) or not isinstance(instant := now(), datetime) or instant.tzinfo is None:
        raise InvalidInput("now must return aware datetimes: pass lambda: datetime.now(UTC)")
    if not isinstance(turn_timeout, timedelta):
        raise InvalidInput(f"turn_timeout={turn_timeout!r}: pass a timedelta")
    if executor is not None and not isinstance(executor, Executor):
        raise InvalidInput(f"executor={executor!r}: pass a concurrent.futures.Executor, or leave it out")


class ConversationSaver(BaseCheckpointSaver[str]):
    """A checkpointer that stores each message once and starts a new session after silence.

    `thread_id` is the conversation's key, normally the phone, in any of its forms. `database` is an open
    Database, a URL (`sqlite:///file.db`, `postgresql://…`) or the path of a SQLite file; the tables are created and
    migrated here, on PostgreSQL in `schema` if one is named. `silence` is a Silence, a timedelta, or None: never.
    Pictures and files in messages go to `media`, as Settings.media says or a Media; messages keep a reference. `now`
    must return aware datetimes. Sync and async methods do the same; async ones run in `executor`. Raises InvalidInput
    for what cannot be used, and, as Database, if it cannot be opened. Once closed, every method raises
    StoreUnavailable. What is encrypted is opened by `from_settings`; a URL or a Database without its keys raises
    ConfigurationError.
    """

    keeps_nothing = False

    def __init__(
        self,
        database: Database | str | Path,
        *,
        schema: str | None = None,
        serde: SerializerProtocol | None = None,
        silence: Silence | timedelta | None = DEFAULT_SILENCE,
        region: str | None = None,
        count_tokens: CountTokens = estimated_tokens,
        media: Media | Path | str = "beside",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        turn_timeout: timedelta = TURN_TIMEOUT,
        database_timeout: timedelta = DATABASE_TIMEOUT,
        executor: Executor | None = None,
    ) -> None:
        super().__init__(serde=serde or StrictSerializer())
        silence = Silence.of(silence)
        check_arguments(region, count_tokens, media, now, turn_timeout, executor)
        self.is_closed = False
        self._allowing = process_forks.Lock()
        if isinstance(database, Database):
            if schema is not None:
                raise InvalidInput("an open database has its schema already: leave out `schema`")
            self.database = database
        else:
            self.database = Database(database, schema=schema, timeout=database_timeout)
        self._owns_database = self.database is not database
        self._refuse_encrypted()
        Prepared.compile_all(self.database.engine.dialect)
        self.media = media if isinstance(media, Media) else Media.by_setting(media, self.database)
        self._own_executor = None if executor else process_forks.Threads("langmem-saver")
        self.executor: Executor = executor or cast("Executor", self._own_executor)
        self.checkpoints = CheckpointStore(
            self.database, serde=lambda: self.serde, media=self.media, count_tokens=count_tokens
        )
        self.sessions = SessionStore(self.database, silence=silence, region=region, now=now, contents=self.checkpoints)
        self.deletion = SessionDeletion(self.database, self.media)
        self._runs = Runs(self.database, self.sessions, self.checkpoints)
        self._turns = Turns(self.database, self.sessions.open, self._runs.settle, turn_timeout, self.executor)

    def _refuse_encrypted(self) -> None:
        try:
            refuse_encrypted(self.database)
        except BaseException:
            if self._owns_database:
                self.database.close()
            raise

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        database: Database | str | Path | None = None,
        *,
        serde: SerializerProtocol | None = None,
        count_tokens: CountTokens = estimated_tokens,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        executor: Executor | None = None,
    ) -> Self:
        """Open a checkpointer as the settings say, on their database unless another is given."""
        opened = database if isinstance(database, Database) else open_database(settings, database)
        try:
            made = cls(
                opened,
                serde=serde or StrictSerializer(settings.allowed_types),
                silence=Silence(settings.session_timeout, settings.interrupt_timeout),
                region=settings.default_region,
                count_tokens=count_tokens,
                media=media_of(settings),
                now=now,
                turn_timeout=settings.turn_timeout,
                executor=executor,
            )
        except BaseException:
            if opened is not database:
                opened.close()
            raise
        made._owns_database = opened is not database
        made.sessions.terms.own[ARCHIVED_TERM] = settings.archived_for
        return made

    @classmethod
    def from_conn_string(cls, conn_string: str | Path, **arguments: Any) -> Self:
        """Open a checkpointer for `with` or `async with`, on a path, `:memory:`, a URL or `host=… dbname=…`.

        The stock savers take the same. `arguments` are the constructor's other ones. The result is open already, and
        works
        without `with` too.
        """
        return cls(conn_string, **arguments)

    def setup(self) -> Awaitable[None]:
        """Do nothing: the tables exist. It may be called, and awaited, as with a stock saver."""
        return Done()

    def close(self) -> None:
        """Close what this object opened: its threads, and the database unless it was given open."""
        self._turns.close()
        self.is_closed = True
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

    # Conversations

    def turn(self, thread_id: str, arrival: Arrival | None = None, conversation: Open | None = None) -> Turn:
        """Begin a turn by `with` or `async with`: one of this thread at a time; its config names its session.

        `arrival` is noted as the turn's ticket is drawn, and taken as the turn begins; `conversation` replaces the
        usual way to open the session. Raises TurnTimeout if the turns before it do not end within `turn_timeout`.
        """
        return self._turns.turn(self.sessions.thread(thread_id), arrival, conversation)

    def stand_still(self, thread: str) -> Turn:
        """Begin a turn in which no session of the thread begins or ends, so as to move them. Raises as `turn` does."""
        return self._turns.turn(thread, conversation=standing_still)

    @while_open
    def current_session(self, thread_id: str) -> Session:
        """The session a message would go to now; a new one if there is none or the last one fell silent."""
        return self.sessions.current(thread_id)

    @while_open
    def end_session(self, thread_id: str) -> None:
        """Archive the thread's current session, if it has one; the next message begins a new one."""
        self.sessions.end(thread_id)

    @while_open
    def session_of(self, config: RunnableConfig) -> str | None:
        """The id of the session that holds the config's checkpoint; without one, of the thread's newest session."""
        return self.sessions.session_of(config)

    @while_open
    def load_media(self, thread_id: str, reference: MediaReference) -> bytes | None:
        """The data that a reference stands for, if a message of this very thread brought it; else None.

        The database decides, since a message may hold any reference that somebody typed.
        """
        thread = self.sessions.thread(thread_id)
        with self.database.read() as connection:
            if reference.sha256 is None or reference.sha256 not in files_of(connection, thread):
                return None
            kept = data_of(connection, thread, reference.sha256)
        encryption = FileEncryption(self.database.encryption, thread)
        return self.media.load(reference, encryption) if kept is None else kept

    # Reading

    @while_open
    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint of the config, or the newest of the thread's session.

        The first read of a run decides which session the run belongs to: None begins a new one. All other reads show
        the
        newest session, ended or not, unless the config names one as `langmem_session`.
        """
        return None if self._leaves_no_trace(config) else self._runs.get(config)

    @while_open
    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the contract's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of the config's thread, or of all threads without a config, the newest first.

        Of each thread its newest session is listed, unless the config names one. `before` may be a checkpoint of any
        namespace;
        a `limit` of 0 or less gives none, as in InMemorySaver.
        """
        if self.keeps_nothing:
            return iter(())
        return islice(self._runs.listed(config, filter, before), None if limit is None else max(limit, 0))

    def get_next_version(self, current: str | float | None, channel: None) -> str:  # noqa: ARG002
        """The next version, as the stock savers form it but with zeros at the end: nothing is found by version here."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{0:016}"

    def checkpoint_with(
        self, messages: Sequence[BaseMessage], found: CheckpointTuple | None = None, at: datetime | None = None
    ) -> tuple[Checkpoint, CheckpointMetadata, ChannelVersions]:
        """A checkpoint that lists these messages, with its metadata and new versions as `put` takes them.

        The rest of the state is that of the checkpoint found before.
        """
        before: Checkpoint = found.checkpoint if found else empty_checkpoint()
        new = {MESSAGES: self.get_next_version(before["channel_versions"].get(MESSAGES), None)}
        made: Checkpoint = {
            **before,
            "id": str(uuid6(clock_seq=-1)),
            "ts": (at or self.sessions.now()).isoformat(),
            "channel_values": {**before["channel_values"], MESSAGES: [*messages]},
            "channel_versions": {**before["channel_versions"], **new},
            "updated_channels": [MESSAGES],
        }
        step = found.metadata.get("step", -2) + 1 if found else -1
        return made, {"source": "update", "step": step, "parents": {}}, dict(new)

    # Writing

    @while_open
    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store the checkpoint, on disk when this returns, unless it is of a step that is noted as repeatable.

        Raises NotSerializable, StorageFull or StoreUnavailable, TurnLost in a turn that another has overtaken, and
        SessionExpired for an answer to a question of a session that is over.
        """
        if self._leaves_no_trace(config):
            return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}
        return self._runs.put(config, checkpoint, metadata, new_versions)

    @while_open
    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote on top of the config's checkpoint. Raises as `put` does.

        It outlives the process at once. A power cut may undo a task's result until the next checkpoint, and the
        task then runs again; what a person is told of (an interrupt, an error) is on disk when this returns.
        """
        if not self._leaves_no_trace(config):
            self._runs.put_writes(config, writes, task_id, task_path)

    def write_along(self, config: RunnableConfig, work: Callable[[Connection, Session | None], None]) -> None:
        """Do this work in the transaction of the run's next write, or now if no write comes.

        `work` is given the run's session, None for a run that this checkpointer does not store. The work may be lost if
        a run
        outside of turns ends in an error.
        """
        if self._turns.runs_here(config) or (ticket_of(config) is None and self.sessions.stores(config)):
            self._runs.leave(config, lambda checkpoints: work(checkpoints.connection, checkpoints.session))
        else:
            with self.database.write(durable=False) as connection:
                work(connection, None)

    def write_now(self, config: RunnableConfig, *works: Callable[[Connection], None] | None) -> None:
        """Do these works in one transaction with what is left of the turn of the config; on disk when this returns.

        Raises TurnLost if another turn has begun.
        """
        self._runs.write(config, lambda checkpoints: [work(checkpoints.connection) for work in works if work])

    def note_repeatable(self, config: RunnableConfig) -> None:
        """Let what the task of this config writes wait for the next write of its turn.

        It is for a task that can be done again, if the process ends before that, without harm. In a turn that a program
        holds nothing waits longer than LangGraph's own steps.
        """
        self._runs.note_repeatable(config)

    def keep_media(self, config: RunnableConfig, blocks: Sequence[Any]) -> Sequence[Any]:
        """Content blocks with references in place of inline data; the files belong to the config's session."""
        with self._runs.open(config) as checkpoints:
            reduced = checkpoints.messages.reduced_content([*blocks])
            checkpoints.messages.flush()
        return reduced

    @while_open
    def delete_thread(self, thread_id: str) -> None:
        """Delete every session of the thread, current and archived."""
        self.deletion.delete_thread(self.sessions.thread(thread_id))

    @while_open
    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints these runs wrote, their writes, and the messages and files only they held."""
        self.deletion.delete_runs(self.checkpoints, run_ids)

    @while_open
    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all sessions with everything in them; the target's current session, if any, ends.

        Raises InvalidInput if both threads are one.
        """
        source, target = self.sessions.thread(source_thread_id), self.sessions.thread(target_thread_id)
        if source == target:
            raise InvalidInput("a thread cannot be copied onto itself: give another target")
        with self.database.write(patience=BULK_WORK) as connection:
            copy_sessions(connection, self.media, source, target)

    @while_open
    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep only each namespace's newest checkpoint of these threads, or delete them with the strategy `delete`.

        `keep_latest` also keeps what a delta channel is rebuilt from. Raises InvalidInput for another strategy.
        """
        if strategy not in ("keep_latest", "delete"):
            raise InvalidInput(f"unknown strategy {strategy!r}: use 'keep_latest' or 'delete'")
        for thread in dict.fromkeys(map(self.sessions.thread, thread_ids)):
            if strategy == "delete":
                self.deletion.delete_thread(thread)
            else:
                self.deletion.keep_latest(self.checkpoints, thread)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...] | type]) -> Self:
        """Allow these types, (module, name) each, to be built from stored data; return this same object.

        A copy's graph would store what the turns, sessions and records of this one could not read.
        """
        with self._allowing:  # else one of two calls at once would be lost
            self.serde = super().with_allowlist(cast("Any", extra_allowlist)).serde
        return self

    def allow_state_of(self, graph: "Pregel[Any, Any, Any, Any]") -> Self:
        """Allow the classes that this compiled graph and its subgraphs declare, in their state or as `response_format`.

        `PhoneMemory.reply` and `check` do so with the graph that they are given.
        """
        return self.with_allowlist(classes_of(graph))

    def _leaves_no_trace(self, config: RunnableConfig) -> bool:
        """Tell whether nothing is read and nothing stored for this run."""
        return self.keeps_nothing or is_automated(config)

    # The same in asynchronous code

    aget_tuple = in_executor(get_tuple)
    aput = in_executor(put)
    aput_writes = in_executor(put_writes)
    adelete_thread = in_executor(delete_thread)
    adelete_for_runs = in_executor(delete_for_runs)
    acopy_thread = in_executor(copy_thread)
    aprune = in_executor(prune)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the contract's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while page := await run_in(self.executor, lambda: [*islice(found, _PAGE)]):
            for each in page:
                yield each


class SwitchedOffSaver(ConversationSaver):
    """The checkpointer of a memory that is switched off: graphs run, and nothing of them is kept, even in memory.

    A graph cannot wait for an answer.
    """

    keeps_nothing = True

    def turn(
        self,
        thread_id: str,
        arrival: Arrival | None = None,  # noqa: ARG002
        conversation: Open | None = None,  # noqa: ARG002
    ) -> Turn:
        """The turn of a run that leaves no trace; it waits for no other turn of the thread."""
        unremembered = nullcontext(Opened(without_trace(self.sessions.thread(thread_id))))
        return Turn(unremembered, unremembered)
