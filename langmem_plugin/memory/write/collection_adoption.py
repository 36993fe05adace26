"""Takes over what another application remembers in a vector store's collection: once, checked, with a report."""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, get_args

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.owners import owner_key
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.identifiers import OwnerKey, masked, owner_to_store
from langmem_plugin.logs import event_log
from langmem_plugin.memory.embedding.embedder import Embedder, Vector, unit
from langmem_plugin.memory.index.stores import ForeignDocument, OpenCollection, failures_of
from langmem_plugin.memory.keep.repository import NewMemory
from langmem_plugin.memory.keep.retention import Retention
from langmem_plugin.memory.keep.rows import begin_change, owned
from langmem_plugin.memory.models import FACT_TYPES, SourceType, storable
from langmem_plugin.memory.write.reconciler import Reconciler

log = event_log(__name__)

_SAMPLE = 5
_THE_SAME = 0.999  # cosine: a model that is asked again over the network does not give quite the same
_LONGEST_NAME = 1_000  # bytes


@dataclass(frozen=True, slots=True)
class Adopted:
    """The outcome for a collection's documents.

    `skipped` and `kept_as_metadata` count by reason and by field: a field that means nothing here, or holds something
    else than it should, is kept in the memory's metadata alone.
    """

    collection: str
    taken: int = 0
    skipped: Mapping[str, int] | None = None
    embedded_anew: int = 0
    kept_as_metadata: Mapping[str, int] | None = None


