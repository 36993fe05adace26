"""Memories by session: a collection is all that is kept of one session, whichever verb stored it."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Unpack

from sqlalchemy import Connection, delete, func, insert, select

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.erased_keys import erasures_seen, refuse_erased
from langmem_plugin.database.memory_tables import memory, memory_collection
from langmem_plugin.database.owners import owner_key
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.embedding.embedder import Embedder, Vector, unit
from langmem_plugin.memory.find.fact_ranking import Meaning, Query
from langmem_plugin.memory.find.fact_search import FactSearch
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.keep import aliases
from langmem_plugin.memory.keep.filters import in_session
from langmem_plugin.memory.keep.memory_rows import valid
from langmem_plugin.memory.keep.repository import MemoryRepository, NewMemory
from langmem_plugin.memory.keep.retention import Retention
from langmem_plugin.memory.models import EVERYTHING, LIVE, EntryFields, Explanation, Found, Memory, worded
from langmem_plugin.memory.write.reconciler import Reconciler
from langmem_plugin.operation_timing import timed

_MOST_MARKS = 1_000  # of sessions that were dropped, for each owner


class SessionMemories:
    """For operators. With an `owner` a verb is about that one's part of the session; without, about all of it,
    whoever stored it: a verb without an owner crosses owners, and is never for a person's request.

    What is stored by session alone belongs to an owner of the session's name. The name of a vector store's collection
    that is always kept for an owner (`always_indexed`) is, without an owner, that one's in `collection_exists`,
    `get_collection_size` and `delete_collection`. Every verb raises InvalidInput for a session without a name.
    """

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        embedder: Embedder,
        retention: Retention,
        reconciler: Reconciler,
        *,
        facts: FactSearch,
        index: VectorIndex | None,
        now: Callable[[], datetime],
    ) -> None:
        self.operations = database.operations
        self._database = database
        self._repository = repository
        self._embedder = embedder
        self._retention = retention
        self._reconciler = reconciler
        self._facts = facts
        self._index = index
        self._now = now

    @timed("store")
    def create_memory(
        self,
        session_id: str,
        text: str,
        embedding: Sequence[float] | None = None,
        summary_text: str | None = None,
        *,
        owner: str | int | None = None,
        **fields: Unpack[EntryFields],
    ) -> Memory:
        """Stores one entry of the session, also when it has the same text already; embedded if need be.

        It replaces what it corrects; what was corrected or forgotten after its `said_at` is stored as such at once.
        Raises EmbeddingDimMismatchError for another dimension, ValueError for values that are not finite.
        """
        owner = self._key(owner)
        _check(session_id)
        seen = erasures_seen(self._database)
        text = worded(text)
        vector = self._embedder.texts([text])[0] if embedding is None else self._unit(embedding)
        entry = dict(fields) | {"session_id": session_id, "summary_text": summary_text}
        with self._database.write() as connection:
            whose = OwnerKey(session_id) if owner is None else owner
            made = self._reconciler.store_entry(connection, whose, NewMemory(text, vector, entry))
            self._retention.keep_within(connection, made.owner)
            refuse_erased(connection, made.owner, seen)
        self._follow([made.owner])
        return made

    def get_memories_by_session(
        self, session_id: str, limit: int | None = None, *, owner: str | int | None = None
    ) -> list[Memory]:
        """Oldest first, at most `limit`."""
        owner = self._key(owner)
        _check(session_id)
        most = None if limit is None else max(_count(limit), 0)
        with self._database.read() as connection:
            return self._repository.page_of_session(connection, session_id, owner, valid_at=self._now(), limit=most)

    @timed("search")
    def query_similar_memories(
        self,
        query: str | Sequence[float],
        session_id: str | None = None,
        *,
        owner: str | int | None = None,
        limit: int = 10,
        min_similarity: float = 0.0,
    ) -> list[Found]:
        """The memories nearest to a text or an embedding, best first: of one session, of an owner, or of both.

        Raises EmbeddingDimMismatchError or ValueError for an embedding that cannot be compared.
        """
        owner = self._key(owner)
        if session_id is None and owner is None:
            raise InvalidInput("name the session or the owner whose memories to compare with")
        if session_id is not None:
            _check(session_id)
        if query is None or (isinstance(query, str) and not query.strip()):
            raise InvalidInput("pass a text that is not blank, or an embedding, to compare with")
        vector = self._embedder.query(query) if isinstance(query, str) else self._unit(query)
        most, now = max(_count(limit), 0), self._now()
        if session_id is not None:
            with self._database.read() as connection:
                nearest = self._repository.query_similar_of_session(
                    connection, session_id, owner, vector, valid_at=now, limit=most
                )
        else:
            assert owner is not None  # noqa: S101 - or the session is named
            meaning = Meaning(vector, self._embedder.calibration)
            ask = self._facts.ask(owner, Query("", meaning, "semantic", most, 0.0, EVERYTHING, now))
            with self._database.read() as connection:
                hits = self._facts.found(connection, ask)
            nearest = [(each.memory, each.explanation.cosine or 0.0) for each in hits if each.explanation is not None]
            nearest.sort(key=lambda each: each[1], reverse=True)
        found = [self._found(query, each, cosine, min_similarity) for each, cosine in nearest]
        return [each for each in found if each.similarity >= min_similarity]

    def _found(self, query: str | Sequence[float], found: Memory, cosine: float, bound: float) -> Found:
        relevance = self._embedder.calibration.relevance(cosine)
        question = query if isinstance(query, str) else ""
        why = Explanation(question, relevance, bound, {"meaning": cosine}, cosine=cosine, relevance=relevance)
        return Found(found, cosine, relevance, "semantic", {"cosine": cosine}, why)

    def get_all_sessions(self, *, owner: str | int | None = None) -> list[str]:
        """Every session that has memories, of one owner or of all: those of which `collection_exists` is true."""
        owner = self._key(owner)
        statement = select(memory.c.session_id).where(
            memory.c.session_id.is_not(None), memory.c.status == "active", valid(self._now())
        )
        if owner is not None:
            statement = statement.where(memory.c.owner == owner)
        with self._database.read() as connection:
            sessions = connection.execute(statement.distinct().order_by(memory.c.session_id)).scalars()
            return [each for each in sessions if each.strip()]

    def collection_exists(self, name: str, *, owner: str | int | None = None) -> bool:
        """True where the session has memories; for one in a vector store, where it is there and can be asked."""
        owner = self._key(owner)
        index = self._index_of(name, owner)
        return index.is_there(name) if index is not None else self.get_collection_size(name, owner=owner) > 0

    def get_collection_size(self, name: str, *, owner: str | int | None = None) -> int:
        """How many memories the session has; of a vector store's, how many vectors, brought up to date."""
        owner = self._key(owner)
        index = self._index_of(name, owner)
        if index is not None:
            return index.size(name)
        with self._database.read() as connection:
            return self._size(connection, name, owner)

    def delete_collection(self, name: str, *, owner: str | int | None = None) -> int:
        """Forgets every memory of the session, marks it as dropped, and returns how many there were.

        Those that wait for a person's word or have expired go, and count, as well. Raises InvalidInput for a vector
        store's: what is in it is decided by its owner's memories.
        """
        owner = self._key(owner)
        if self._index_of(name, owner) is not None:
            raise InvalidInput(f"{name} holds an owner's vectors: forget memories or erase the owner instead")
        now = self._now()
        with self._database.write(patience=BULK_WORK) as connection:
            of_session = in_session(name, owner, LIVE, None)
            # Always in this order: two who drop at once would otherwise wait for each other.
            rows = connection.execute(
                select(memory.c.owner, memory.c.memory_id).where(*of_session).order_by(memory.c.owner)
            ).all()
            held: dict[OwnerKey, list[str]] = {}
            for row in rows:
                held.setdefault(row.owner, []).append(row.memory_id)
            dropped = 0
            for whose in held or [OwnerKey(name) if owner is None else owner]:
                for each in self._repository.by_ids(connection, whose, held.get(whose, [])):
                    aliases.drop_said_in(connection, whose, each.text)
                dropped += self._repository.set_status(connection, whose, held.get(whose, []), "forgotten", now=now)
                _mark(connection, whose, name, now)
        self._follow(held)
        return dropped

    def collection_dropped_at(self, name: str, *, owner: str | int | None = None) -> datetime | None:
        """When the session was last dropped; None if it never was, or has memories again."""
        owner = self._key(owner)
        _check(name)
        marks = select(func.max(memory_collection.c.dropped_at)).where(memory_collection.c.session_id == name)
        if owner is not None:
            marks = marks.where(memory_collection.c.owner == owner)
        with self._database.read() as connection:
            dropped_at: datetime | None = connection.execute(marks).scalar()
            return None if dropped_at is None or self._size(connection, name, owner) else dropped_at

    def _size(self, connection: Connection, session_id: str, owner: OwnerKey | None) -> int:
        held = in_session(session_id, owner, ("active",), self._now())
        return int(connection.execute(select(func.count()).select_from(memory).where(*held)).scalar_one())

    def _index_of(self, name: str, owner: OwnerKey | None) -> VectorIndex | None:
        """The vector index, if this is the name of one of its collections."""
        _check(name)
        is_collection = self._index is not None and owner is None and name in self._index.names.values()
        return self._index if is_collection else None

    def _follow(self, owners: Iterable[OwnerKey]) -> None:
        """Bring the index of these owners up to date now, not only when they are next asked about."""
        if self._index is not None:
            indexed = {*self._index.names, *self._index.owners()}
            for owner in indexed & {*owners}:
                self._index.follow(owner)

    def _key(self, owner: str | int | None) -> OwnerKey | None:
        return None if owner is None else owner_key(self._database, owner)

    def _unit(self, embedding: Sequence[float]) -> Vector:
        return unit(embedding, self._embedder.dimension)


def _mark(connection: Connection, owner: OwnerKey, session_id: str, now: datetime) -> None:
    """As dropped, and forgets the owner's oldest marks."""
    of_owner = memory_collection.c.owner == owner
    connection.execute(delete(memory_collection).where(of_owner, memory_collection.c.session_id == session_id))
    connection.execute(insert(memory_collection), {"owner": owner, "session_id": session_id, "dropped_at": now})
    marks = select(memory_collection.c.session_id).where(of_owner)
    newest = marks.order_by(memory_collection.c.dropped_at.desc()).limit(_MOST_MARKS)
    connection.execute(delete(memory_collection).where(of_owner, memory_collection.c.session_id.not_in(newest)))


def _check(session_id: str) -> None:
    if not isinstance(session_id, str) or not session_id.strip():
        raise InvalidInput("a session is needed: pass its id, a text that is not blank")


def _count(limit: int) -> int:
    if not isinstance(limit, int):
        raise InvalidInput(f"a limit of {limit!r}: pass a whole number")
    return limit
