"""LangGraph's SqliteSaver or PostgresSaver: its threads with every checkpoint and what tasks wrote on top of each.

The stock saver reads its own tables. What a payload holds is data: it is read by a strict serializer, so nothing that
it names is imported or called.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired, cast
from uuid import UUID

from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from sqlalchemy import Connection, text
from typing_extensions import TypedDict

from langmem_plugin.conversation.storage import codec
from langmem_plugin.errors import DamagedSession, InvalidInput, LangMemError, StoreUnavailable
from langmem_plugin.portability import source_database
from langmem_plugin.portability.imported_records import Remark, first_error

UNREADABLE = (LangMemError, ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
"""The errors that may be raised for a record that is not what it should be."""


_Version = Annotated[str, Field(pattern=r"^\d+(\.|$)")]  # as all stock savers count; the next one is made from it


@with_config(ConfigDict(extra="ignore", strict=True))
class _Parts(TypedDict):
    v: int
    id: str
    ts: str
    channel_values: dict[str, Any]
    channel_versions: dict[str, _Version]
    versions_seen: dict[str, dict[str, _Version]]
    updated_channels: NotRequired[list[str] | None]
    pending_sends: NotRequired[list[Any]]


@with_config(ConfigDict(extra="allow", strict=True))
class _Facts(TypedDict):
    step: int
    source: NotRequired[str]
    parents: NotRequired[dict[str, str]]
    run_id: NotRequired[str | None]


_CHECKPOINT, _METADATA = TypeAdapter(_Parts), TypeAdapter(_Facts)

Writes = Mapping[str, Sequence[tuple[str, Any]]]
"""By a task's id (channel, value) in the order it wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StockCheckpoint:
    """One step of a thread; `writes` are what each task wrote on top of it."""

    place: str
    namespace: str
    parent_id: str | None
    checkpoint: Checkpoint
    metadata: dict[str, Any]
    at: datetime
    writes: Writes


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Stands in a checkpoint where a value cannot be read, so that the saver reads on and the value can be named."""

    reason: str


class _Reader:
    """The serializer, as a stock saver calls it."""

    def __init__(self, serde: SerializerProtocol) -> None:
        self._serde = serde

    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        return self._serde.dumps_typed(value)

    def loads_typed(self, data: tuple[str | None, Any]) -> Any:
        kind, payload = data
        content = payload.encode() if isinstance(payload, str) else bytes(payload or b"")
        try:
            if kind == "pickle":
                raise DamagedSession("a stored value is a pickle, which may hold any code: it is not read")
            return codec.load(self._serde, (kind or "", content))
        except UNREADABLE as error:
            return _Unreadable(why(error))


class StockThreads:
    """The threads of a database that a stock saver wrote; `serde` builds what their payloads hold.

    Raises InvalidInput if it is no such database, ImportError if the saver's package is not installed.
    """

    def __init__(self, connection: Connection, serde: SerializerProtocol) -> None:
        self._connection = connection
        self._is_sqlite = connection.dialect.name == "sqlite"
        source_database.columns(connection, "checkpoints", "thread_id", "checkpoint_ns", "checkpoint_id", "metadata")
        for table in ("writes",) if self._is_sqlite else ("checkpoint_writes", "checkpoint_blobs"):
            source_database.columns(connection, table)
        connection.rollback()  # the saver looks at the tables itself; the view of the database is taken after that
        self._saver = _stock_saver(connection, _Reader(serde), is_sqlite=self._is_sqlite)

    def ids(self) -> list[Any]:
        """Return the ids, of the thread that was written to last at the end. In SQLite not all need be texts."""
        query = text("SELECT thread_id FROM checkpoints GROUP BY thread_id ORDER BY max(checkpoint_id), thread_id")
        return list(self._connection.execute(query).scalars())

    def checkpoint_ids(self, thread_id: str) -> list[tuple[Any, Any]]:
        """Return (namespace, checkpoint id), oldest first. In SQLite not all need be texts."""
        query = text(
            "SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = :thread "
            "ORDER BY checkpoint_id, checkpoint_ns"
        )
        return [(row[0], row[1]) for row in self._connection.execute(query, {"thread": thread_id})]

    def checkpoints(self, thread_id: str, wanted: Sequence[tuple[Any, Any]]) -> Iterator[StockCheckpoint | Remark]:
        """Yield those that are `wanted`, in that order, one at a time. What cannot be read is a Remark."""
        for namespace, checkpoint_id in wanted:
            place = f"thread {thread_id!r} checkpoint {checkpoint_id}" + (f" of {namespace!r}" if namespace else "")
            try:
                found, bad = self._read(place, thread_id, namespace, checkpoint_id)
            except UNREADABLE as error:
                yield Remark(place=place, reason=why(error))
            except source_database.errors_of(self._connection) as error:
                if not self._is_sqlite:
                    raise StoreUnavailable(f"the source cannot be read: {error}") from error
                yield Remark(place=place, reason=f"the database cannot give it ({error})")
            else:
                yield from bad
                yield found

    def _read(
        self, place: str, thread_id: str, namespace: Any, checkpoint_id: Any
    ) -> tuple[StockCheckpoint, list[Remark]]:
        """Return the checkpoint without what a task wrote that cannot be read: to the graph that task has not run."""
        if not (isinstance(namespace, str) and isinstance(checkpoint_id, str)):
            raise InvalidInput("its id, or the namespace that it is in, is no text")
        key = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
        found = self._saver.get_tuple({"configurable": key})
        if found is None:
            raise InvalidInput("the database does not find it by its id")
        checkpoint = _checked(found.checkpoint, found.metadata, checkpoint_id)
        parent = found.parent_config and found.parent_config["configurable"]["checkpoint_id"]
        if not isinstance(parent, str | None):
            raise InvalidInput("the id of its parent is no text")
        writes: dict[str, list[tuple[str, Any]]] = {}
        for task_id, channel, value in found.pending_writes or ():
            writes.setdefault(task_id, []).append((channel, value))
        unreadable = {
            task_id: value.reason for task_id, of in writes.items() for _, value in of if isinstance(value, _Unreadable)
        }
        at = datetime.fromisoformat(checkpoint["ts"])
        read = StockCheckpoint(
            place=place,
            namespace=namespace,
            parent_id=parent if parent and parent < checkpoint_id else None,  # ids are in order: no ring of ancestors
            checkpoint=checkpoint,
            metadata=cast("dict[str, Any]", found.metadata),
            at=at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC),
            writes={task_id: of for task_id, of in writes.items() if task_id not in unreadable},
        )
        bad = [Remark(place=f"{place} task {each}", reason=reason) for each, reason in unreadable.items()]
        return read, bad


def _stock_saver(connection: Connection, serde: _Reader, *, is_sqlite: bool) -> BaseCheckpointSaver[Any]:
    """Return the saver of the package that wrote the database. It is given no leave to write."""
    raw: Any = connection.connection.driver_connection
    package = "sqlite" if is_sqlite else "postgres"
    try:
        if is_sqlite:
            from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415 - of the person who has such a database

            saver = SqliteSaver(raw, serde=serde)
            saver.setup()  # reads which columns there are
            return saver
        from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415

        return PostgresSaver(raw, serde=serde)
    except ImportError as error:
        raise ImportError(f"pip install langgraph-checkpoint-{package}, which wrote this database") from error
    except source_database.errors_of(connection) as error:
        raise InvalidInput(f"this is no database of a LangGraph saver: {error}") from error


def why(error: Exception) -> str:
    if isinstance(error, LangMemError):
        return " ".join(str(error).split()).removesuffix(": run `langmem doctor`")
    return f"it cannot be read ({error!r:.200})"


def _checked(found: Any, metadata: Any, checkpoint_id: str) -> Checkpoint:
    """Return what a checkpoint has, and nothing else. Raises InvalidInput or ValueError for what is none."""
    values = found.get("channel_values") if isinstance(found, dict) else None
    for each in [found, *(values.values() if isinstance(values, dict) else ())]:
        if isinstance(each, _Unreadable):
            raise InvalidInput(each.reason)
    try:
        checkpoint = _CHECKPOINT.validate_python(found)
        _METADATA.validate_python(metadata)
    except ValidationError as error:
        raise InvalidInput(f"it is no checkpoint of LangGraph ({first_error(error)})") from None
    if checkpoint["id"] != checkpoint_id:
        raise InvalidInput("it says that it is another checkpoint")
    UUID(checkpoint_id)  # a graph can go on from nothing else
    return cast("Checkpoint", checkpoint)