class CollectionAdoption:
    """The documents become memories in one transaction, and are deleted from the collection only after it.

    A memory has the id of its document, or one made of it: whoever is killed in between finds it there the next time.
    """

    def __init__(
        self,
        database: Database,
        reconciler: Reconciler,
        embedder: Embedder,
        retention: Retention,
        open_collection: OpenCollection | None,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._reconciler = reconciler
        self._embedder = embedder
        self._retention = retention
        self._place: Any = open_collection if hasattr(open_collection, "foreign_documents") else None
        self._now = now

    def adopt_at_start(self, owners: Mapping[OwnerKey, str]) -> None:
        """Adopt collections by owner. One that cannot be taken over now stays as it is until the next start."""
        if self._place is None:
            return
        failures = failures_of(self._place)
        for owner, name in owners.items():
            try:
                self.adopt_collection(name, owner)
            except failures:
                log.warning("collection.not_adopted", exc_info=True, extra={"collection": name})

    def adopt_collection(self, name: str, owner: str | int) -> Adopted:
        """Makes the documents that another application has stored in this collection the owner's memories, once.

        The stored vectors are kept if they are this model's, which a sample tells; else the texts are embedded anew.
        Then the documents are deleted from the collection. What an older Chroma has left is copied before.
        Raises ConfigurationError where there is no Chroma folder; EmbeddingUnavailable and StoreUnavailable, with
        nothing changed; TimeoutError while another process has the folder.
        """
        owner = owner_key(self._database, owner)
        owner_to_store(owner)
        if self._place is None:
            raise ConfigurationError("there is nothing to take over from: give MemoryService chroma(folder)")
        found: list[ForeignDocument] = self._place.foreign_documents(name)
        if not found:
            return Adopted(name, skipped={}, kept_as_metadata={})
        worded = [each for each in found if each.text is not None and storable(each.text).strip()]
        vectors, anew = self._vectors(worded)
        unusable: Counter[str] = Counter()
        news = [
            _new(each, vector, _fields(name, each, self._now(), unusable))
            for each, vector in zip(worded, vectors, strict=True)
        ]
        skipped = Counter({"no text": len(found) - len(worded)})
        with self._database.write(patience=BULK_WORK) as connection:
            begin_change(connection, owner)  # two who take over at once wait in turn
            there = owned(connection, owner, memory.c.memory_id, [each.fields["id"] for each in news])
            fresh = [each for each in news if each.fields["id"] not in there]
            made = self._reconciler.store(connection, owner, fresh, [[]] * len(fresh))
            taken = sum(each.fields["id"] == stored.id for each, stored in zip(fresh, made, strict=True))
            self._retention.keep_within(connection, owner)
        skipped += Counter({"taken over before": len(there), "the same text is there": len(fresh) - taken})
        self._place.remove_foreign(name, [each.document_id for each in found])
        adopted = Adopted(name, taken, dict(skipped), anew, dict(unusable))
        log.info(
            "collection.adopted",
            extra={
                "collection": name,
                "owner": masked(owner),
                "taken": taken,
                "skipped": adopted.skipped,
                "embedded_anew": anew,
                "kept_as_metadata": adopted.kept_as_metadata,
            },
        )
        return adopted

    def _vectors(self, documents: Sequence[ForeignDocument]) -> tuple[list[Vector], int]:
        """One for each, and how many were embedded anew."""
        texts = [storable(each.text or "").strip() for each in documents]
        stored = [_unit(each, self._embedder) for each in documents]
        step = max(1, len(documents) // _SAMPLE)
        sample = [at for at in range(0, len(documents), step) if stored[at] is not None]
        again = dict(zip(sample, self._embedder.texts([texts[at] for at in sample]), strict=True))
        if any(float(_known(stored[at]) @ vector) < _THE_SAME for at, vector in again.items()):
            stored = [None] * len(documents)
        missing = [at for at, vector in enumerate(stored) if vector is None]
        anew = dict(zip(missing, self._embedder.texts([texts[at] for at in missing]), strict=True))
        return [anew[at] if vector is None else vector for at, vector in enumerate(stored)], len(missing)


def _known(vector: Vector | None) -> Vector:
    assert vector is not None  # noqa: S101 - the sample is of those that have one
    return vector


def _unit(document: ForeignDocument, embedder: Embedder) -> Vector | None:
    """The stored vector, unless it says that it is another model's or holds nothing that can be compared."""
    if document.vector is None or document.metadata.get("embedding_model", embedder.model) != embedder.model:
        return None
    try:
        return unit(document.vector, embedder.dimension)
    except ValueError:
        return None


def _new(document: ForeignDocument, vector: Vector, fields: dict[str, Any]) -> NewMemory:
    """One without a date may say what was corrected or forgotten long ago."""
    undated = "created_at" in fields["metadata"] or "created_at" not in document.metadata
    return NewMemory(storable(document.text or "").strip(), vector, fields, undated=undated)


def _fields(name: str, document: ForeignDocument, now: datetime, unusable: Counter[str]) -> dict[str, Any]:
    """The fields of a memory from a document's metadata; fields that fit nowhere stay as metadata."""
    fields: dict[str, Any] = {"source_type": "api_import", "created_at": now}
    kept: dict[str, Any] = {"adopted_from": name}
    for said, value in document.metadata.items():
        try:
            meant, read = _MEANINGS[said]
            fields[meant] = read(value)
        except (KeyError, ValueError, TypeError, OverflowError, OSError):
            kept[storable(said)] = storable(value) if isinstance(value, str) else value
            unusable[said] += 1
    fields["created_at"] = min(fields["created_at"], now)
    return fields | {"id": _id(name, document.document_id), "metadata": kept}


def _id(name: str, document_id: str) -> str:
    try:
        return str(uuid.UUID(document_id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name}/{document_id}"))


def _instant(value: Any) -> datetime:
    """As everywhere, one without a time zone is UTC."""
    read = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)


def _one_of(allowed: Sequence[str]) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in allowed:
            raise ValueError(value)
        return str(value)

    return read


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or storable(value) != value:
        raise ValueError(value)
    if len(value.encode()) > _LONGEST_NAME:
        raise ValueError(value)
    return value


def _tags(value: Any) -> list[str]:
    return [_name(each.strip()) for each in (value.split(",") if isinstance(value, str) else value)]


def _share(value: Any) -> float:
    if isinstance(value, bool) or not 0 <= value <= 1:
        raise ValueError(value)
    return float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


_MEANINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "created_at": ("created_at", _instant),
    "expires_at": ("expires_at", _instant),
    "type": ("fact_type", _one_of(FACT_TYPES)),
    "fact_type": ("fact_type", _one_of(FACT_TYPES)),
    "source": ("source_type", _one_of(get_args(SourceType))),
    "source_type": ("source_type", _one_of(get_args(SourceType))),
    "source_id": ("source_id", _name),
    "session_id": ("session_id", _name),
    "category": ("category", _name),
    "tags": ("tags", _tags),
    "confidence": ("confidence", _share),
    "private": ("private", _flag),
}
