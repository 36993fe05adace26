"""The checkpoints of one session, inside one transaction: read and written with what they share."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    PendingWrite,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.types import INTERRUPT
from sqlalchemy import Connection, bindparam, func, insert, select, update

from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage import checkpoint_format, codec
from langmem_plugin.conversation.storage.checkpoint_format import Held, Inline, Large, MessageList, Stored, Typed, Write
from langmem_plugin.conversation.storage.message_store import Rows
from langmem_plugin.conversation.storage.row_numbers import NO_ROWS
from langmem_plugin.database.conversation_tables import checkpoint as checkpoint_table
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.conversation_tables import pending as pending_table
from langmem_plugin.database.conversation_tables import value as value_table
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import DamagedSession
from langmem_plugin.lru import LruCache

_DECODED_BYTES = 8_000_000
_ENTRY_BYTES = 8_000  # what a decoded checkpoint takes besides

_Place = tuple[str, int, str, str]
"""Thread, session, namespace and checkpoint id: without the thread two phones' checkpoints could be one."""


class DecodedCache:
    """Checkpoints decoded lately. The bytes are compared at every use, so nothing stale is ever served."""

    def __init__(self) -> None:
        self._entries: LruCache[_Place, tuple[bytes, Stored]] = LruCache(_DECODED_BYTES)

    def get(self, place: _Place, payload: bytes) -> Stored | None:
        held, stored = self._entries.get(place) or (None, None)
        return stored if held == payload else None

    def put(self, place: _Place, payload: bytes, stored: Stored) -> None:
        inline = sum(len(held.typed[1]) for held in stored.channels.values() if isinstance(held, Inline))
        self._entries.put(place, (payload, stored), _ENTRY_BYTES + 4 * len(payload) + inline)


