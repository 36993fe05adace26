"""The rows of a session's checkpoints, and of the writes of tasks on top of them, inside one transaction.

`CheckpointStore` opens them for any session, with what this process remembers.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointTuple,
    PendingWrite,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT
from sqlalchemy import Connection, bindparam, func, select, update

from langmem_plugin import process_forks
from langmem_plugin.conversation.config_keys import config_of
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.message_rows import (
    DamageReports,
    SessionKey,
    SessionMemory,
    SessionMessages,
)
from langmem_plugin.conversation.window import CountTokens
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import checkpoint as checkpoint_table
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.conversation_tables import pending
from langmem_plugin.database.encryption.encrypted_columns import CHECKPOINT, PENDING
from langmem_plugin.database.prepared_statements import Prepared, given
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import DamagedSession, TypeNotAllowed
from langmem_plugin.lru_cache import LruCache

MESSAGES = "messages"
"""The channel of a graph's state that holds the conversation."""

Task = tuple[str, str, str]
"""A namespace, a checkpoint's id and a task's."""

Place = tuple[str, int, str, str]
"""Thread, session, namespace and checkpoint id: without the thread two phones' checkpoints could be one."""
_CACHE_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class Listed:
    """The facts about a message that are known without reading it."""

    row: int
    message_id: str | None
    tokens: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SessionCheckpoints:
    """Reads and writes one session's checkpoints. `namespace` is a subgraph's, "" the root graph's."""

    connection: Connection
    session: Session
    serde: SerializerProtocol
    messages: SessionMessages

    def load(self, namespace: str, checkpoint_id: str | None) -> codec.StoredCheckpoint | None:
        """The checkpoint with this id, or the newest of the namespace that can be read.

        Raises DamagedSession if it, or every one of the namespace, cannot be read.
        """
        if checkpoint_id is None:
            found = _NEWEST.first(self.connection, self._key(namespace))
        else:
            found = _BY_ID.first(self.connection, self._on(namespace, checkpoint_id))
        if found is None:
            return None
        try:
            return self._decode(namespace, *found)
        except DamagedSession as error:
            if checkpoint_id is not None:
                raise
            self.messages.pass_over(f"checkpoint {found[0]}", error)
            for _, earlier in self.ids(namespace, found[0]):
                try:
                    return self.load(namespace, earlier)
                except DamagedSession as another:
                    self.messages.pass_over(f"checkpoint {earlier}", another)
            raise

    def read(self, namespace: str, checkpoint_id: str | None) -> CheckpointTuple | None:
        """The checkpoint that `load` gives, as LangGraph takes it."""
        stored = self.load(namespace, checkpoint_id)
        return None if stored is None else self.opened(namespace, stored)

    def opened(self, namespace: str, stored: codec.StoredCheckpoint) -> CheckpointTuple:
        """A stored checkpoint as LangGraph takes it, with copies of its values and its pending writes."""
        thread = self.session.thread
        body: Any = {**stored.body, "id": stored.checkpoint_id, "channel_values": self.channel_values(stored)}
        return CheckpointTuple(
            config=config_of(thread, namespace, stored.checkpoint_id),
            checkpoint=body,
            metadata=codec.load(self.serde, stored.metadata),
            parent_config=config_of(thread, namespace, stored.parent_id) if stored.parent_id else None,
            pending_writes=self.writes(namespace, stored.checkpoint_id),
        )

    def ids(self, namespace: str | None, before: str | None) -> list[tuple[str, str]]:
        """The (namespace, checkpoint id) pairs of this session, newest first; `before` may be of any namespace.

        Those of one namespace go by the order in which they were stored. Namespaces are compared by ids, which begin
        with the time they were made, as in the stock savers: the graphs around a subgraph write from other threads.
        """
        columns = checkpoint_table.c
        here = columns.thread == self.session.thread, columns.session == self.session.number
        query, order = select(columns.namespace, columns.checkpoint_id).where(*here), columns.checkpoint_id
        if namespace is not None:
            query, order = query.where(columns.namespace == namespace), columns.position
        if before is not None:
            known = select(columns.position).where(
                *here, columns.namespace == namespace, columns.checkpoint_id == before
            )
            position = None if namespace is None else self.connection.execute(known).scalar()
            query = query.where(columns.checkpoint_id < before if position is None else columns.position < position)
        return [(row.namespace, row.checkpoint_id) for row in self.connection.execute(query.order_by(order.desc()))]

    def channel_values(self, stored: codec.StoredCheckpoint) -> dict[str, Any]:
        """Copies of the values, which the caller may change; one that cannot be read is left out, as if never set."""
        loaded = {}
        for name, value in stored.channels.items():
            try:
                loaded[name] = self.messages.value(value)
            except DamagedSession as error:
                self.messages.pass_over(f"value of {name}", error)
        return loaded

    def listed(self) -> list[Listed]:
        """The messages of the newest root checkpoint as rows, in order, without reading them.

        If no checkpoint can be read, all message rows are given: they hold all that is left.
        """
        try:
            newest = self.load("", None)
        except TypeNotAllowed:
            raise
        except DamagedSession:
            if self.messages.on_damage is None:
                raise
            first_and_last = {**self._of_session(), "first": 0, "last": self.session.next_row}
            return [Listed(*row) for row in sorted(_LISTED.all(self.connection, first_and_last))]
        held = newest.channels.get(MESSAGES) if newest else None
        if not isinstance(held, codec.MessageList) or not held.rows.runs:
            return []
        numbers = [abs(row) for row in held.rows]
        between = {**self._of_session(), "first": min(numbers), "last": max(numbers)}
        rows = {row[0]: Listed(*row) for row in _LISTED.all(self.connection, between)}
        # A missing row keeps its place: a stand-in is shown there.
        return [rows.get(number) or Listed(number, None, 0, self.session.created_at) for number in numbers]

    def messages_of(self, listed: Iterable[Listed]) -> list[BaseMessage]:
        return self.messages.messages(
            codec.RowNumbers.of(each.row if each.message_id else -each.row for each in listed)
        )

    def save(
        self,
        namespace: str,
        checkpoint: Checkpoint,
        metadata: dict[str, Any],
        new_versions: ChannelVersions,
        parent_id: str | None,
    ) -> None:
        """Store the checkpoint; a channel that did not change refers to its parent's value."""
        match self.messages.newest:
            case (of, _, known) if (of, known.checkpoint_id) == (namespace, parent_id):
                parent: codec.StoredCheckpoint | None = known
            case _:
                parent = self.load(namespace, parent_id) if parent_id else None
        channels: dict[str, codec.StoredValue] = {}
        for name, value in checkpoint["channel_values"].items():
            before = parent.channels.get(name) if parent else None
            if (
                name not in new_versions
                and before is not None
                and _version(parent, name) == checkpoint["channel_versions"].get(name)
            ):
                held = before
            else:
                held = self.messages.store_value(name, value, before)
            channels[name] = held
        body: dict[str, Any] = {key: part for key, part in checkpoint.items() if key not in ("channel_values", "id")}
        facts = codec.dump(self.serde, metadata)
        payload, channels = codec.encode(codec.dump(self.serde, body), facts, channels, parent)
        payload = CHECKPOINT.encrypted(self.connection, self._place(namespace, checkpoint["id"]), payload)
        self.messages.flush()
        values = {"parent_id": parent_id, "run_id": metadata.get("run_id"), "payload": payload}
        if not _NEW_CHECKPOINT.run(self.connection, {**self._on(namespace, checkpoint["id"]), **values}):
            self.messages.next_row += 1  # every process is to forget what it remembers of the session
            self.detach(namespace, {checkpoint["id"]})
            self._rewrite(namespace, checkpoint["id"], values)
        # The next step continues this checkpoint, and need not decode it.
        stored = codec.StoredCheckpoint(checkpoint["id"], parent_id, _own(body), facts, channels)
        self.messages.newest = namespace, payload, stored

    def stored_writes(self, namespace: str, checkpoint_id: str) -> list[tuple[str, codec.StoredWrite]]:
        """The (task id, write) pairs pending on the checkpoint, in the order the graph applies them."""
        found = [
            (task_id, write)
            for task_id, payload in _WRITES.all(self.connection, self._on(namespace, checkpoint_id))
            for write in self._written((namespace, checkpoint_id, task_id), payload)
        ]
        return sorted(found, key=lambda each: writes_sort_key(each[1].path, each[0], each[1].index))

    def writes(self, namespace: str, checkpoint_id: str) -> list[PendingWrite]:
        """The writes on top of the checkpoint."""
        writes = self.stored_writes(namespace, checkpoint_id)
        self.messages.expect([row for _, write in writes for row in codec.rows_in(self.serde, write.held)])
        loaded = []
        for task_id, write in writes:
            try:
                loaded.append((task_id, write.channel, self.messages.value(write.held)))
            except DamagedSession as error:
                self.messages.pass_over(f"write to {write.channel} on checkpoint {checkpoint_id}", error)
        return loaded

    def save_writes(
        self, namespace: str, checkpoint_id: str, task_id: str, path: str, writes: Sequence[tuple[str, Any]]
    ) -> None:
        """Add to what the task wrote: a special write replaces its like, an ordinary one is kept as first written."""
        task, written = (namespace, checkpoint_id, task_id), []
        for position, (channel, value) in enumerate(writes):
            # A task's error is kept as its text, as by the stock savers: an exception may be of any class.
            kept = repr(value) if channel == ERROR and isinstance(value, BaseException) else value
            held = self.messages.store_value(channel, kept)
            written.append(codec.StoredWrite(WRITES_IDX_MAP.get(channel, position), channel, path, held))
        written = _merged([], written)
        self.messages.flush()
        row = dict(zip(pending.primary_key.columns.keys(), self._row(task), strict=True))
        if _ADD_WRITES.run(self.connection, {**row, **self._packed(task, written)}):
            return
        key = {**self._on(namespace, checkpoint_id), "of_task_id": task_id}
        before = self._written(
            task, self.connection.execute(select(pending.c.payload).where(*_OF_TASK), key).scalar_one()
        )
        changed = self._packed(task, _merged(before, written))
        self.connection.execute(update(pending).where(*_OF_TASK).values(changed), key)

    def _written(self, task: Task, payload: bytes) -> list[codec.StoredWrite]:
        """The writes of a task; none if they cannot be read, as if the task had not run."""
        try:
            return codec.decode_writes(PENDING.decrypted(self.connection, self._row(task), payload))
        except DamagedSession as error:
            self.messages.pass_over(f"writes on checkpoint {task[1]}", error)
            return []

    def _packed(self, task: Task, writes: list[codec.StoredWrite]) -> dict[str, Any]:
        interrupt = any(write.channel == INTERRUPT for write in writes)
        payload = PENDING.encrypted(self.connection, self._row(task), codec.encode_writes(writes))
        return {"interrupt": interrupt, "payload": payload}

    def _row(self, task: Task) -> tuple[str | int, ...]:
        return (self.session.thread, self.session.number, *task)

    def detach(self, namespace: str, parents: set[str]) -> None:
        """Give the children of these checkpoints full lists, so that the parents may change or go."""
        children = self.connection.execute(
            _CHECKPOINT.where(checkpoint_table.c.parent_id.in_(parents)), self._key(namespace)
        ).all()
        for found in children:
            child = self._decode(namespace, *found)
            if any(isinstance(held, codec.MessageList) and held.depth for held in child.channels.values()):
                channels = {
                    name: codec.MessageList(held.rows) if isinstance(held, codec.MessageList) else held
                    for name, held in child.channels.items()
                }
                payload, _ = codec.encode(codec.dump(self.serde, child.body), child.metadata, channels, None)
                place = self._place(namespace, child.checkpoint_id)
                payload = CHECKPOINT.encrypted(self.connection, place, payload)
                self._rewrite(namespace, child.checkpoint_id, {"payload": payload})

    def _rewrite(self, namespace: str, checkpoint_id: str, values: dict[str, Any]) -> None:
        rewritten = update(checkpoint_table).where(*_OF_CHECKPOINT).values(values)
        self.connection.execute(rewritten, self._on(namespace, checkpoint_id))

    def _decode(
        self, namespace: str, checkpoint_id: str, parent_id: str | None, payload: bytes
    ) -> codec.StoredCheckpoint:
        match self.messages.newest:
            case (_, known, stored) if (known, stored.checkpoint_id) == (payload, checkpoint_id):
                # A graph raises its versions in the dicts that it is given: they must not be the remembered ones.
                return replace(stored, body={key: _own(part) for key, part in stored.body.items()})
        plain = CHECKPOINT.decrypted(self.connection, self._place(namespace, checkpoint_id), payload)
        return codec.decode(self.serde, checkpoint_id, parent_id, plain, lambda: self.load(namespace, parent_id))

    def _place(self, namespace: str, checkpoint_id: str) -> Place:
        return self.session.thread, self.session.number, namespace, checkpoint_id

    def _of_session(self) -> dict[str, Any]:
        return {"of_thread": self.session.thread, "of_session": self.session.number}

    def _key(self, namespace: str) -> dict[str, Any]:
        return {**self._of_session(), "of_namespace": namespace}

    def _on(self, namespace: str, checkpoint_id: str) -> dict[str, Any]:
        return {**self._key(namespace), "of_checkpoint_id": checkpoint_id}


