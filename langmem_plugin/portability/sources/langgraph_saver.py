"""LangGraph's SqliteSaver or PostgresSaver: its threads with every checkpoint and what tasks wrote on top of each.

What a payload holds is data: it is read by a strict serializer, so nothing that it names is imported or called.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NotRequired, cast
from uuid import UUID

from langchain_core import messages as langchain_messages
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import Checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from typing_extensions import TypedDict

from langmem_plugin.conversation.storage import codec
from langmem_plugin.errors import DamagedSession, InvalidInput, LangMemError, TypeNotAllowed
from langmem_plugin.portability import source_database
from langmem_plugin.portability.records import BadRecord

_NO_VALUE = "empty"
_MESSAGES = {
    name: kind
    for name in langchain_messages.__all__
    if isinstance(kind := getattr(langchain_messages, name), type) and issubclass(kind, BaseMessage)
}

UNREADABLE = (LangMemError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
"""The errors that may be raised for a record that is not what it should be."""


@with_config(ConfigDict(extra="ignore", strict=True))
class _Parts(TypedDict):
    v: int
    id: str
    ts: str
    channel_values: dict[str, Any]
    channel_versions: dict[str, str | int | float]
    versions_seen: dict[str, dict[str, str | int | float]]
    updated_channels: NotRequired[list[str] | None]
    pending_sends: NotRequired[list[Any]]


@with_config(ConfigDict(extra="allow", strict=True))
class _Facts(TypedDict):
    step: int
    source: NotRequired[str]
    parents: NotRequired[dict[str, str]]
    run_id: NotRequired[str | None]


_CHECKPOINT, _METADATA = TypeAdapter(_Parts), TypeAdapter(_Facts)

TaskWrites = tuple[str, str, Sequence[tuple[str, Any]]]
"""A task's id, its path, and (channel, value) in the order it wrote."""