@dataclass(frozen=True, slots=True)
class Listed:
    """What is known of a message without reading it."""

    row: int
    message_id: str | None
    tokens: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class History:
    """Reads and writes one session's checkpoints. `namespace` is a subgraph's, "" the root graph's."""

    connection: Connection
    session: Session
    serde: SerializerProtocol
    rows: Rows
    decoded: DecodedCache

    def load(self, namespace: str, checkpoint_id: str | None) -> Stored | None:
        """The checkpoint with this id, or the newest of the namespace."""
        parameters = {**self._key(namespace), "of_checkpoint": checkpoint_id}
        found = (_NEWEST if checkpoint_id is None else _BY_ID).first(self.connection, parameters)
        return None if found is None else self._decode(namespace, *found)

    def check(self) -> None:
        """Raises DamagedSession if what a run of the root graph begins with cannot be read."""
        newest = self.load("", None)
        if newest is None:
            return
        for held in newest.channels.values():
            if isinstance(held, MessageList):
                self.rows.check(held.rows)
            else:
                self.value(held)
        codec.load(self.serde, newest.metadata)
        self.pending("", newest.checkpoint_id)

    def ids(self, namespace: str | None, before: str | None) -> list[tuple[str, str]]:
        """(namespace, checkpoint id) of this session, newest first."""
        here = (
            checkpoint_table.c.thread == self.session.thread,
            checkpoint_table.c.session == self.session.number,
            *((checkpoint_table.c.namespace == namespace,) if namespace is not None else ()),
        )
        query = select(checkpoint_table.c.namespace, checkpoint_table.c.checkpoint_id).where(*here)
        if before is not None:
            position = select(checkpoint_table.c.position).where(*here, checkpoint_table.c.checkpoint_id == before)
            query = query.where(checkpoint_table.c.position < position.limit(1).scalar_subquery())
        query = query.order_by(checkpoint_table.c.position.desc())
        return [(row.namespace, row.checkpoint_id) for row in self.connection.execute(query)]

    def values(self, stored: Stored) -> dict[str, Any]:
        """The channel values, as copies that the caller may change."""
        return {name: self.value(held) for name, held in stored.channels.items()}

    def value(self, held: Held) -> Any:
        """What a channel or a write holds. Raises DamagedSession if a row of it is lost."""
        match held:
            case MessageList(rows):
                return self.rows.messages(rows)
            case Inline(typed, marked):
                value = codec.load(self.serde, typed)
                return codec.put_back(value, self.rows.messages) if marked else value
            case Large(row):
                found = _VALUE.first(self.connection, {**self._of_session(), "of_row": row})
                if found is None:
                    raise DamagedSession(f"value row {row} is missing: run `langmem doctor`")
                return codec.load(self.serde, codec.decompress(found[0]))

    def listed(self, channel: str) -> list[Listed]:
        """The messages of the newest root checkpoint's channel as rows, in order, without reading them."""
        newest = self.load("", None)
        held = newest.channels.get(channel) if newest else None
        if not isinstance(held, MessageList) or not held.rows:
            return []
        numbers = [abs(row) for row in held.rows]
        between = {**self._of_session(), "first": min(numbers), "last": max(numbers)}
        rows = {row[0]: Listed(*row) for row in _LISTED.all(self.connection, between)}
        return [rows[number] for number in numbers if number in rows]

    def writes(self, namespace: str, checkpoint_id: str) -> list[tuple[str, Write]]:
        """(task id, write) of everything pending on the checkpoint, in the order the graph applies it."""
        parameters = {**self._key(namespace), "of_checkpoint": checkpoint_id}
        found = [
            (task_id, write)
            for task_id, payload in _WRITES.all(self.connection, parameters)
            for write in checkpoint_format.decode_writes(payload)
        ]
        return sorted(found, key=lambda each: writes_sort_key(each[1].path, each[0], each[1].index))

    def pending(
        self, namespace: str, checkpoint_id: str, channels: Collection[str] | None = None
    ) -> list[PendingWrite]:
        """What is written on top of the checkpoint, of all channels or of these."""
        writes = self.writes(namespace, checkpoint_id)
        self.rows.expect([row for _, write in writes for row in checkpoint_format.rows_in(self.serde, write.held)])
        return [
            (task_id, write.channel, self.value(write.held))
            for task_id, write in writes
            if channels is None or write.channel in channels
        ]

    def ancestors(self, namespace: str, stored: Stored) -> Iterator[Stored]:
        """Parent, its parent, and so on to the root."""
        above = stored.parent_id
        while above is not None and (found := self.load(namespace, above)) is not None:
            yield found
            above = found.parent_id

    def save(
        self,
        namespace: str,
        checkpoint: Checkpoint,
        metadata: dict[str, Any],
        new_versions: ChannelVersions,
        parent_id: str | None,
    ) -> None:
        """Stores the checkpoint; a channel that did not change refers to what its parent holds."""
        parent = (self.rows.parent(namespace, parent_id) or self.load(namespace, parent_id)) if parent_id else None
        if parent_id and parent is None:
            self.rows.await_parent(namespace, parent_id)
        channels: dict[str, Held] = {}
        for name, value in checkpoint["channel_values"].items():
            before = parent.channels.get(name) if parent else None
            if (
                name not in new_versions
                and before is not None
                and _version(parent, name) == checkpoint["channel_versions"].get(name)
            ):
                held = before
            else:
                held = self._hold(value, before)
            channels[name] = held
        body = {key: part for key, part in checkpoint.items() if key not in ("channel_values", "id")}
        facts = codec.dump(self.serde, metadata)
        payload, channels = checkpoint_format.encode(codec.dump(self.serde, body), facts, channels, parent)
        self.rows.flush()
        place = {**self._key(namespace), "of_checkpoint": checkpoint["id"]}
        run_id = metadata.get("run_id")
        row = {**place, "of_parent": parent_id, "of_run": run_id, "of_payload": payload}
        if not _NEW_CHECKPOINT.run(self.connection, row):
            self.rows.disturb()
            self.detach(namespace, {checkpoint["id"]})
            self._rewrite(namespace, checkpoint["id"], {"parent_id": parent_id, "run_id": run_id, "payload": payload})
        elif self.rows.was_awaited(namespace, checkpoint["id"]):
            self._move_descendants(namespace, checkpoint["id"])
        # The next step continues this one: it need not be decoded for that.
        stored = Stored(checkpoint["id"], parent_id, _own(body), facts, channels)
        self.decoded.put(self._place(namespace, checkpoint["id"]), payload, stored)
        self.rows.stored(namespace, stored)

    def _move_descendants(self, namespace: str, checkpoint_id: str) -> None:
        """A child may come before its parent, from another thread: it is the newer one all the same."""
        moved = {checkpoint_id}
        for each, parent_id in _LINEAGE.all(self.connection, self._key(namespace)):
            if parent_id in moved:
                moved.add(each)
                _MOVE_TO_END.run(self.connection, {**self._key(namespace), "of_checkpoint": each})

    def detach(self, namespace: str, parents: set[str]) -> None:
        """Gives the children of these checkpoints full lists, so that the parents may change or go."""
        children = self.connection.execute(
            _CHECKPOINT.where(checkpoint_table.c.parent_id.in_(parents)), self._key(namespace)
        ).all()
        for found in children:
            child = self._decode(namespace, *found)
            if any(isinstance(held, MessageList) and held.depth for held in child.channels.values()):
                channels = {
                    name: MessageList(held.rows) if isinstance(held, MessageList) else held
                    for name, held in child.channels.items()
                }
                payload, _ = checkpoint_format.encode(
                    codec.dump(self.serde, child.body), child.metadata, channels, None
                )
                self._rewrite(namespace, child.checkpoint_id, {"payload": payload})

    def _rewrite(self, namespace: str, checkpoint_id: str, values: dict[str, Any]) -> None:
        where = {**self._key(namespace), "of_checkpoint": checkpoint_id}
        self.connection.execute(_REWRITE.values(values), where)

    def save_writes(
        self, namespace: str, checkpoint_id: str, task_id: str, path: str, writes: Sequence[tuple[str, Any]]
    ) -> None:
        """Adds to what the task wrote: a special write replaces its like, an ordinary one is kept as first written."""
        written = _merged(
            [],
            [
                Write(WRITES_IDX_MAP.get(channel, position), channel, path, self._hold(value, None))
                for position, (channel, value) in enumerate(writes)
            ],
        )
        self.rows.flush()
        key = {**self._row(namespace, checkpoint_id), "task_id": task_id}
        row = {**key, **_packed(written)}
        if _NEW_WRITES.run(self.connection, row):
            return
        parameters = {**self._key(namespace), "of_checkpoint": checkpoint_id, "of_task": task_id}
        before = checkpoint_format.decode_writes(self.connection.execute(_WRITES_OF_TASK, parameters).scalar_one())
        self.connection.execute(_REWRITE_WRITES.values(_packed(_merged(before, written))), parameters)

    def _hold(self, value: Any, before: Held | None) -> Held:
        previous = before.rows if isinstance(before, MessageList) else NO_ROWS
        return checkpoint_format.hold(
            self.serde, self.rows.reduced(value), lambda messages: self.rows.store(messages, previous), self._add_value
        )

    def _add_value(self, typed: Typed) -> int:
        row = self.rows.take_number()
        _ADD_VALUE.run(
            self.connection,
            {
                "thread": self.session.thread,
                "session": self.session.number,
                "row": row,
                "payload": codec.compress(*typed),
            },
        )
        return row

    def _decode(self, namespace: str, checkpoint_id: str, parent_id: str | None, payload: bytes) -> Stored:
        place = self._place(namespace, checkpoint_id)
        stored = self.decoded.get(place, payload)
        if stored is None:
            stored = checkpoint_format.decode(
                self.serde, checkpoint_id, parent_id, payload, lambda: self.load(namespace, parent_id)
            )
            self.decoded.put(place, payload, stored)
        # A graph counts its versions up in the very dicts it is given: the cached ones must not be those.
        return replace(stored, body={key: _own(part) for key, part in stored.body.items()})

    def _place(self, namespace: str, checkpoint_id: str) -> _Place:
        return self.session.thread, self.session.number, namespace, checkpoint_id

    def _of_session(self) -> dict[str, Any]:
        return {"of_thread": self.session.thread, "of_session": self.session.number}

    def _key(self, namespace: str) -> dict[str, Any]:
        return {**self._of_session(), "of_namespace": namespace}

    def _row(self, namespace: str, checkpoint_id: str) -> dict[str, Any]:
        return {
            "thread": self.session.thread,
            "session": self.session.number,
            "namespace": namespace,
            "checkpoint_id": checkpoint_id,
        }


