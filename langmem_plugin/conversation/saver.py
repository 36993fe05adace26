"""The checkpointer: LangGraph's contract over a store of sessions and a store of checkpoints and messages."""

import functools
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from langchain_core.runnables import RunnableConfig, run_in_executor
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection

from langmem_plugin import forks
from langmem_plugin.conversation.config_keys import (
    NOT_METADATA,
    config_of,
    is_automated,
    namespace_of,
    stores_each_step,
    ticket_of,
)
from langmem_plugin.conversation.media.file_references import data_of, files_of
from langmem_plugin.conversation.media.media_reference import MediaReference
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.sessions.session_deletion import SessionDeletion
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.sessions.session_store import SessionStore
from langmem_plugin.conversation.sessions.silence import HALF_AN_HOUR, Silence
from langmem_plugin.conversation.storage import codec, pruning
from langmem_plugin.conversation.storage.checkpoint_reader import CheckpointReader
from langmem_plugin.conversation.storage.checkpoint_store import CheckpointStore
from langmem_plugin.conversation.storage.session_checkpoints import SessionCheckpoints
from langmem_plugin.conversation.storage.session_messages import CountTokens
from langmem_plugin.conversation.storage.shared_writes import SharedWrites
from langmem_plugin.conversation.storage.write_transactions import WriteTransactions
from langmem_plugin.conversation.turns.turns import Turn, Turns
from langmem_plugin.conversation.window import quarter_of_length
from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.errors import InvalidInput
from langmem_plugin.settings import Settings

_Saver = TypeVar("_Saver", bound="ConversationSaver")
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_PAGE = 50


def _in_executor(
    method: Callable[Concatenate[_Saver, _Given], _Result],
) -> Callable[Concatenate[_Saver, _Given], Coroutine[Any, Any, _Result]]:
    """The same method for asynchronous code."""

    @functools.wraps(method)  # LangGraph looks at the signature
    async def forward(self: _Saver, /, *arguments: _Given.args, **named: _Given.kwargs) -> _Result:
        return await run_in_executor(self._executor, functools.partial(method, self, *arguments, **named))

    return forward


