"""Memories by session: the verbs call a collection what one session stored, under a person or on its own."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Unpack

from sqlalchemy import delete, insert, select

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory, memory_collection
from langmem_plugin.errors import InvalidInput
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.unit_vectors import Vector, unit
from langmem_plugin.memory.filters import matching
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.models import EntryFields, Filter, Found, Memory, worded
from langmem_plugin.memory.repository import MemoryRepository, NewMemory
from langmem_plugin.memory.retention import Retention

_ALL = 1_000_000_000
_MOST_MARKS = 1_000  # of sessions that were dropped, for each owner


class SessionMemories:
    """Without an `owner` a session is its own owner: its memories belong to nobody else, and no verb of a person
    reaches them. The name of a vector store's collection that is always kept for an owner (`always_indexed`) is that
    one's in `collection_exists` and `get_collection_size`.
    """

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        embedder: Embedder,
        retention: Retention,
        *,
        index: VectorIndex | None,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._repository = repository
        self._embedder = embedder
        self._retention = retention
        self._index = index
        self._now = now

    def create_memory(
        self,
        session_id: str,
        text: str,
        embedding: Sequence[float] | None = None,
        summary_text: str | None = None,
        *,
        owner: str | None = None,
        **fields: Unpack[EntryFields],
    ) -> Memory:
        """Stores one entry of the session, also when it has the same text already; embedded if need be.

        Raises EmbeddingDimMismatchError for another dimension, ValueError for values that are not finite.
        """
        text = worded(text)
        vector = self._embedder.texts([text])[0] if embedding is None else self._unit(embedding)
        entry = dict(fields) | {"session_id": session_id, "summary_text": summary_text}
        with self._database.write() as connection:
            connection.execute(
                delete(memory_collection).where(
                    memory_collection.c.owner == (owner or session_id),
                    memory_collection.c.session_id == session_id,
                )
            )
            made = self._repository.create_memory(
                connection, owner or session_id, NewMemory(text, vector, entry), now=self._now()
            )
            self._retention.keep_within(connection, made.owner)
        return made

    def get_memories_by_session(
        self, session_id: str, limit: int | None = None, *, owner: str | None = None
    ) -> list[Memory]:
        """Oldest first, at most `limit`."""
        with self._database.read() as connection:
            return self._repository.page(
                connection,
                owner or session_id,
                Filter(sessions=[session_id]),
                valid_at=self._now(),
                limit=_ALL if limit is None else limit,
                oldest_first=True,
            )

    def query_similar_memories(
        self,
        query: str | Sequence[float],
        session_id: str | None = None,
        *,
        owner: str | None = None,
        limit: int = 10,
        min_similarity: float = 0.0,
    ) -> list[Found]:
        """The memories nearest to a text or an embedding, of one session or of all an owner has.

        Raises EmbeddingDimMismatchError or ValueError for an embedding that cannot be compared.
        """
        whose = owner or session_id
        if whose is None:
            raise InvalidInput("name the session or the owner whose memories to compare with")
        vector = self._embedder.query(query) if isinstance(query, str) else self._unit(query)
        where = Filter() if session_id is None else Filter(sessions=[session_id])
        with self._database.read() as connection:
            nearest = self._repository.query_similar_by_embedding(
                connection, whose, vector, where=where, valid_at=self._now(), limit=limit
            )
        found = [
            Found(each, cosine, self._embedder.calibration.relevance(cosine), "semantic", {"cosine": cosine})
            for each, cosine in nearest
        ]
        return [each for each in found if each.similarity >= min_similarity]

    def get_all_sessions(self, *, owner: str | None = None) -> list[str]:
        """Every session that has memories, of one owner or of all."""
        statement = select(memory.c.session_id).where(memory.c.session_id.is_not(None), memory.c.status == "active")
        if owner is not None:
            statement = statement.where(memory.c.owner == owner)
        with self._database.read() as connection:
            return list(connection.execute(statement.distinct().order_by(memory.c.session_id)).scalars())

    def collection_exists(self, name: str, *, owner: str | None = None) -> bool:
        """Whether the session has memories; of a vector store's, whether it is there and can be asked."""
        if self._index is not None and name in self._index.names.values():
            return self._index.is_there(name)
        return self.get_collection_size(name, owner=owner) > 0

    def get_collection_size(self, name: str, *, owner: str | None = None) -> int:
        """How many memories the session has; of a vector store's, how many vectors, brought up to date."""
        if self._index is not None and name in self._index.names.values():
            return self._index.size(name)
        with self._database.read() as connection:
            return self._repository.count(connection, owner or name, Filter(sessions=[name]), valid_at=self._now())

    def delete_collection(self, name: str, *, owner: str | None = None) -> int:
        """Forgets every memory of the session, marks it as dropped, and returns how many there were.

        Raises InvalidInput for a vector store's: what is in it is decided by its owner's memories.
        """
        if self._index is not None and name in self._index.names.values():
            raise InvalidInput(f"{name} holds an owner's vectors: forget memories or erase the owner instead")
        whose, now = owner or name, self._now()
        with self._database.write() as connection:
            of_session = matching(whose, Filter(sessions=[name]), ("active",), None)
            held = connection.execute(select(memory.c.memory_id).where(*of_session)).scalars().all()
            dropped = self._repository.set_status(connection, whose, held, "forgotten", now=now)
            mark = {"owner": whose, "session_id": name, "dropped_at": now}
            connection.execute(
                delete(memory_collection).where(
                    memory_collection.c.owner == whose, memory_collection.c.session_id == name
                )
            )
            connection.execute(insert(memory_collection), mark)
            marks = select(memory_collection.c.session_id).where(memory_collection.c.owner == whose)
            newest = marks.order_by(memory_collection.c.dropped_at.desc()).limit(_MOST_MARKS)
            connection.execute(
                delete(memory_collection).where(
                    memory_collection.c.owner == whose, memory_collection.c.session_id.not_in(newest)
                )
            )
        return dropped

    def collection_dropped_at(self, name: str, *, owner: str | None = None) -> datetime | None:
        """When the session was dropped; None if it was not, or has memories again."""
        with self._database.read() as connection:
            return connection.execute(
                select(memory_collection.c.dropped_at).where(
                    memory_collection.c.owner == (owner or name), memory_collection.c.session_id == name
                )
            ).scalar_one_or_none()

    def _unit(self, embedding: Sequence[float]) -> Vector:
        return unit(embedding, self._embedder.dimension)