FirstState = list[CheckpointTuple | None]
"""The checkpoint that a run starts from, None in a session without any; nothing if the session is damaged."""


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
        self._memories: LruCache[SessionKey, SessionMemory] = LruCache(_CACHE_BYTES)
        # The parent keeps its reserved numbers: a child that gave one out too would store two messages in one row.
        process_forks.register(after_in_child=self._memories.clear)
        self.reports = DamageReports()

    def of(
        self, connection: Connection, session: Session, now: datetime | None = None, *, fresh: bool = False
    ) -> SessionCheckpoints:
        """The checkpoints of a session, to read from, and with `now` to write to.

        Damaged parts are reported, and marked or left out. `fresh` reads every byte from the database, whatever is
        cached, and raises DamagedSession instead.
        """
        serde = self._serde()
        messages = SessionMessages(
            connection,
            session,
            serde,
            LruCache(_CACHE_BYTES) if fresh else self._memories,
            self._media,
            now=now,
            count_tokens=self.count_tokens,
            on_damage=None if fresh else partial(self.reports.note, session.session_id),
        )
        return SessionCheckpoints(connection, session, serde, messages)

    @contextmanager
    def reading(self, session_id: str, *, fresh: bool = False) -> Iterator[SessionCheckpoints]:
        """The checkpoints of a session of any thread, by its id: for operators and records. Raises UnknownSession."""
        with self._database.read() as connection:
            yield self.of(connection, session_rows.anywhere(connection, session_id), fresh=fresh)

    def first_state(self, connection: Connection, session: Session) -> FirstState:
        """The state that a run begins with now.

        A damaged session must not keep its person from being answered.
        """
        try:
            return [self.of(connection, session).read("", None)]
        except DamagedSession as error:
            self.reports.report(session.session_id, "what a run begins with", error)
            return []

    def has_run(self, connection: Connection, session: Session) -> bool:
        """Tell whether any run has written in the session."""
        return self.of(connection, session).load("", None) is not None


