"""An approximate index for owners with very many memories: derived from the database, behind it at worst.

Any LangChain VectorStore serves. It holds vectors under memory ids and no text; what it does not know yet is
compared exactly, and so is what is private; when it fails, or knows nothing, everything is.
"""

import hashlib
import logging
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from sqlalchemy import Connection, and_, or_, select, tuple_

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory, memory_index, memory_owner, memory_vector
from langmem_plugin.memory.repository import MemoryRepository
from langmem_plugin.memory.vectors import Vector, from_bytes

log = logging.getLogger(__name__)

# (collection, embeddings) -> the collection of that name, made if it is not there; a name has letters and digits
OpenCollection = Callable[[str, Embeddings], VectorStore]
Answer = TypeVar("Answer")

_BATCH = 500
_BEHIND = 2_000  # changes that a search still compares exactly; above, it does not ask the index
_OPEN = 32  # collections


class StoredVectors(Embeddings):
    """Gives each memory id the vector the database holds for it, so that nothing is embedded twice."""

    def __init__(self) -> None:
        self.of: Mapping[str, Vector] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.of[memory_id].tolist() for memory_id in texts]

    def embed_query(self, text: str) -> list[float]:
        values: list[float] = self.of[text].tolist()
        return values


@dataclass(frozen=True)
class _Standing:
    change: int  # of the owner
    rebuild: int
    salt: bytes
    indexed: int  # the change the collection has followed to
    generation: int

    @property
    def whole(self) -> bool:
        return self.indexed > 0 and self.indexed >= self.rebuild


