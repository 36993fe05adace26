"""The checkpointer: LangGraph's contract over sessions and the history they share."""

import functools
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Self, TypeVar

from langchain_core.runnables import RunnableConfig, run_in_executor
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.run_sessions import control_of, starts_run
from langmem_plugin.conversation.sessions.session_store import SessionKeeper, namespace_of
from langmem_plugin.conversation.storage import codec, pruning
from langmem_plugin.conversation.storage.checkpoint_format import Stored
from langmem_plugin.conversation.storage.checkpoint_store import History
from langmem_plugin.conversation.turns.turns import TURN_KEY
from langmem_plugin.database import BULK_WORK
from langmem_plugin.errors import DamagedSession, InvalidInput
from langmem_plugin.phones import thread_key

log = logging.getLogger(__name__)

_Result = TypeVar("_Result")

_OUR_KEYS = (
    "session_id",
    "phone",
    "langgraph_auth_user",
    "langgraph_auth_user_id",
    TURN_KEY,
)  # never copied into metadata: it is not encrypted by every serializer
_PAGE = 50


class ConversationSaver(SessionKeeper):
    """A checkpointer that stores each message once and starts a new session after silence.

    `thread_id` is the conversation's key, normally the phone, in any of its forms. `database` is an open
    Database or a URL (`sqlite:///file.db`, `postgresql://…`), whose tables are then created and migrated.
    Pictures and files in messages go to `media`, by default a folder beside a SQLite file, else nowhere; messages
    keep a reference. `now` must return aware datetimes. Sync and async methods do the same; async ones run in
    `executor`.
    """

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint of the config, or the newest of the thread's session.

        Read by a run that begins, it decides which session the run belongs to: None starts a fresh one. All
        other reads show the newest session, ended or not, unless the config names a `session_id`.
        """
        if _is_automated(config):
            return None
        thread, namespace = self._thread(config), namespace_of(config)
        with self.database.read() as connection:
            session = self._session(connection, thread, config)
            begins = starts_run(config) and not self._runs.knows(control_of(config), thread)
            over = begins and self._over(connection, session, control_of(config), thread)
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
            session_rows.end(connection, thread, self.now(), number=session.number)
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
        thread, namespace = self._thread(config), namespace_of(config)
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
        namespace = namespace_of(config)
        if _is_automated(config):
            return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}
        facts = dict(get_checkpoint_metadata(config, metadata))
        for key in _OUR_KEYS:
            facts.pop(key, None)
        parent_id = get_checkpoint_id(config)

        def save(history: History) -> None:
            history.save(namespace, checkpoint, facts, new_versions, parent_id)

        if metadata.get("source") == "input" and TURN_KEY in config["configurable"] and not _is_synchronous(config):
            self._shared.leave(config, save)  # the first step's checkpoint follows before anybody's code runs
        else:
            self._shared.now(config, save)
        return _config(self._thread(config), namespace, checkpoint["id"])

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
        if _is_automated(config):
            return
        checkpoint_id = config["configurable"]["checkpoint_id"]
        special = any(channel in WRITES_IDX_MAP for channel, _ in writes)

        def save(history: History) -> None:
            history.save_writes(namespace_of(config), checkpoint_id, task_id, task_path, writes)

        if special:
            self._shared.now(config, save)
        else:
            self._shared.soon(config, save)

    def delete_thread(self, thread_id: str) -> None:
        """Deletes every session of the thread, current and archived."""
        with self.database.write(patience=BULK_WORK) as connection:
            session_rows.remove(connection, thread_key(thread_id, self.region))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints these runs wrote, their writes, and the messages only they held."""
        with self.database.write() as connection:
            for (thread, number), doomed in pruning.threads_of_runs(connection, run_ids).items():
                for session in session_rows.all_of(connection, thread):
                    if session.number == number:
                        pruning.drop(self._history(connection, session), doomed)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies all sessions with everything in them; the target's current session, if any, ends."""
        source, target = (thread_key(thread, self.region) for thread in (source_thread_id, target_thread_id))
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
        for thread in dict.fromkeys(thread_key(thread_id, self.region) for thread_id in thread_ids):
            with self.database.write() as connection:
                if strategy == "delete":
                    session_rows.remove(connection, thread)
                    continue
                for session in session_rows.all_of(connection, thread):
                    history = self._history(connection, session)
                    pruning.drop(history, pruning.all_but_latest(history))

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> Self:
        """Allows these types, (module, name) each, to be built from what is stored; this very object comes back.

        A clone's graph would store what the turns, sessions and records of the first could not read.
        """
        self.serde = super().with_allowlist(extra_allowlist).serde
        return self

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

    def _newest(self, history: History, namespace: str, checkpoint_id: str | None) -> CheckpointTuple | None:
        stored = history.load(namespace, checkpoint_id)
        return None if stored is None else self._tuple(history, namespace, stored)

    def _tuple(self, history: History, namespace: str, stored: Stored) -> CheckpointTuple:
        values = history.values(stored)
        body: Any = {**stored.body, "id": stored.checkpoint_id, "channel_values": values}
        parent = stored.parent_id and _config(history.session.thread, namespace, stored.parent_id)
        return CheckpointTuple(
            config=_config(history.session.thread, namespace, stored.checkpoint_id),
            checkpoint=body,
            metadata=codec.load(self.serde, stored.metadata),
            parent_config=parent or None,
            pending_writes=history.pending(namespace, stored.checkpoint_id),
        )

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
                    if stored is None or not _matches(codec.load(self.serde, stored.metadata), wanted):
                        continue
                    found = self._tuple(history, of_namespace, stored)
                yield found


def _is_automated(config: RunnableConfig) -> bool:
    """Whether nobody wrote and the run is to leave no trace: nothing is read for it and nothing stored."""
    return bool(config["configurable"].get("automated"))


def _is_synchronous(config: RunnableConfig) -> bool:
    """Whether each step is to be stored before the next one begins."""
    return config["configurable"].get("__pregel_durability") == "sync"


def _config(thread: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}


def _matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return not wanted or all(metadata.get(key) == part for key, part in wanted.items())