_Blobs = dict[tuple[str, str], tuple[Any, tuple[Any, ...]]]
"""By namespace and channel the version that was read last, with its value if it has one: the next step has it too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockCheckpoint:
    """One step of a thread; `writes` are what each task wrote on top of it."""

    place: str
    namespace: str
    parent_id: str | None
    checkpoint: Checkpoint
    metadata: dict[str, Any]
    at: datetime
    writes: Sequence[TaskWrites] = ()


class StockThreads:
    """The threads of a database that a stock saver wrote; `serde` builds what their payloads hold.

    Raises InvalidInput if it is no such database.
    """

    def __init__(self, connection: Connection, serde: SerializerProtocol) -> None:
        self._connection = connection
        self._serde = serde
        needed = ("thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "checkpoint", "metadata")
        source_database.columns(connection, "checkpoints", *needed)
        self._is_sqlite = connection.dialect.name == "sqlite"
        self._writes_table, self._payload = ("writes", "value") if self._is_sqlite else ("checkpoint_writes", "blob")
        of_writes = source_database.columns(connection, self._writes_table, "task_id", "channel", self._payload)
        self._path = "task_path" if "task_path" in of_writes else "''"
        if not self._is_sqlite:
            source_database.columns(connection, "checkpoint_blobs", "channel", "version", "blob")

    def ids(self) -> list[Any]:
        """The thread that was written to last comes last. In SQLite not all need be texts."""
        query = text("SELECT thread_id FROM checkpoints GROUP BY thread_id ORDER BY max(checkpoint_id), thread_id")
        return list(self._connection.execute(query).scalars())

    def checkpoint_ids(self, thread_id: str) -> list[tuple[str, str]]:
        """(namespace, checkpoint id), oldest first; of those that have texts for these."""
        return [each for each in self._parents(thread_id) if isinstance(each[0], str) and isinstance(each[1], str)]

    def _parents(self, thread_id: str) -> dict[tuple[str, str], str | None]:
        query = text(
            "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id FROM checkpoints WHERE thread_id = :thread "
            "ORDER BY checkpoint_id, checkpoint_ns"
        )
        return {(row[0], row[1]): row[2] for row in self._connection.execute(query, {"thread": thread_id})}

    def unnamed(self, thread_id: str) -> int:
        """How many checkpoints of the thread have an id, or are in a namespace, that is no text."""
        return sum(not (isinstance(each[0], str) and isinstance(each[1], str)) for each in self._parents(thread_id))

    def checkpoints(self, thread_id: str, wanted: Sequence[tuple[str, str]]) -> Iterator[StockCheckpoint | BadRecord]:
        """Those that are `wanted`, in that order, one at a time. What cannot be read is a BadRecord."""
        blobs: _Blobs = {}
        circular = _circular(self._parents(thread_id))
        for namespace, checkpoint_id in wanted:
            place = f"thread {thread_id!r} checkpoint {checkpoint_id}" + (f" of {namespace!r}" if namespace else "")
            key = {"thread": thread_id, "namespace": namespace, "checkpoint": checkpoint_id}
            if (namespace, checkpoint_id) in circular:
                yield BadRecord(place=place, reason="it is its own ancestor")
                continue
            try:
                found = self._checkpoint(key, place, blobs)
                of_tasks = list(self._writes(key))
            except UNREADABLE as error:
                yield BadRecord(place=place, reason=why(error))
                continue
            except DBAPIError as error:
                if self._connection.invalidated or not self._is_sqlite:
                    raise
                yield BadRecord(place=place, reason=f"the database cannot give it ({error.orig})")
                continue
            writes: list[TaskWrites] = []
            for task_id, path, rows in of_tasks:
                try:
                    writes.append((task_id, path, [(row[2], self._load(row[3], row[4])) for row in rows]))
                except UNREADABLE as error:  # to the graph the task has not run
                    yield BadRecord(place=f"{place} task {task_id}", reason=why(error))
            yield replace(found, writes=writes)

    def _checkpoint(self, key: dict[str, str], place: str, blobs: _Blobs) -> StockCheckpoint:
        columns = "parent_checkpoint_id, type, checkpoint, metadata"
        row = self._connection.execute(
            text(
                f"SELECT {columns} FROM checkpoints WHERE thread_id = :thread "  # noqa: S608 - ours
                "AND checkpoint_ns = :namespace AND checkpoint_id = :checkpoint"
            ),
            key,
        ).first()
        if row is None or not isinstance(row.parent_checkpoint_id, str | None):
            raise InvalidInput("its id, or that of its parent, is no text")
        if self._is_sqlite:
            checkpoint: Any = self._load(row.type, row.checkpoint)
            metadata = json.loads(row.metadata) if row.metadata is not None else {}
        else:
            checkpoint, metadata = row.checkpoint, row.metadata
            values = self._values(key, checkpoint["channel_versions"], blobs)
            checkpoint["channel_values"] = {**(checkpoint.get("channel_values") or {}), **values}
        checkpoint = _checked(checkpoint, metadata, key["checkpoint"])
        at = datetime.fromisoformat(checkpoint["ts"])
        return StockCheckpoint(
            place=place,
            namespace=key["namespace"],
            parent_id=row.parent_checkpoint_id or None,
            checkpoint=checkpoint,
            metadata=metadata,
            at=at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC),
        )

    def _values(self, key: dict[str, str], versions: Mapping[str, Any], blobs: _Blobs) -> dict[str, Any]:
        """Reads what PostgreSQL keeps beside the checkpoint: a channel's value by its version."""
        values: dict[str, Any] = {}
        for channel, version in versions.items():
            known = blobs.get((key["namespace"], channel))
            if known is None or known[0] != version:
                known = blobs[key["namespace"], channel] = (version, self._blob(key, channel, version))
            values.update((channel, value) for value in known[1])
        return values

    def _blob(self, key: dict[str, str], channel: str, version: Any) -> tuple[Any, ...]:
        """The value; nothing where the channel was empty."""
        found = self._connection.execute(
            text(
                "SELECT type, blob FROM checkpoint_blobs WHERE thread_id = :thread "
                "AND checkpoint_ns = :namespace AND channel = :channel AND version = :version"
            ),
            key | {"channel": channel, "version": str(version)},
        ).first()
        return () if found is None or found.type == _NO_VALUE else (self._load(found.type, found.blob),)

    def _writes(self, key: dict[str, str]) -> Iterator[tuple[str, str, Sequence[Any]]]:
        rows = self._connection.execute(
            text(
                f"SELECT task_id, {self._path}, channel, type, {self._payload} FROM {self._writes_table} "  # noqa: S608
                "WHERE thread_id = :thread AND checkpoint_ns = :namespace AND checkpoint_id = :checkpoint "
                "ORDER BY task_id, idx"
            ),
            key,
        )
        for (task_id, path), of_task in groupby(rows, key=_task):
            yield task_id, path, [*of_task]

    def _load(self, kind: str | None, payload: Any) -> Any:
        if kind == "json":  # as savers of 2024 wrote
            try:
                return json.loads(_bytes(payload), object_hook=_message)
            except (ValueError, RecursionError) as error:
                raise DamagedSession(f"a stored value cannot be read ({error})") from error
        if kind == "pickle":
            raise DamagedSession("a stored value is a pickle, which may hold any code: it is not read")
        return codec.load(self._serde, (kind or "", _bytes(payload)))


