"""Writes of tasks on top of a checkpoint, until the next one takes them in."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import WRITES_IDX_MAP, PendingWrite, writes_sort_key
from langgraph.checkpoint.serde.types import ERROR, INTERRUPT
from langgraph.types import Interrupt
from sqlalchemy import Connection, bindparam, select, update

from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage import checkpoint_format
from langmem_plugin.conversation.storage.channel_values import ChannelValues
from langmem_plugin.conversation.storage.checkpoint_format import StoredWrite
from langmem_plugin.conversation.storage.money_questions import outlives_silence
from langmem_plugin.database.conversation_tables import pending
from langmem_plugin.database.encryption.encrypted_columns import PENDING
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import DamagedSession

Task = tuple[str, str, str]
"""A namespace, a checkpoint's id and a task's."""


@dataclass(frozen=True, slots=True)
class PendingWrites:
    """The writes of one session, inside one transaction. `namespace` is a subgraph's, "" the root graph's."""

    connection: Connection
    session: Session
    values: ChannelValues

    def stored(self, namespace: str, checkpoint_id: str) -> list[tuple[str, StoredWrite]]:
        """(task id, write) of everything pending on the checkpoint, in the order the graph applies it."""
        found = [
            (task_id, write)
            for task_id, payload in _ALL.all(self.connection, self._key(namespace, checkpoint_id))
            for write in self._decoded((namespace, checkpoint_id, task_id), payload)
        ]
        return sorted(found, key=lambda each: writes_sort_key(each[1].path, each[0], each[1].index))

    def load(self, namespace: str, checkpoint_id: str, channels: Collection[str] | None = None) -> list[PendingWrite]:
        """The writes on top of the checkpoint, of all channels or of these."""
        writes = self.stored(namespace, checkpoint_id)
        serde = self.values.serde
        self.values.lease.expect([row for _, write in writes for row in checkpoint_format.rows_in(serde, write.held)])
        loaded = []
        for task_id, write in writes:
            if channels is None or write.channel in channels:
                try:
                    loaded.append((task_id, write.channel, self.values.load(write.held)))
                except DamagedSession as error:
                    self._pass_over(f"write to {write.channel} on checkpoint {checkpoint_id}", error)
        return loaded

    def save(
        self, namespace: str, checkpoint_id: str, task_id: str, path: str, writes: Sequence[tuple[str, Any]]
    ) -> None:
        """Adds to what the task wrote: a special write replaces its like, an ordinary one is kept as first written."""
        written = _merged(
            [],
            [
                StoredWrite(
                    WRITES_IDX_MAP.get(channel, position),
                    channel,
                    path,
                    self.values.store(channel, _kept(value, channel)),
                )
                for position, (channel, value) in enumerate(writes)
            ],
        )
        self.values.messages.flush()
        row = {
            "thread": self.session.thread,
            "session": self.session.number,
            "namespace": namespace,
            "checkpoint_id": checkpoint_id,
            "task_id": task_id,
            **self._packed((namespace, checkpoint_id, task_id), written),
            "outlives_silence": None,
            **_asked(writes),
        }
        if _ADD.run(self.connection, row):
            return
        key = {**self._key(namespace, checkpoint_id), "of_task": task_id}
        task = namespace, checkpoint_id, task_id
        before = self._decoded(task, self.connection.execute(_OF_TASK, key).scalar_one())
        changed = {**self._packed(task, _merged(before, written)), **_asked(writes)}
        self.connection.execute(_REWRITE.values(changed), key)

    def _decoded(self, task: Task, payload: bytes) -> list[StoredWrite]:
        """A task whose writes cannot be read is one that has not run."""
        try:
            return checkpoint_format.decode_writes(PENDING.decrypted(self.connection, self._row(task), payload))
        except DamagedSession as error:
            self._pass_over(f"writes on checkpoint {task[1]}", error)
            return []

    def _packed(self, task: Task, writes: list[StoredWrite]) -> dict[str, Any]:
        interrupt = any(write.channel == INTERRUPT for write in writes)
        payload = PENDING.encrypted(self.connection, self._row(task), checkpoint_format.encode_writes(writes))
        return {"interrupt": interrupt, "payload": payload}

    def _row(self, task: Task) -> tuple[str | int, ...]:
        return (self.session.thread, self.session.number, *task)

    def _pass_over(self, what: str, error: DamagedSession) -> None:
        if self.values.messages.on_damage is None:
            raise error
        self.values.messages.on_damage(what, error)

    def _key(self, namespace: str, checkpoint_id: str) -> dict[str, Any]:
        return {
            "of_thread": self.session.thread,
            "of_session": self.session.number,
            "of_namespace": namespace,
            "of_checkpoint": checkpoint_id,
        }


def _kept(value: Any, channel: str) -> Any:
    """A task's error is kept as its text, as by the stock savers: what any code may raise is not data."""
    return repr(value) if channel == ERROR and isinstance(value, BaseException) else value


def _asked(writes: Sequence[tuple[str, Any]]) -> dict[str, bool]:
    """Note whether a question may be answered after the silence that ends a session: not where it is about money."""
    given = [value for channel, value in writes if channel == INTERRUPT and isinstance(value, list | tuple)]
    asked = [each.value for value in given for each in value if isinstance(each, Interrupt)]
    return {"outlives_silence": all(map(outlives_silence, asked))} if asked else {}


def _merged(before: list[StoredWrite], added: list[StoredWrite]) -> list[StoredWrite]:
    """A special write (an index below 0) replaces its like; an ordinary one stays as it was first written."""
    merged = {write.index: write for write in before}
    for write in added:
        if write.index < 0 or write.index not in merged:
            merged[write.index] = write
    return list(merged.values())


_ON_CHECKPOINT = (
    pending.c.thread == bindparam("of_thread"),
    pending.c.session == bindparam("of_session"),
    pending.c.namespace == bindparam("of_namespace"),
    pending.c.checkpoint_id == bindparam("of_checkpoint"),
)
_BY_TASK = (*_ON_CHECKPOINT, pending.c.task_id == bindparam("of_task"))
_ALL = Prepared(select(pending.c.task_id, pending.c.payload).where(*_ON_CHECKPOINT))
_OF_TASK = select(pending.c.payload).where(*_BY_TASK)
_REWRITE = update(pending).where(*_BY_TASK)
_ADD = Prepared(insert_unless_there(pending))
