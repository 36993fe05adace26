"""The writes of a run: checkpoints, the writes of tasks on top of them, and rows and files beside these.

A step of a graph writes several times: what its tasks wrote, then the checkpoint. Writes that come within milliseconds
of each other share a transaction. Each call returns only when its part is stored, but for what is left to the run's
next write.
"""

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.types import RESUME
from langgraph.constants import START
from langgraph.types import Command
from sqlalchemy import Connection

from langmem_plugin import process_forks
from langmem_plugin.conversation.config_keys import (
    NOT_METADATA,
    config_of,
    control_of,
    namespace_of,
    stores_each_step,
    ticket_of,
)
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.sessions.session_store import SessionStore
from langmem_plugin.conversation.storage.checkpoint_store import CheckpointStore
from langmem_plugin.conversation.storage.session_checkpoints import SessionCheckpoints
from langmem_plugin.conversation.turns.turns import Turns
from langmem_plugin.database import Database
from langmem_plugin.errors import StoreUnavailable, TurnLost, UnknownSession, WriteConflict

_COMPANY_SECONDS = 0.005
"""How long a task's writes wait for the checkpoint that nearly always follows them at once."""

Work = Callable[[SessionCheckpoints], Any]


class OpensForWriting(Protocol):
    """Opens the session of a run for writing."""

    def __call__(self, config: RunnableConfig, *, durable: bool) -> AbstractContextManager[SessionCheckpoints]: ...


@dataclass(eq=False, slots=True)
class _Part:
    """Nobody waits for the `outcome` of what was `left`: whoever writes it fails with it."""

    config: RunnableConfig
    work: Work
    left: bool = False
    outcome: Future[None] = field(default_factory=Future)


class SharedWrites:
    """Gathers by turn, outside of turns by run: what is gathered goes to one session."""

    def __init__(self, transaction: OpensForWriting) -> None:
        self._transaction = transaction
        self._begin_with_none()
        process_forks.register(after_in_child=self._begin_with_none)

    def _begin_with_none(self) -> None:
        """Also in a forked child: what waits in the parent is written there."""
        self._waiting: dict[Hashable, list[_Part]] = {}
        self._lock = threading.Lock()

    def now(self, config: RunnableConfig, work: Work, *, durable: bool = True) -> None:
        """Writes it together with what waits of its run, which goes before it."""
        part = _Part(config, work)
        self._write([*self._take(config), part], durable=durable)
        part.outcome.result()

    def soon(self, config: RunnableConfig, work: Work) -> None:
        """Lets the run's next write take it along, or writes it if none comes; returns when it is written."""
        if gathered_by(config) is None:
            return self.now(config, work, durable=False)
        part = self._add(_Part(config, work))
        try:
            part.outcome.result(_COMPANY_SECONDS)
        except TimeoutError:
            self._write(self._take(config), durable=False)
            part.outcome.result()  # if it was not there any more, somebody is writing it

    def leave(self, config: RunnableConfig, work: Work) -> None:
        """Returns at once: the run's next write takes it along, or `settle` writes it."""
        self._add(_Part(config, work, left=True))

    def settle(self, config: RunnableConfig) -> None:
        """Writes what is still left of the config's turn."""
        self._write(self._take(config), durable=True)

    def _add(self, part: _Part) -> _Part:
        with self._lock:
            self._waiting.setdefault(gathered_by(part.config), []).append(part)
        return part

    def _take(self, config: RunnableConfig) -> list[_Part]:
        with self._lock:
            return self._waiting.pop(gathered_by(config), [])

    def _write(self, parts: list[_Part], *, durable: bool) -> None:
        if not parts:
            return
        together = self._attempt(parts, durable=durable)
        # What no transaction can do fails for all; otherwise one part is to blame, and the others are written.
        hopeless = together is None or len(parts) == 1 or isinstance(together, _HOPELESS)
        errors = [together if hopeless else self._attempt([part], durable=durable) for part in parts]
        for part, error in zip(parts, errors, strict=True):
            if error is None:
                part.outcome.set_result(None)
            else:
                part.outcome.set_exception(error)
        for part in parts:
            if part.left:
                part.outcome.result()

    def _attempt(self, parts: list[_Part], *, durable: bool, again: bool = True) -> BaseException | None:
        try:
            with self._transaction(parts[-1].config, durable=durable) as checkpoints:
                for part in parts:
                    part.work(checkpoints)
        except WriteConflict as error:
            # A number reserved here was another's: it is forgotten by now, and the next one is free.
            return self._attempt(parts, durable=durable, again=False) if again else error
        except BaseException as error:  # noqa: BLE001 - handed to the thread that waits for its part
            return error
        return None


