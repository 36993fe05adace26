"""The checkpointer: LangGraph's contract over sessions and the history they share."""

import functools
import logging
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Self, TypeVar, cast

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig, run_in_executor
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, select

from langmem_plugin.conversation import pruning, sessions
from langmem_plugin.conversation.checkpoints import Stored
from langmem_plugin.conversation.history import DecodedCache, History
from langmem_plugin.conversation.media import Media
from langmem_plugin.conversation.rows import CountTokens, Rows, VersionCache
from langmem_plugin.conversation.runs import Runs, control_of, starts_run
from langmem_plugin.conversation.sessions import HALF_AN_HOUR, Client, Session, Silence
from langmem_plugin.conversation.turns import Turn, Turns
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import media as media_table
from langmem_plugin.database.conversation_tables import session as session_table
from langmem_plugin.errors import DamagedSession, InvalidInput
from langmem_plugin.phones import thread_key

log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_OUR_KEYS = ("session_id", "phone")  # never copied into metadata: it is not encrypted by every serializer
_CACHE_BYTES = 64_000_000
_PAGE = 50


def quarter_of_length(message: BaseMessage) -> int:
    """The estimate used by default: a token is about four characters, and nothing is downloaded to know it."""
    return len(message.text) // 4


class ConversationSaver(BaseCheckpointSaver[str]):
    """A checkpointer that stores each message once and starts a new session after silence.

    `thread_id` is the conversation's key, normally the phone, in any of its forms. `database` is an open
    Database or a URL (`sqlite:///file.db`, `postgresql://…`), whose tables are then created and migrated.
    Pictures and files in messages go to `media`, by default a folder beside a SQLite file, else nowhere; messages
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
        super().__init__(serde=serde)
        self.database = Database(database) if isinstance(database, str) else database
        self._owns_database = isinstance(database, str)
        self.silence = silence
        self.region = region
        self.count_tokens = count_tokens
        self.media = media or Media.beside(self.database)
        self.now = now
        self._own_executor = None if executor else ThreadPoolExecutor(thread_name_prefix="langmem-saver")
        self._executor: Executor = executor or cast("Executor", self._own_executor)
        self._turns = Turns(self.database, self.open_session, turn_timeout, self._executor)
        self._runs = Runs()
        self._forget_decoded()
        # One writer per thread at a time, so that what it added is in the cache before the next one looks.
        self._writing = [threading.Lock() for _ in range(64)]

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

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint of the config, or the newest of the thread's session.

        Read by a run that begins, it decides which session the run belongs to: None starts a fresh one. All
        other reads show the newest session, ended or not, unless the config names a `session_id`.
        """
        if _is_automated(config):
            return None
        thread, namespace = self._thread(config), _namespace(config)
        with self.database.read() as connection:
            session = self._session(connection, thread, config)
            over = starts_run(config) and self._over(connection, session, control_of(config), thread)
            if session is None:
                return None
            if not over:
                try:
                    return self._newest(self._history(connection, session), namespace, get_checkpoint_id(config))
                except DamagedSession:
                    if not starts_run(config):
                        raise
                    # A damaged conversation must not silence its person: it is archived, to be looked at.
                    log.exception("session.damaged", extra={"session_id": session.session_id})
                    self._runs.remember(control_of(config), thread, None)
        with self.database.write() as connection:
            sessions.end(connection, thread, self.now(), number=session.number)
        return None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the contract's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Newest first. Without a config, of all threads; without a `session_id`, of each thread's newest session."""
        threads = [self._thread(config)] if config else self._threads()
        found = (each for thread in threads for each in self._list(thread, config, filter, before))
        return islice(found, limit)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What each delta channel is rebuilt from: see the base class. Reads the chain of parents once."""
        thread, namespace = self._thread(config), _namespace(config)
        writes: dict[str, list[PendingWrite]] = {channel: [] for channel in channels}
        found: dict[str, DeltaChannelHistory] = {}
        with self.database.read() as connection:
            session = self._session(connection, thread, config)
            target = None
            if channels and session is not None:
                history = self._history(connection, session)
                target = history.load(namespace, get_checkpoint_id(config))
            for ancestor in history.ancestors(namespace, target) if target else ():
                missing = writes.keys() - found.keys()
                if not missing:
                    break
                for write in reversed(history.pending(namespace, ancestor.checkpoint_id, missing)):
                    writes[write[1]].append(write)
                for channel in missing & ancestor.channels.keys():
                    seed = history.value(ancestor.channels[channel])
                    found[channel] = {"writes": writes[channel][::-1], "seed": seed}
        return {channel: found.get(channel, {"writes": writes[channel][::-1]}) for channel in channels}

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
        namespace = _namespace(config)
        if _is_automated(config):
            return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}
        facts = dict(get_checkpoint_metadata(config, metadata))
        for key in _OUR_KEYS:
            facts.pop(key, None)
        with self._write(config) as history:
            history.save(namespace, checkpoint, facts, new_versions, get_checkpoint_id(config))
        return _config(history.session, namespace, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Stores what a task wrote on top of the config's checkpoint; raises as `put` does."""
        if _is_automated(config):
            return
        checkpoint_id = config["configurable"]["checkpoint_id"]
        with self._write(config) as history:
            history.save_writes(_namespace(config), checkpoint_id, task_id, task_path, writes)

    def delete_thread(self, thread_id: str) -> None:
        """Deletes every session of the thread, current and archived."""
        with self.database.write() as connection:
            sessions.remove(connection, thread_key(thread_id, self.region))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints these runs wrote, their writes, and the messages only they held."""
        with self.database.write() as connection:
            for (thread, number), doomed in pruning.threads_of_runs(connection, run_ids).items():
                for session in sessions.all_of(connection, thread):
                    if session.number == number:
                        pruning.drop(self._history(connection, session), doomed)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies all sessions with everything in them; the target's current session, if any, ends."""
        source, target = (thread_key(thread, self.region) for thread in (source_thread_id, target_thread_id))
        if source == target:
            raise InvalidInput("a thread cannot be copied onto itself: give another target")
        with self.database.write() as connection:
            pruning.copy(connection, source, target)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """`keep_latest` keeps each namespace's newest checkpoint (and what a delta channel is rebuilt from);
        `delete` deletes the threads.
        """
        if strategy not in ("keep_latest", "delete"):
            raise InvalidInput(f"unknown strategy {strategy!r}: use 'keep_latest' or 'delete'")
        for thread in dict.fromkeys(thread_key(thread_id, self.region) for thread_id in thread_ids):
            with self.database.write() as connection:
                if strategy == "delete":
                    sessions.remove(connection, thread)
                    continue
                for session in sessions.all_of(connection, thread):
                    history = self._history(connection, session)
                    pruning.drop(history, pruning.all_but_latest(history))

    def _forget_decoded(self) -> None:
        self._versions, self._decoded = VersionCache(_CACHE_BYTES), DecodedCache()

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> BaseCheckpointSaver[str]:
        clone = super().with_allowlist(extra_allowlist)
        if isinstance(clone, ConversationSaver) and clone is not self:
            # What the laxer serializer decoded must not be served by the stricter one.
            clone._forget_decoded()  # noqa: SLF001 - a clone of this very class
        return clone

    # Turns and sessions

    def turn(self, thread_id: str) -> Turn:
        """`with` or `async with`: one turn of this thread at a time, its session pinned in the config it gives.

        Raises TurnTimeout if the turns before it do not end within `turn_timeout`.
        """
        return self._turns.turn(thread_key(thread_id, self.region))

    def open_session(self, thread_id: str) -> RunnableConfig:
        """The config of a turn that begins: its session is pinned, and is a fresh one after silence."""
        thread, now = thread_key(thread_id, self.region), self.now()
        with self.database.read() as connection:
            session = sessions.newest(connection, thread)
            if session and (
                sessions.has_ended(connection, session, now, self.silence) or not self._is_readable(connection, session)
            ):
                session = None
        if session is None:
            with self.database.write() as connection:
                session = sessions.begin(connection, thread, now)
        return {"configurable": {"thread_id": thread, "session_id": session.session_id}}

    def end_session(self, thread_id: str) -> None:
        """Archives the thread's current session, if it has one; the next message starts afresh."""
        with self.database.write() as connection:
            sessions.end(connection, thread_key(thread_id, self.region), self.now())

    def awaits_answer(self, config: RunnableConfig) -> bool:
        """Whether the session's last run stopped to ask the person something."""
        with self.database.read() as connection:
            session = self._session(connection, self._thread(config), config)
            return session is not None and sessions.is_interrupted(connection, session)

    def touch(self, config: RunnableConfig, client: Client | None = None) -> None:
        """Counts as activity of the session, and says who its client is."""
        with self.database.write() as connection:
            session = self._session(connection, self._thread(config), config, lock=True)
            if session is not None:
                sessions.advance(connection, session, next_row=session.next_row, active_at=self.now())
                if client is not None:
                    sessions.set_client(connection, session, client)

    @contextmanager
    def reading(self, session_id: str, *, fresh: bool = False) -> Iterator[tuple[History, Session]]:
        """The history of a session by its id alone, for operators and records. Raises UnknownSession.

        `fresh` reads every byte from the database, whatever is cached.
        """
        with self.database.read() as connection:
            session = sessions.anywhere(connection, session_id)
            yield self._history(connection, session, fresh=fresh), session

    def expire(self, archive_days: int | None) -> tuple[int, int]:
        """Archives the sessions that fell silent and purges what was archived so many days ago; how many of each.

        None keeps the archive for ever.
        """
        now, ended, purged = self.now(), 0, 0
        while True:
            with self.database.write() as connection:
                silent = sessions.idle(connection, now, self.silence, _PAGE)
                for session in silent:
                    sessions.end(connection, session.thread, now, number=session.number)
            ended += len(silent)
            if not silent:
                break
        if archive_days is not None:
            with self.database.write() as connection:
                purged = sessions.purge(connection, now - timedelta(days=archive_days))
            self.sweep_media()
        return ended, purged

    def sweep_media(self) -> int:
        """Deletes the files that no session refers to any more, an hour after they were stored; how many."""
        with self.database.read() as connection:
            referenced = set(connection.execute(select(media_table.c.sha256).distinct()).scalars())
        return self.media.delete_unreferenced(referenced)

    # The same in asynchronous code

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._in_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the contract's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while page := await self._in_thread(lambda: [*islice(found, _PAGE)]):
            for each in page:
                yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._in_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await self._in_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await self._in_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self._in_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self._in_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await self._in_thread(functools.partial(self.prune, thread_ids, strategy=strategy))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await self._in_thread(
            functools.partial(self.get_delta_channel_history, config=config, channels=channels)
        )

    async def _in_thread(self, function: Callable[..., _Result], *arguments: Any) -> _Result:
        return await run_in_executor(self._executor, function, *arguments)

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
        if session_id is None and (lock or not starts_run(config)) and self._runs.knows(control, thread):
            session_id = self._runs.session_of(control)
            if session_id is None:
                return None
        if session_id is not None:
            return sessions.by_id(connection, thread, session_id, lock=lock)
        checkpoint_id = get_checkpoint_id(config)
        found = sessions.newest(connection, thread, lock=lock)
        if checkpoint_id and found:
            return sessions.with_checkpoint(connection, thread, _namespace(config), checkpoint_id, lock=lock) or found
        return found

    def _over(self, connection: Connection, session: Session | None, control: object, thread: str) -> bool:
        """Whether the run that begins needs a fresh session; remembers the answer for the rest of the run."""
        fresh = session is None or sessions.has_ended(connection, session, self.now(), self.silence)
        self._runs.remember(control, thread, None if fresh or session is None else session.session_id)
        return fresh

    @contextmanager
    def _write(self, config: RunnableConfig) -> Iterator[History]:
        thread, control, now = self._thread(config), control_of(config), self.now()
        with self._writing[hash(thread) % len(self._writing)]:
            with self.database.write() as connection:
                session = self._session(connection, thread, config, lock=True) or sessions.begin(
                    connection, thread, now
                )
                history = self._history(connection, session, now)
                yield history
                # Only a run is activity: `update_state` and restoring from outside are not.
                active_at = now if control is not None else None
                sessions.advance(connection, session, next_row=history.rows.next_row, active_at=active_at)
            history.rows.publish()
            if control is not None:
                self._runs.remember(control, thread, session.session_id)

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
            self.media,
            next_row=session.next_row,
            now=now,
            count_tokens=self.count_tokens,
        )
        return History(connection, session, self.serde, rows, self._decoded)

    def _is_readable(self, connection: Connection, session: Session) -> bool:
        """Whether a run can start from it; reading it here costs nothing more, the run finds it decoded."""
        try:
            self._newest(self._history(connection, session), "", None)
        except DamagedSession:
            log.exception("session.damaged", extra={"session_id": session.session_id})
            return False
        return True

    def _newest(self, history: History, namespace: str, checkpoint_id: str | None) -> CheckpointTuple | None:
        stored = history.load(namespace, checkpoint_id)
        return None if stored is None else self._tuple(history, namespace, stored)

    def _tuple(self, history: History, namespace: str, stored: Stored) -> CheckpointTuple:
        values = history.values(stored)
        body: Any = {**stored.body, "id": stored.checkpoint_id, "channel_values": values}
        parent = stored.parent_id and _config(history.session, namespace, stored.parent_id)
        return CheckpointTuple(
            config=_config(history.session, namespace, stored.checkpoint_id),
            checkpoint=body,
            metadata=self.serde.loads_typed(stored.metadata),
            parent_config=parent or None,
            pending_writes=history.pending(namespace, stored.checkpoint_id),
        )

    def _threads(self) -> Sequence[str]:
        with self.database.read() as connection:
            return connection.execute(select(session_table.c.thread).distinct()).scalars().all()

    def _list(
        self,
        thread: str,
        config: RunnableConfig | None,
        wanted: dict[str, Any] | None,
        before: RunnableConfig | None,
    ) -> Iterator[CheckpointTuple]:
        config = config or {"configurable": {"thread_id": thread}}
        namespace = config["configurable"].get("checkpoint_ns")
        only = get_checkpoint_id(config)
        with self.database.read() as connection:
            session = self._session(connection, thread, config)
            if session is None:
                return
            ids = self._history(connection, session).ids(namespace, get_checkpoint_id(before) if before else None)
        # No transaction stays open while the caller looks at what it was given.
        for of_namespace, checkpoint_id in ids:
            if only is None or checkpoint_id == only:
                with self.database.read() as connection:
                    history = self._history(connection, session)
                    stored = history.load(of_namespace, checkpoint_id)
                    if stored is None or not _matches(self.serde.loads_typed(stored.metadata), wanted):
                        continue
                    found = self._tuple(history, of_namespace, stored)
                yield found


def _is_automated(config: RunnableConfig) -> bool:
    """Whether nobody wrote and the run is to leave no trace: nothing is read for it and nothing stored."""
    return bool(config["configurable"].get("automated"))


def _namespace(config: RunnableConfig) -> str:
    return str(config["configurable"].get("checkpoint_ns", ""))


def _config(session: Session, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": session.thread,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
            "session_id": session.session_id,
        }
    }


def _matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return not wanted or all(metadata.get(key) == part for key, part in wanted.items())