class ConversationSaver(BaseCheckpointSaver[str]):
    """A checkpointer that stores each message once and starts a new session after silence.

    `thread_id` is the conversation's key, normally the phone, in any of its forms. `database` is an open
    Database or a URL (`sqlite:///file.db`, `postgresql://…`), whose tables are then created and migrated.
    Pictures and files in messages go to `media`, by default a folder beside a SQLite file, else the database; messages
    keep a reference. `now` must return aware datetimes. Sync and async methods do the same; async ones run in
    `executor`.
    """

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
        super().__init__(serde=serde or codec.StrictSerializer())
        self.database = Database(database) if isinstance(database, str) else database
        self._owns_database = isinstance(database, str)
        Prepared.compile_all(self.database.engine.dialect)
        self.media = media or Media.beside(self.database)
        self._own_executor = None if executor else forks.Threads("langmem-saver")
        self._executor: Executor = executor or cast("Executor", self._own_executor)
        self.checkpoints = CheckpointStore(self.database, serde=self.serde, media=self.media, count_tokens=count_tokens)
        self.sessions = SessionStore(
            self.database, silence=silence, region=region, now=now, is_readable=self.checkpoints.is_readable
        )
        self.deletion = SessionDeletion(self.database, self.media)
        self._reader = CheckpointReader(self.database, self.sessions, self.checkpoints)
        self._transactions = WriteTransactions(self.database, self.sessions, self.checkpoints, now)
        self._writes = SharedWrites(self._transactions.open)
        self._turns = Turns(self.database, self.sessions, self._writes.settle, turn_timeout, self._executor)

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
        opened = given or Database.from_settings(settings, cast("str | None", database))
        made = cls(
            opened,
            serde=serde or codec.StrictSerializer(settings.allowed_types),
            silence=Silence(settings.session_timeout, settings.interrupt_timeout),
            region=settings.default_region,
            count_tokens=count_tokens,
            media=Media.by_setting(settings.media, opened),
            now=now,
            turn_timeout=settings.turn_timeout,
            executor=executor,
        )
        made._owns_database = given is None
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

    # Conversations

    def turn(self, thread_id: str) -> Turn:
        """`with` or `async with`: one turn of this thread at a time, its session pinned in the config it gives.

        Raises TurnTimeout if the turns before it do not end within `turn_timeout`.
        """
        return self._turns.turn(self.sessions.thread(thread_id))

    def current_session(self, thread_id: str) -> Session:
        """The session a message would go to now; a fresh one if there is none or the last one fell silent."""
        return self.sessions.current(thread_id)

    def end_session(self, thread_id: str) -> None:
        """Archives the thread's current session, if it has one; the next message starts afresh."""
        self.sessions.end(thread_id)

    def session_of(self, config: RunnableConfig) -> str | None:
        """The id of the session that holds the config's checkpoint, without one of the thread's newest session."""
        return self.sessions.session_of(config)

    def write_along(self, config: RunnableConfig, work: Callable[[Connection], None]) -> None:
        """In a turn, has the run's next write take this along in its transaction; elsewhere it is written here."""
        if self._turns.runs_here(config):
            self._writes.leave(config, lambda checkpoints: work(checkpoints.connection))
        else:
            with self.database.write(durable=False) as connection:
                work(connection)

    def keep_media(self, config: RunnableConfig, blocks: list[Any]) -> list[Any]:
        """Content blocks with references in place of their inline data, whose files belong to the config's session."""
        with self._transactions.open(config) as checkpoints:
            reduced = checkpoints.messages.reduced_content(blocks)
            checkpoints.messages.flush()
        return reduced

    def load_media(self, thread_id: str, reference: MediaReference) -> bytes | None:
        """What a reference stands for, if a message of this very thread brought it; else None.

        A message may hold any reference that somebody typed: what the database knows decides.
        """
        thread = self.sessions.thread(thread_id)
        with self.database.read() as connection:
            if reference.sha256 is None or reference.sha256 not in files_of(connection, thread):
                return None
            kept = data_of(connection, thread, reference.sha256)
        return self.media.load(reference) if kept is None else kept

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint of the config, or the newest of the thread's session.

        Read by a run that begins, it decides which session the run belongs to: None starts a fresh one. All
        other reads show the newest session, ended or not, unless the config names a `session_id`.
        """
        return None if is_automated(config) else self._reader.get(config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the contract's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Newest first. Without a config, of all threads; without a `session_id`, of each thread's newest session."""
        return islice(self._reader.list(config, filter, before), limit)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What each delta channel is rebuilt from: see the base class."""
        return self._reader.delta_history(config, channels)

    def get_next_version(self, current: str | float | None, channel: None) -> str:  # noqa: ARG002
        """Versions look like the stock savers' but end in zeros: here no value is ever found by its version."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{0:016}"

    # Writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores the checkpoint; on disk when it returns. Raises NotSerializable, StorageFull, StoreUnavailable."""
        namespace = namespace_of(config)
        if is_automated(config):
            return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}
        facts = dict(get_checkpoint_metadata(config, metadata))
        for key in NOT_METADATA:
            facts.pop(key, None)
        parent_id = get_checkpoint_id(config)

        def save(checkpoints: SessionCheckpoints) -> None:
            checkpoints.save(namespace, checkpoint, facts, new_versions, parent_id)

        in_turn = ticket_of(config) is not None
        if metadata.get("source") == "input" and in_turn and not stores_each_step(config):
            self._writes.leave(config, save)  # the first step's checkpoint follows before anybody's code runs
        else:
            self._writes.now(config, save)
        return config_of(self.sessions.thread_of(config), namespace, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Stores what a task wrote on top of the config's checkpoint; raises as `put` does.

        It outlives the process at once. A power cut may undo a task's result until the next checkpoint, and the
        task then runs again; what a person is told of (an interrupt, an error) is on disk when this returns.
        """
        if is_automated(config):
            return
        checkpoint_id = config["configurable"]["checkpoint_id"]
        special = any(channel in WRITES_IDX_MAP for channel, _ in writes)

        def save(checkpoints: SessionCheckpoints) -> None:
            checkpoints.pending.save(namespace_of(config), checkpoint_id, task_id, task_path, writes)

        if special:
            self._writes.now(config, save)
        else:
            self._writes.soon(config, save)

    def delete_thread(self, thread_id: str) -> None:
        """Deletes every session of the thread, current and archived."""
        self.deletion.delete_thread(self.sessions.thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints these runs wrote, their writes, and the messages and files only they held."""
        with self.deletion.transaction() as (connection, files):
            files.update(pruning.drop_runs(connection, self.checkpoints, run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies all sessions with everything in them; the target's current session, if any, ends."""
        source, target = self.sessions.thread(source_thread_id), self.sessions.thread(target_thread_id)
        if source == target:
            raise InvalidInput("a thread cannot be copied onto itself: give another target")
        with self.database.write(patience=BULK_WORK) as connection:
            pruning.copy(connection, source, target)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """`keep_latest` keeps each namespace's newest checkpoint (and what a delta channel is rebuilt from);
        `delete` deletes the threads.
        """
        if strategy not in ("keep_latest", "delete"):
            raise InvalidInput(f"unknown strategy {strategy!r}: use 'keep_latest' or 'delete'")
        for thread in dict.fromkeys(map(self.sessions.thread, thread_ids)):
            if strategy == "delete":
                self.deletion.delete_thread(thread)
                continue
            with self.deletion.transaction() as (connection, files):
                files.update(pruning.keep_latest(connection, self.checkpoints, thread))

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Self:
        """Allows these types, (module, name) each, to be built from what is stored; this very object comes back.

        A clone's graph would store what the turns, sessions and records of the first could not read.
        """
        self.serde = self.checkpoints.serde = super().with_allowlist(extra_allowlist).serde
        return self

    # The same in asynchronous code

    aget_tuple = _in_executor(get_tuple)
    aput = _in_executor(put)
    aput_writes = _in_executor(put_writes)
    adelete_thread = _in_executor(delete_thread)
    adelete_for_runs = _in_executor(delete_for_runs)
    acopy_thread = _in_executor(copy_thread)
    aprune = _in_executor(prune)
    aget_delta_channel_history = _in_executor(get_delta_channel_history)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the contract's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while page := await run_in_executor(self._executor, lambda: [*islice(found, _PAGE)]):
            for each in page:
                yield each