class VectorIndex:
    """One collection per owner, named by a keyed hash. Every method may be called from any thread."""

    def __init__(self, database: Database, repository: MemoryRepository, open_collection: OpenCollection) -> None:
        self._database = database
        self._repository = repository
        self._open_collection = open_collection
        self._open: OrderedDict[str, tuple[VectorStore, StoredVectors]] = OrderedDict()
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._failed: set[str] = set()  # owners whose collection is not asked until it is made anew

    def nearest(self, connection: Connection, owner: str, vector: Vector, limit: int) -> list[str] | None:
        """Ids of about the `limit` nearest memories and of all the index has not seen; None: ask another way.

        The order means nothing, and some may be gone: look them up and compare.
        """
        standing = self._standing(connection, owner)
        if (
            standing is None
            or owner in self._failed
            or not standing.whole
            or standing.change - standing.indexed > _BEHIND
        ):
            return None
        found = self._tried(
            owner,
            self._name(owner, standing),
            lambda store, _: store.similarity_search_by_vector(vector.tolist(), k=limit),
        )
        if not found:
            self._failed.add(owner)
            log.warning("index.empty")
            return None
        unseen = connection.execute(
            select(memory.c.memory_id).where(
                memory.c.owner == owner, or_(memory.c.change > standing.indexed, memory.c.private)
            )
        )
        return list(dict.fromkeys([*(document.page_content for document in found), *unseen.scalars()]))

    def catch_up(self, owner: str, progress: Callable[[int], object] = lambda _: None) -> bool:
        """Brings the owner's collection up to date, from scratch where it failed; False when it fails now.

        `progress` is told the number of memories done after each batch. What is done stays done.
        """
        with self._writing:
            with self._database.read() as connection:
                standing = self._standing(connection, owner)
            if standing is None:
                return True
            generation, after = standing.generation, (standing.indexed, "")
            if owner in self._failed or not standing.whole:
                self._drop(self._name(owner, standing))
                generation, after = generation + 1, (0, "")
                self._failed.discard(owner)
                self._mark(owner, 0, generation)
            name, done = self._name(owner, standing, generation), 0
            while batch := self._changed(owner, after):
                vectors = {memory_id: vector for memory_id, _, vector in batch if vector is not None}
                gone = [memory_id for memory_id, _, vector in batch if vector is None]
                if not self._tried(owner, name, _Replacement(vectors, gone)):
                    return False
                after = (batch[-1][1], batch[-1][0])
                self._mark(owner, after[0] - 1, generation)  # the next batch may hold more of this change
                done += len(batch)
                progress(done)
            self._mark(owner, max(standing.change, after[0]), generation)
            return True

    def remove(self, owner: str, memory_ids: Sequence[str]) -> None:
        """Takes vectors out before their memories are deleted for good."""
        with self._database.read() as connection:
            standing = self._standing(connection, owner)
        if standing is not None and standing.indexed:
            with self._writing:
                self._tried(owner, self._name(owner, standing), _Replacement({}, list(memory_ids)))

    def erase(self, owner: str) -> None:
        """Deletes the owner's collection, before the owner is deleted from the database."""
        with self._database.read() as connection:
            standing = self._standing(connection, owner)
            held = connection.execute(select(memory.c.memory_id).where(memory.c.owner == owner)).scalars().all()
        if standing is not None and standing.generation:
            self.remove(owner, held)
            self._drop(self._name(owner, standing))

    def _standing(self, connection: Connection, owner: str) -> _Standing | None:
        row = connection.execute(
            select(
                memory_owner.c.change,
                memory_owner.c.rebuild,
                memory_owner.c.salt,
                memory_index.c.change.label("indexed"),
                memory_index.c.generation,
            )
            .outerjoin(
                memory_index,
                and_(
                    memory_index.c.owner == memory_owner.c.owner,
                    memory_index.c.model == self._repository.model,
                ),
            )
            .where(memory_owner.c.owner == owner)
        ).first()
        if row is None:
            return None
        return _Standing(row.change, row.rebuild, row.salt, row.indexed or 0, row.generation or 0)

    def _changed(self, owner: str, after: tuple[int, str]) -> list[tuple[str, int, Vector | None]]:
        """(id, change, vector) in the order of change; no vector of what is private or not active."""
        statement = (
            select(
                memory.c.memory_id,
                memory.c.change,
                and_(memory.c.status == "active", ~memory.c.private).label("kept"),
                memory_vector.c.vector,
            )
            .outerjoin(
                memory_vector,
                and_(
                    memory_vector.c.owner == memory.c.owner,
                    memory_vector.c.memory_id == memory.c.memory_id,
                    memory_vector.c.model == self._repository.model,
                ),
            )
            .where(memory.c.owner == owner, tuple_(memory.c.change, memory.c.memory_id) > after)
            .order_by(memory.c.change, memory.c.memory_id)
            .limit(_BATCH)
        )
        with self._database.read() as connection:
            return [
                (
                    row.memory_id,
                    row.change,
                    from_bytes(row.vector) if row.kept and row.vector is not None else None,
                )
                for row in connection.execute(statement)
            ]

    def _mark(self, owner: str, change: int, generation: int) -> None:
        with self._database.write() as connection:
            self._repository.mark_index(connection, owner, change=change, generation=generation)

    def _name(self, owner: str, standing: _Standing, generation: int | None = None) -> str:
        hashed = hashlib.blake2b(
            f"{self._repository.model}\n{owner}".encode(), key=standing.salt, digest_size=16
        ).hexdigest()
        return f"memories{hashed}g{standing.generation if generation is None else generation}"

    def _drop(self, name: str) -> None:
        """The collection itself where the store can delete one; an unreadable one is left behind."""

        def delete(store: VectorStore, _: StoredVectors) -> None:
            if hasattr(store, "delete_collection"):
                store.delete_collection()

        try:
            delete(*self._opened(name))
        except _failures():
            log.warning("index.left_behind", exc_info=True)
        with self._opening:
            self._open.pop(name, None)

    def _tried(self, owner: str, name: str, ask: Callable[[VectorStore, StoredVectors], Answer]) -> Answer | None:
        """Once more, newly opened, after a failure; None after the second."""
        for _ in range(2):
            try:
                return ask(*self._opened(name))
            except _failures():
                log.warning("index.failed", exc_info=True)
                with self._opening:
                    self._open.pop(name, None)
        self._failed.add(owner)
        return None

    def _opened(self, name: str) -> tuple[VectorStore, StoredVectors]:
        with self._opening:
            if name not in self._open:
                vectors = StoredVectors()
                self._open[name] = (self._open_collection(name, vectors), vectors)
                while len(self._open) > _OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(name)
            return self._open[name]


@dataclass(frozen=True)
class _Replacement:
    """Writes vectors, in place of older ones of the same memories, and takes others out."""

    vectors: Mapping[str, Vector]
    gone: list[str]

    def __call__(self, store: VectorStore, stored: StoredVectors) -> bool:
        if self.gone:
            store.delete(ids=self.gone)
        if self.vectors:
            stored.of = self.vectors
            store.add_texts(list(self.vectors), ids=list(self.vectors))
            stored.of = {}
        return True


def chroma(directory: str) -> OpenCollection:
    """Collections of one Chroma database in `directory`, by cosine; chromadb is imported here."""
    import chromadb.config  # noqa: PLC0415 - heavy: only who uses it pays for it
    from langchain_chroma import Chroma  # noqa: PLC0415

    client = chromadb.PersistentClient(path=directory, settings=chromadb.config.Settings(anonymized_telemetry=False))

    def open_collection(name: str, embeddings: Embeddings) -> VectorStore:
        return Chroma(name, embeddings, client=client, collection_configuration={"hnsw": {"space": "cosine"}})

    return open_collection


def _failures() -> tuple[type[Exception], ...]:
    """What a store raises that is broken, locked or gone; Chroma's own errors where Chroma is loaded."""
    clients = (("chromadb.errors", "ChromaError"), ("sqlalchemy.exc", "SQLAlchemyError"))
    loaded = (getattr(sys.modules[module], name) for module, name in clients if module in sys.modules)
    return (OSError, RuntimeError, ValueError, KeyError, *loaded)