def gathered_by(config: RunnableConfig) -> Hashable | None:
    """The turn's ticket or the run's control object; None for a call from outside of both."""
    ticket, control = ticket_of(config), control_of(config)
    return ("turn", ticket) if ticket is not None else control and id(control)


_HOPELESS = (StoreUnavailable, TurnLost, UnknownSession)


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
        """Open the session: all writes of the block are on disk when it ends, or none. Raises as `open_to_write`."""
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


class CheckpointWriter:
    """All of its writes are shared: those of one run that come together are one transaction."""

    def __init__(self, sessions: SessionStore, shared: SharedWrites) -> None:
        self._sessions = sessions
        self._shared = shared

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """The config of what is stored. Raises SessionExpired for an answer to a question of a session that is over."""
        namespace, parent_id = namespace_of(config), get_checkpoint_id(config)
        begins = metadata.get("source") == "input"
        if begins and _is_answer(checkpoint["channel_values"].get(START)):
            self._sessions.refuse_late_answer(config)
        facts = {
            key: fact for key, fact in get_checkpoint_metadata(config, metadata).items() if key not in NOT_METADATA
        }

        def save(checkpoints: SessionCheckpoints) -> None:
            checkpoints.save(namespace, checkpoint, facts, new_versions, parent_id)

        if begins and ticket_of(config) is not None and not stores_each_step(config):
            self._shared.leave(config, save)  # the first step's checkpoint follows before anybody's code runs
        else:
            self._shared.now(config, save)
        return config_of(self._sessions.thread_of(config), namespace, checkpoint["id"])

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> None:
        """Special writes (an interrupt, an error) are on disk when this returns. Raises SessionExpired as `put`."""
        if any(channel == RESUME for channel, _ in writes):
            self._sessions.refuse_late_answer(config)
        namespace, checkpoint_id = namespace_of(config), config["configurable"]["checkpoint_id"]

        def save(checkpoints: SessionCheckpoints) -> None:
            checkpoints.pending.save(namespace, checkpoint_id, task_id, task_path, writes)

        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            self._shared.now(config, save)
        else:
            self._shared.soon(config, save)


def _is_answer(given: Any) -> bool:
    return isinstance(given, Command) and given.resume is not None


class RunWrites:
    """As safe as the checkpoints: in the same transaction, or under the same conditions."""

    def __init__(
        self,
        database: Database,
        sessions: SessionStore,
        turns: Turns,
        shared: SharedWrites,
        transactions: WriteTransactions,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._turns = turns
        self._shared = shared
        self._transactions = transactions

    def write_along(self, config: RunnableConfig, work: Callable[[Connection, Session | None], None]) -> None:
        """Has the run's next write take this along in its transaction; where none comes it is written here.

        `work` is given the run's session, None for a run that this checkpointer does not store. Of a run outside of
        turns that ends in an error it may be lost.
        """
        if self._turns.runs_here(config) or (ticket_of(config) is None and self._sessions.stores(config)):
            self._shared.leave(config, lambda checkpoints: work(checkpoints.connection, checkpoints.session))
        else:
            with self._database.write(durable=False) as connection:
                work(connection, None)

    def keep_media(self, config: RunnableConfig, blocks: list[Any]) -> list[Any]:
        """Content blocks with references in place of their inline data, whose files belong to the config's session."""
        with self._transactions.open(config) as checkpoints:
            reduced = checkpoints.messages.reduced_content(blocks)
            checkpoints.messages.flush()
        return reduced