def _circular(parents: Mapping[tuple[str, str], str | None]) -> set[tuple[str, str]]:
    """The checkpoints whose parents lead to no first one: whoever followed them would never end."""
    leads_somewhere: set[tuple[str, str]] = set()
    circular: set[tuple[str, str]] = set()
    for start in parents:
        path: dict[tuple[str, str], None] = {}
        each: tuple[str, str] | None = start
        while each is not None and each in parents and each not in leads_somewhere and each not in path:
            path[each] = None
            above = parents[each]
            each = (each[0], above) if above else None
        (circular if each in path or each in circular else leads_somewhere).update(path)
    return circular


def why(error: Exception) -> str:
    if isinstance(error, LangMemError):
        return " ".join(str(error).split()).removesuffix(": run `langmem doctor`")
    return f"it cannot be read ({error!r:.200})"


def _task(row: Any) -> tuple[str, str]:
    return row[0], row[1] or ""


def _bytes(payload: Any) -> bytes:
    """The bytes of a column; SQLite keeps whatever type it was given."""
    return payload.encode() if isinstance(payload, str) else bytes(payload or b"")


def _message(held: dict[str, Any]) -> Any:
    """Builds a LangChain message from JSON that names its class; TypeNotAllowed for any other class."""
    if "lc" not in held or held.get("type") != "constructor":
        return held
    names = [str(each) for each in held.get("id") or ["?"]]
    kind = _MESSAGES.get(names[-1]) if names[0] in {"langchain", "langchain_core"} and "messages" in names else None
    if kind is None:
        raise TypeNotAllowed(".".join(names[:-1]), names[-1])
    return kind(**(held.get("kwargs") or {}))


def _checked(found: Any, metadata: Any, checkpoint_id: str) -> Checkpoint:
    """Gives what a checkpoint has, and nothing else. Raises InvalidInput or ValueError for what is none."""
    try:
        checkpoint = _CHECKPOINT.validate_python(found)
        _METADATA.validate_python(metadata)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"it is no checkpoint of LangGraph ({where}: {first['msg']})") from None
    if checkpoint["id"] != checkpoint_id:
        raise InvalidInput("it says that it is another checkpoint")
    UUID(checkpoint_id)  # a graph can go on from nothing else
    checkpoint["channel_versions"] = _versions(checkpoint["channel_versions"])
    checkpoint["versions_seen"] = {node: _versions(seen) for node, seen in checkpoint["versions_seen"].items()}
    return cast("Checkpoint", checkpoint)


def _versions(versions: Mapping[str, str | int | float]) -> dict[str, str | int | float]:
    """The versions as the saver needs them: old ones are numbers, and a text is not comparable with them. Raises
    ValueError.
    """
    return {
        name: version if isinstance(version, str) and int(version.split(".")[0]) >= 0 else f"{int(version):032}.{0:016}"
        for name, version in versions.items()
    }