def _own(part: Any) -> Any:
    """A copy as deep as the parts of a checkpoint's body go."""
    if isinstance(part, dict):
        return {key: _own(each) if isinstance(each, dict | list) else each for key, each in part.items()}
    return part.copy() if isinstance(part, list) else part


def _version(stored: Stored | None, channel: str) -> Any:
    return stored.body["channel_versions"].get(channel) if stored else None


def _merged(before: list[Write], added: list[Write]) -> list[Write]:
    """A special write (an index below 0) replaces its like; an ordinary one stays as it was first written."""
    merged = {write.index: write for write in before}
    for write in added:
        if write.index < 0 or write.index not in merged:
            merged[write.index] = write
    return list(merged.values())


def _packed(writes: list[Write]) -> dict[str, Any]:
    interrupt = any(write.channel == INTERRUPT for write in writes)
    return {"interrupt": interrupt, "payload": checkpoint_format.encode_writes(writes)}


def _of_namespace(table: Any) -> tuple[Any, ...]:
    return (
        table.c.thread == bindparam("of_thread"),
        table.c.session == bindparam("of_session"),
        table.c.namespace == bindparam("of_namespace"),
    )


_CHECKPOINT = select(checkpoint_table.c.checkpoint_id, checkpoint_table.c.parent_id, checkpoint_table.c.payload).where(
    *_of_namespace(checkpoint_table)
)
_NEWEST = Prepared(_CHECKPOINT.order_by(checkpoint_table.c.position.desc()).limit(1))
_BY_ID = Prepared(_CHECKPOINT.where(checkpoint_table.c.checkpoint_id == bindparam("of_checkpoint")))
_WRITES = Prepared(
    select(pending_table.c.task_id, pending_table.c.payload).where(
        *_of_namespace(pending_table), pending_table.c.checkpoint_id == bindparam("of_checkpoint")
    )
)
_WRITES_OF_TASK = select(pending_table.c.payload).where(
    *_of_namespace(pending_table),
    pending_table.c.checkpoint_id == bindparam("of_checkpoint"),
    pending_table.c.task_id == bindparam("of_task"),
)
_REWRITE = update(checkpoint_table).where(
    *_of_namespace(checkpoint_table), checkpoint_table.c.checkpoint_id == bindparam("of_checkpoint")
)
_REWRITE_WRITES = update(pending_table).where(
    *_of_namespace(pending_table),
    pending_table.c.checkpoint_id == bindparam("of_checkpoint"),
    pending_table.c.task_id == bindparam("of_task"),
)
_LISTED = Prepared(
    select(message_table.c.row, message_table.c.message_id, message_table.c.tokens, message_table.c.created_at).where(
        message_table.c.thread == bindparam("of_thread"),
        message_table.c.session == bindparam("of_session"),
        message_table.c.row.between(bindparam("first"), bindparam("last")),
    )
)
_VALUE = Prepared(
    select(value_table.c.payload).where(
        value_table.c.thread == bindparam("of_thread"),
        value_table.c.session == bindparam("of_session"),
        value_table.c.row == bindparam("of_row"),
    )
)
_ADD_VALUE = Prepared(insert(value_table))
_earlier = checkpoint_table.alias()
_NEXT = (
    select(func.coalesce(func.max(_earlier.c.position), 0) + 1)
    .where(_earlier.c.thread == bindparam("of_thread"), _earlier.c.session == bindparam("of_session"))
    .scalar_subquery()
)
_NEW_CHECKPOINT = Prepared(
    {
        dialect: inserting.values(
            thread=bindparam("of_thread"),
            session=bindparam("of_session"),
            namespace=bindparam("of_namespace"),
            checkpoint_id=bindparam("of_checkpoint"),
            parent_id=bindparam("of_parent"),
            run_id=bindparam("of_run"),
            payload=bindparam("of_payload"),
            position=_NEXT,
        )
        for dialect, inserting in insert_unless_there(checkpoint_table).items()
    }
)
_LINEAGE = Prepared(
    select(checkpoint_table.c.checkpoint_id, checkpoint_table.c.parent_id)
    .where(*_of_namespace(checkpoint_table))
    .order_by(checkpoint_table.c.position)
)
_MOVE_TO_END = Prepared(
    update(checkpoint_table)
    .where(*_of_namespace(checkpoint_table), checkpoint_table.c.checkpoint_id == bindparam("of_checkpoint"))
    .values(position=_NEXT)
)
_NEW_WRITES = Prepared(insert_unless_there(pending_table))
