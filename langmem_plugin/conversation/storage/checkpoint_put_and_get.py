"""Reads and writes checkpoints as the runs of graphs ask for it, and the writes of tasks on top of them.

A step of a graph writes several times: what its tasks wrote, then the checkpoint. Writes that come within milliseconds
of each other share a transaction. Each call returns only when its part is stored, except a part that is left to the
run's next write.
"""

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.types import RESUME
from langgraph.constants import START
from langgraph.types import Command

from langmem_plugin import process_forks
from langmem_plugin.conversation import config_keys
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_lifecycle import SessionStore
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.checkpoint_rows import CheckpointStore, SessionCheckpoints
from langmem_plugin.database import Database
from langmem_plugin.errors import DamagedSession, StoreUnavailable, TurnLost, UnknownSession, WriteConflict
from langmem_plugin.lru_cache import LruCache

_COMPANY_SECONDS = 0.005
"""The seconds that a task's writes wait for the checkpoint, which nearly always follows them at once."""
_HOPELESS = (StoreUnavailable, TurnLost, UnknownSession)


def _matches(metadata: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return not wanted or all(metadata.get(key) == part for key, part in wanted.items())


Work = Callable[[SessionCheckpoints], Any]


@dataclass(eq=False, slots=True)
class _Part:
    """One write that waits for its transaction, `on` top of a checkpoint.

    If it was `left`, nobody waits for its `outcome`: whoever writes it fails with it.
    """

    config: RunnableConfig
    work: Work
    on: str | None = None
    left: bool = False
    outcome: Future[None] = field(default_factory=Future)


class Runs:
    """Reads checkpoints, each read in one consistent view; gathers writes by turn, or outside of turns by run.

    Writes that are gathered go to one session in one transaction.
    """

    def __init__(self, database: Database, sessions: SessionStore, checkpoints: CheckpointStore) -> None:
        self._database = database
        self._sessions = sessions
        self._checkpoints = checkpoints
        self._writing = [process_forks.Lock() for _ in range(64)]
        self._repeatable: LruCache[str, bool] = LruCache(4_096)
        """The ids of tasks whose work can be done again, and of the checkpoints that they work on."""
        self._begin_with_none()
        process_forks.register(after_in_child=self._begin_with_none)

    def _begin_with_none(self) -> None:
        """Begin with no waiting writes; in a forked child too, since the parent writes its own."""
        self._waiting: dict[Hashable, list[_Part]] = {}
        self._lock = threading.Lock()

    def get(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The config's checkpoint, or the newest; None for a run that begins a new session."""
        namespace, checkpoint_id = config_keys.namespace_of(config), get_checkpoint_id(config)
        if not namespace and checkpoint_id is None and (handed := config["configurable"].get(config_keys.FIRST_STATE)):
            first: CheckpointTuple | None = handed.pop()
            return first
        self.settle(config)
        with self._database.read() as connection:
            session = self._sessions.find(connection, config)
            over = self._sessions.is_over(connection, session, config)
            if session is None:
                return None
            if not over:
                try:
                    return self._checkpoints.of(connection, session).read(namespace, checkpoint_id)
                except DamagedSession as error:
                    if not config_keys.starts_run(config):
                        raise
                    # A damaged conversation must not keep its person from being answered: it is archived.
                    self._checkpoints.reports.report(session.session_id, "what a run begins with", error)
        self._sessions.archive(config, over=session)
        return None

    def listed(
        self,
        config: RunnableConfig | None,
        wanted: Mapping[str, Any] | None,
        before: RunnableConfig | None,
    ) -> Iterator[CheckpointTuple]:
        """The checkpoints of the config's session, or of all threads without a config, the newest first.

        `wanted` is what their metadata must hold.
        """
        if config is not None:
            yield from self._of_session(config, wanted, before)
            return
        for thread in self._sessions.threads():
            yield from self._of_session({"configurable": {"thread_id": thread}}, wanted, before)

    def _of_session(
        self, config: RunnableConfig, wanted: Mapping[str, Any] | None, before: RunnableConfig | None
    ) -> Iterator[CheckpointTuple]:
        namespace, only = config["configurable"].get("checkpoint_ns"), get_checkpoint_id(config)
        self.settle(config)
        with self._database.read() as connection:
            session = self._sessions.find(connection, config)
            if session is None:
                return
            checkpoints = self._checkpoints.of(connection, session)
            ids = checkpoints.ids(namespace, get_checkpoint_id(before) if before else None)
        # No transaction stays open while the caller uses a checkpoint.
        for of_namespace, checkpoint_id in ids:
            if only is None or checkpoint_id == only:
                with self._database.read() as connection:
                    checkpoints = self._checkpoints.of(connection, session)
                    try:
                        stored = checkpoints.load(of_namespace, checkpoint_id)
                    except DamagedSession as error:
                        if only is not None:
                            raise
                        self._checkpoints.reports.note(session.session_id, f"checkpoint {checkpoint_id}", error)
                        continue
                    if stored is None or not _matches(codec.load(checkpoints.serde, stored.metadata), wanted):
                        continue
                    found = checkpoints.opened(of_namespace, stored)
                yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint and return its config.

        Raises SessionExpired for an answer to a question of a session that is over.
        """
        namespace, parent_id = config_keys.namespace_of(config), get_checkpoint_id(config)
        begins = metadata.get("source") == "input"
        given = checkpoint["channel_values"].get(START)
        if begins and isinstance(given, Command) and given.resume is not None:
            self._sessions.refuse_late_answer(config)
        told = get_checkpoint_metadata(config, metadata)
        facts = {key: fact for key, fact in told.items() if key not in config_keys.NOT_METADATA}

        def save(checkpoints: SessionCheckpoints) -> None:
            checkpoints.save(namespace, checkpoint, facts, new_versions, parent_id)

        # The first step's checkpoint follows before any node runs.
        if config_keys.may_wait(config) and (begins or self._repeatable.get(parent_id or "")):
            self.leave(config, save)
        else:
            self.write(config, save, checkpoint["id"])
        return config_keys.config_of(self._sessions.thread_of(config), namespace, checkpoint["id"])

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> None:
        """Store a task's writes; special ones (an interrupt, an error) are on disk when this returns.

        Raises SessionExpired as `put`.
        """
        if any(channel == RESUME for channel, _ in writes):
            self._sessions.refuse_late_answer(config)
        namespace, checkpoint_id = config_keys.namespace_of(config), config["configurable"]["checkpoint_id"]

        def save(checkpoints: SessionCheckpoints) -> None:
            checkpoints.save_writes(namespace, checkpoint_id, task_id, task_path, writes)

        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            self.write(config, save)
        elif config_keys.may_wait(config) and self._repeatable.get(task_id):
            self.leave(config, save, checkpoint_id)
        else:
            self._soon(config, save, checkpoint_id)

    def note_repeatable(self, config: RunnableConfig) -> None:
        """Let what the task of this config writes wait for the turn's next write, if its node is named in the turn.

        That is so in the turns of messages alone, which end as their answer is kept: a program may send what its graph
        returned long before its turn ends.
        """
        configurable = config["configurable"]
        node, _, task = config_keys.namespace_of(config).partition(":")
        if node in configurable.get(config_keys.MAY_WAIT, ()) and "|" not in task:
            for each in (configurable["__pregel_task_id"], configurable["checkpoint_map"][""]):
                self._repeatable.put(each, True, 1)

    def leave(self, config: RunnableConfig, work: Work, on: str | None = None) -> None:
        """Leave work to the run's next write, or to `settle`, and return at once."""
        self._add(_Part(config, work, on, left=True))

    def settle(self, config: RunnableConfig) -> None:
        """Write what still waits of the config's turn or run."""
        if _gathered_by(config) in self._waiting:  # a read waits for no writer without need
            self._write(config, durable=True)

    @contextmanager
    def open(self, config: RunnableConfig, *, durable: bool = True) -> Iterator[SessionCheckpoints]:
        """Open the run's session: all writes of the block are on disk when it ends, or none.

        One writer per thread at a time, so that its rows are in the caches before the next one looks. Raises as
        `open_to_write`.
        """
        now = self._sessions.now()
        opened: SessionCheckpoints | None = None
        with self._alone(config):
            try:
                with self._database.write(durable=durable) as connection:
                    session = self._sessions.open_to_write(connection, config, now)
                    opened = self._checkpoints.of(connection, session, now)
                    yield opened
                    active_at = now if self._sessions.count_as_activity(connection, session, config, now) else None
                    session_rows.advance(connection, session, next_row=opened.messages.next_row, active_at=active_at)
            except BaseException:
                if opened is not None:
                    # It may be on disk in spite of the error: reserved numbers must not be given again.
                    opened.messages.forget()
                raise
            opened.messages.publish()
            self._sessions.wrote(config, session)

    def write(self, config: RunnableConfig, work: Work, made: str | None = None, *, durable: bool = True) -> None:
        """Do this work now, after what waits of its run or turn, in one transaction; on disk when this returns.

        What waits on top of the checkpoint that it `made` comes behind it: so the rows of messages are in their order,
        and a list of them takes few bytes.
        """
        part = _Part(config, work)
        self._write(config, part, made=made, durable=durable)
        part.outcome.result()

    def _soon(self, config: RunnableConfig, work: Work, checkpoint_id: str) -> None:
        """Leave the work to the run's next write, or write it if none comes; return when it is written."""
        if _gathered_by(config) is None:
            return self.write(config, work, durable=False)
        part = self._add(_Part(config, work, checkpoint_id))
        try:
            part.outcome.result(_COMPANY_SECONDS)
        except TimeoutError:
            self._write(config, durable=False)
            part.outcome.result()  # if it is gone from the list, another thread is writing it

    def _add(self, part: _Part) -> _Part:
        with self._lock:
            self._waiting.setdefault(_gathered_by(part.config), []).append(part)
        return part

    def _alone(self, config: RunnableConfig) -> process_forks.Lock:
        return self._writing[hash(self._sessions.thread_of(config)) % len(self._writing)]

    def _write(self, config: RunnableConfig, *last: _Part, made: str | None = None, durable: bool) -> None:
        """Write what waits of the config's run or turn, then `last`, then what waits on top of the one `made`.

        What is taken first is written first: the newest checkpoint is the one that is written last.
        """
        with self._alone(config):
            with self._lock:
                waiting = self._waiting.pop(_gathered_by(config), [])
            parts = sorted([*waiting, *last], key=lambda part: made is not None and part.on == made)
            together = self._attempt(parts, durable=durable) if parts else None
            # An error of every transaction fails all, and so does any where one caller alone waits; otherwise each part
            # is tried alone, and only the faulty one fails.
            hopeless = together is None or sum(not part.left for part in parts) <= 1 or isinstance(together, _HOPELESS)
            for part in parts:
                if (error := together if hopeless else self._attempt([part], durable=durable)) is not None:
                    part.outcome.set_exception(error)
                else:
                    part.outcome.set_result(None)
        for part in parts:
            if part.left:
                part.outcome.result()

    def _attempt(self, parts: list[_Part], *, durable: bool, again: bool = True) -> BaseException | None:
        try:
            with self.open(parts[-1].config, durable=durable) as checkpoints:
                for part in parts:
                    part.work(checkpoints)
        except WriteConflict as error:
            # Another process had taken a number reserved here: the reservation is dropped, and the next number is free.
            return self._attempt(parts, durable=durable, again=False) if again else error
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits for its part
            return error
        return None


def _gathered_by(config: RunnableConfig) -> Hashable | None:
    """The turn's ticket or the run's control object; None for a call outside of both."""
    ticket, control = config_keys.ticket_of(config), config_keys.control_of(config)
    return ("turn", ticket) if ticket is not None else control and id(control)
