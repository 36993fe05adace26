"""Take over what another application remembers in a vector store's collection: once, and each field checked."""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.database.schema import name_to_store
from langmem_plugin.errors import ConfigurationError, EmbeddingUnavailable, InvalidInput, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, masked, owner_to_store
from langmem_plugin.logs import event_log
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.index.stores import ForeignDocument, OpenCollection
from langmem_plugin.memory.keep.changes_and_checksums import owned
from langmem_plugin.memory.keep.memory_repository import NewMemory
from langmem_plugin.memory.keep.memory_row_mapping import validated
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.memory.write.memory_writer import MemoryWriter

log = event_log(__name__)

_MEANT = {"type": "fact_type", "source": "source_type"} | {
    name: name
    for name in (
        *("created_at", "expires_at", "fact_type", "source_type", "source_id", "session_id", "category", "tags"),
        *("confidence", "private"),
    )
}
_NAMES = ("source_id", "session_id", "category")


class CollectionAdoption:
    """The adoption of a collection: documents become memories in one transaction, and only after it are
    deleted from it.

    A memory has the id of its document, or one made of it: whoever is killed in between finds it there the next time.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        writer: MemoryWriter,
        open_collection: OpenCollection | None,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._writer = writer
        self._place: Any = open_collection if hasattr(open_collection, "foreign_documents") else None
        self._now = now

    def adopt_at_start(self, owners: Mapping[OwnerKey, str]) -> None:
        """Adopt collections by owner. One that cannot be taken over now stays as it is until the next start."""
        for owner, name in owners.items() if self._place is not None else ():
            try:
                self.adopt_collection(name, owner)
            except (StoreUnavailable, EmbeddingUnavailable, OSError):
                log.warning("collection.not_adopted", exc_info=True, extra={"collection": name})

    def adopt_collection(self, name: str, owner: str | int) -> int:
        """Make the documents of another application in this collection the owner's memories, once; return
        how many were new.

        The texts are embedded anew, and then the documents are deleted from the collection. A field that means nothing
        here, or holds something else than it should, is kept in the memory's metadata.

        Raises ConfigurationError where there is no Chroma folder; EmbeddingUnavailable and StoreUnavailable, with
        nothing changed; TimeoutError while another process has the folder.
        """
        owner = owner_key(self._database, owner)
        owner_to_store(owner)
        if self._place is None:
            raise ConfigurationError("there is nothing to take over from: give MemoryService chroma(folder)")
        found: list[ForeignDocument] = self._place.foreign_documents(name)
        if not found:
            return 0
        worded = [(each, text) for each in found if (text := storable(each.text or "").strip())]
        vectors = self._embedder.texts([text for _, text in worded])
        now, unusable, news = self._now(), Counter[str](), list[NewMemory]()
        for (each, text), vector in zip(worded, vectors, strict=True):
            fields, undated = _fields(name, each, now, unusable)
            news.append(NewMemory(text, vector, fields, undated=undated))
        with self._database.read() as connection:  # this process alone has the folder
            there = owned(connection, owner, memory.c.memory_id, [each.fields["id"] for each in news])
        fresh = [each for each in news if each.fields["id"] not in there]
        made = self._writer.store(owner, fresh)
        taken: int = sum(each.fields["id"] == stored.id for each, stored in zip(fresh, made, strict=True))
        self._place.remove_foreign(name, [each.document_id for each in found])
        counted = {"documents": len(found), "taken": taken, "kept_as_metadata": dict(unusable)}
        log.info("collection.adopted", extra={"collection": name, "owner": masked(owner), **counted})
        return taken


def _fields(name: str, document: ForeignDocument, now: datetime, unusable: Counter[str]) -> tuple[dict[str, Any], bool]:
    """Return the fields of a memory, and True for one without a date: it may say what was corrected or
    forgotten long ago.
    """
    fields: dict[str, Any] = {"source_type": "api_import", "created_at": now}
    kept: dict[str, Any] = {"adopted_from": name}
    for said, value in document.metadata.items():
        try:
            fields |= _read(_MEANT[said], value)
        except (KeyError, ValueError, TypeError, OverflowError, OSError):
            kept[storable(said)] = storable(value) if isinstance(value, str) else value
            unusable[said] += 1
    undated = "created_at" in kept or "created_at" not in document.metadata
    fields |= {"id": _id(name, document.document_id), "metadata": kept, "created_at": min(fields["created_at"], now)}
    return fields, undated


def _read(meant: str, value: Any) -> dict[str, Any]:
    """Return the value as a memory has it. Raises ValueError or TypeError."""
    if meant in ("created_at", "expires_at"):
        value = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, UTC)
        value = (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)  # without a zone it is UTC
    elif meant == "tags":
        value = [each.strip() for each in (value.split(",") if isinstance(value, str) else value)]
    elif meant in _NAMES and (not isinstance(value, str) or not value.strip()):
        raise InvalidInput("a name is a text that is not blank")
    of_names = value if meant == "tags" else [value] if meant in _NAMES else []
    for each in of_names:
        name_to_store(each)
    day = datetime(2000, 1, 1, tzinfo=UTC)
    validated({"id": "", "owner": OwnerKey(""), "text": "", "created_at": day, "updated_at": day} | {meant: value})
    return {meant: value}


def _id(name: str, document_id: str) -> str:
    try:
        return str(uuid.UUID(document_id))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{name}/{document_id}"))