def _merged(before: list[codec.StoredWrite], added: list[codec.StoredWrite]) -> list[codec.StoredWrite]:
    """Merge two lists of writes: a special one (an index below 0) replaces its like, an ordinary one stays."""
    merged = {write.index: write for write in before}
    for write in added:
        if write.index < 0 or write.index not in merged:
            merged[write.index] = write
    return list(merged.values())


def _own(part: Any) -> Any:
    """Copy a part of a checkpoint's body, as deep as such parts go."""
    if isinstance(part, dict):
        return {key: _own(each) if isinstance(each, dict | list) else each for key, each in part.items()}
    return part.copy() if isinstance(part, list) else part


def _version(stored: codec.StoredCheckpoint | None, channel: str) -> Any:
    return stored.body["channel_versions"].get(channel) if stored else None


_OF_NAMESPACE = given(checkpoint_table.c.thread, checkpoint_table.c.session, checkpoint_table.c.namespace)
_OF_CHECKPOINT = (*_OF_NAMESPACE, *given(checkpoint_table.c.checkpoint_id))
_CHECKPOINT = select(checkpoint_table.c.checkpoint_id, checkpoint_table.c.parent_id, checkpoint_table.c.payload).where(
    *_OF_NAMESPACE
)
_NEWEST = Prepared(_CHECKPOINT.order_by(checkpoint_table.c.position.desc()).limit(1))
_BY_ID = Prepared(_CHECKPOINT.where(*given(checkpoint_table.c.checkpoint_id)))

_LISTED = Prepared(
    select(message_table.c.row, message_table.c.message_id, message_table.c.tokens, message_table.c.created_at).where(
        *given(message_table.c.thread, message_table.c.session),
        message_table.c.row.between(bindparam("first"), bindparam("last")),
    )
)

_earlier = checkpoint_table.alias()
_NEXT = (
    select(func.coalesce(func.max(_earlier.c.position), 0) + 1)
    .where(*given(_earlier.c.thread, _earlier.c.session))
    .scalar_subquery()
)
_AT_FIRST: dict[str, Any] = {
    **{each.name: bindparam(f"of_{each.name}") for each in checkpoint_table.primary_key.columns},
    **{name: bindparam(name) for name in ("parent_id", "run_id", "payload")},
    "position": _NEXT,
}
_NEW_CHECKPOINT = Prepared(
    {dialect: insert.values(_AT_FIRST) for dialect, insert in insert_unless_there(checkpoint_table).items()}
)
_OF_WRITES = given(pending.c.thread, pending.c.session, pending.c.namespace, pending.c.checkpoint_id)
_WRITES = Prepared(select(pending.c.task_id, pending.c.payload).where(*_OF_WRITES))
_OF_TASK = (*_OF_WRITES, *given(pending.c.task_id))
_ADD_WRITES = Prepared(insert_unless_there(pending))
