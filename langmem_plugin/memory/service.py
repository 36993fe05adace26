"""Every verb of long-term memory: store, recall, search, change, forget; one owner at a time."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self, Unpack

from langchain_core.embeddings import Embeddings
from sqlalchemy import Connection, func, select

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.errors import ConfigurationError, DamagedMemory, LangMemError
from langmem_plugin.memory.background import Background
from langmem_plugin.memory.damaged_rows import Kind
from langmem_plugin.memory.embedding.calibration import Calibration
from langmem_plugin.memory.embedding.embedder import TEN_SECONDS, Embedder
from langmem_plugin.memory.embedding.missing_vectors import MissingVectors
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.memory.embedding.vectors import unit
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.index.vector_stores import OpenCollection
from langmem_plugin.memory.instructions import StandingInstructions
from langmem_plugin.memory.models import (
    EVERYTHING,
    Filter,
    Found,
    Memory,
    MemoryChanges,
    MemoryFields,
    Mode,
    Status,
    worded,
)
from langmem_plugin.memory.repository import MemoryRepository, NewMemory
from langmem_plugin.memory.retention import Retention
from langmem_plugin.memory.search.fact_ranking import Query
from langmem_plugin.memory.search.fact_search import Ask, FactSearch
from langmem_plugin.memory.search.message_search import MessageHistory
from langmem_plugin.memory.session_collections import SessionCollections

_CACHE_BYTES = 256 * 2**20


class MemoryService(SessionCollections, Retention):
    """Long-term memory in one database. `owner` is the caller's key of a person or of a shared scope.

    `embeddings` is any LangChain Embeddings, the offline model if none is given; `calibration` tells what its
    cosines mean; without it that is known, or found out at the first search by embedding forty sentences.
    Above `owner_limit` active memories an owner's oldest are archived. With `open_collection`, an owner above
    `index_after` memories is searched through a vector index, which holds their vectors instead of this
    process; `chroma(folder)` and `pgvector(database)` of memory/index/vector_stores.py are such. It follows
    the database in the background, and until it has, everything is compared exactly. `always_indexed` names the
    collections of owners who shall have one from the start, however few their memories: they exist once this is
    constructed, which raises ConfigurationError where one of that name has another distance or dimension.
    Whatever needs an embedding raises EmbeddingUnavailable after its retries, each try given up after
    `embedding_timeout`, or, from `close` on, at once; whatever touches the database may
    raise StoreUnavailable.
    """

    def __init__(
        self,
        database: Database | str,
        *,
        embeddings: Embeddings | None = None,
        calibration: Calibration | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        embedding_timeout: timedelta = TEN_SECONDS,
        sleep: Callable[[float], object] | None = None,
        cache_bytes: int = _CACHE_BYTES,
        owner_limit: int = 10_000,
        open_collection: OpenCollection | None = None,
        index_after: int = 100_000,
        always_indexed: Mapping[str, str] | None = None,
    ) -> None:
        self._own_database = isinstance(database, str)
        self.database = Database(database) if isinstance(database, str) else database
        self.embedder = Embedder(
            embeddings or OfflineEmbeddings(), calibration=calibration, timeout=embedding_timeout, sleep=sleep
        )
        self.repository = MemoryRepository(self.database, model=self.embedder.model)
        self.instructions = StandingInstructions(self.database, self.repository, now=now)
        self.background = Background()
        self.missing_vectors = MissingVectors(self.database, self.embedder, self.repository)
        self.repository.damages.mend = self._mend
        self._open_collection = open_collection
        self._index_after = index_after
        self.index = None if open_collection is None else self._new_index(open_collection, always_indexed or {})
        if always_indexed and self.index is None:
            raise ConfigurationError("a collection that should always be there needs an open_collection")
        self.owner_limit = owner_limit
        self.now = now
        self.history = MessageHistory(
            self.database, self.embedder, self.repository, now=now, cache_bytes=cache_bytes // 2
        )
        self.facts = FactSearch(
            self.database,
            self.repository,
            self.index,
            index_after=index_after,
            cache_bytes=cache_bytes // 2,
            now=now,
        )

    def remember(
        self,
        owner: str,
        text: str,
        *,
        embedding: Sequence[float] | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Memory:
        """Stores `text` and returns it as stored; the same text under the same key is not stored twice.

        Raises InvalidInput for an empty text or a wrong field, EmbeddingDimMismatchError for an `embedding`
        of another dimension.
        """
        embeddings = None if embedding is None else [embedding]
        return self.remember_many(owner, [(text, fields)], embeddings=embeddings)[0]

    def remember_many(
        self,
        owner: str,
        memories: Sequence[tuple[str, MemoryFields]],
        *,
        embeddings: Sequence[Sequence[float]] | None = None,
    ) -> list[Memory]:
        """Stores all or none, in order, embedded in batches."""
        texts = [worded(text) for text, _ in memories]
        vectors = (
            self.embedder.texts(texts)
            if embeddings is None
            else [unit(embedding, self.embedder.dimension) for embedding in embeddings]
        )
        news = [
            NewMemory(text, vector, fields) for text, (_, fields), vector in zip(texts, memories, vectors, strict=True)
        ]
        with self._writing(owner) as connection:
            made = self.repository.create_unknown(connection, owner, news, now=self.now())
            self.repository.keep_within(connection, owner, self.owner_limit, now=self.now())
        return made

    def supersede(self, owner: str, memory_id: str, text: str, **fields: Unpack[MemoryFields]) -> Memory:
        """Stores `text` in place of an older memory, which is kept as history and recalled no more.

        Raises MemoryNotFound when the older one is not there, and then nothing is stored.
        """
        new = NewMemory(worded(text), self.embedder.texts([worded(text)])[0], fields)
        with self._writing(owner) as connection:
            made = self.repository.create_unknown(connection, owner, [new], now=self.now())[0]
            if made.id == memory_id:
                return made
            changes = {"status": "superseded", "superseded_by": made.id}
            self.repository.change(connection, owner, memory_id, changes, now=self.now())
        return made

    def recall(
        self,
        owner: str,
        query: str,
        *,
        limit: int = 5,
        min_similarity: float = 0.7,
        where: Filter = EVERYTHING,
    ) -> list[Found]:
        """The memories that are about `query`, best first; [] when there is none."""
        return self.search(owner, query, limit=limit, min_relevance=min_similarity, where=where)

    def foremost(self, owner: str, *, limit: int = 5, where: Filter = EVERYTHING) -> list[Memory]:
        """With nothing to go by: the memories used or told lately, used often and held to be sure."""
        with self.database.read() as connection:
            return self.facts.foremost(connection, owner, where, limit)

    def search(
        self,
        owner: str,
        query: str,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        min_relevance: float = 0.5,
        where: Filter = EVERYTHING,
    ) -> list[Found]:
        """Searches by words, by meaning, or both; results say which of the two found them."""
        if not query.strip():
            return []
        ask = self.ask(owner, query, mode, limit=limit, min_relevance=min_relevance, where=where)
        with self.database.read() as connection:
            return self.facts.found(connection, ask)

    def ask(
        self,
        owner: str,
        question: str,
        mode: Mode = "hybrid",
        *,
        limit: int,
        min_relevance: float,
        where: Filter = EVERYTHING,
        weight: float = 1.0,
    ) -> Ask:
        """A search that is ready to run inside a read with others: see FactSearch. Raises EmbeddingUnavailable."""
        query = Query.of(
            self.embedder, question, mode, limit=limit, min_relevance=min_relevance, where=where, now=self.now()
        )
        return self.facts.ask(owner, query, weight=weight)

    def get(self, owner: str, memory_ids: Sequence[str]) -> list[Memory]:
        """In the order asked for; what the owner does not have, or has no longer, is left out.

        Raises DamagedMemory where the database has something else than what was written.
        """
        now = self.now()
        with self.database.read() as connection:
            found = self.repository.by_ids(connection, owner, memory_ids)
            there = {each.id for each in found}
            self.repository.refuse_damaged(connection, owner, [each for each in memory_ids if each not in there])
        return [
            memory
            for memory in found
            if memory.status == "active" and (memory.expires_at is None or memory.expires_at > now)
        ]

    def list_memories(
        self,
        owner: str,
        *,
        limit: int = 50,
        offset: int = 0,
        where: Filter = EVERYTHING,
        statuses: Sequence[Status] = ("active",),
        include_expired: bool = False,
    ) -> list[Memory]:
        """Newest first."""
        with self.database.read() as connection:
            return self.repository.page(
                connection,
                owner,
                where,
                statuses=statuses,
                valid_at=None if include_expired else self.now(),
                limit=limit,
                offset=offset,
            )

    def count(
        self,
        owner: str,
        *,
        where: Filter = EVERYTHING,
        statuses: Sequence[Status] = ("active",),
        include_expired: bool = False,
    ) -> int:
        """How many `list_memories` could list."""
        valid_at = None if include_expired else self.now()
        with self.database.read() as connection:
            return self.repository.count(connection, owner, where, statuses=statuses, valid_at=valid_at)

    def update(
        self,
        owner: str,
        memory_id: str,
        *,
        revision: int | None = None,
        **changes: Unpack[MemoryChanges],
    ) -> Memory:
        """Changes what is named and nothing else; `revision` is the one the decision was made upon.

        A pending memory is confirmed by `status="active"`. Raises MemoryNotFound, or StaleMemory when it has
        changed since; a forgotten memory is never revived.
        """
        written: dict[str, Any] = dict(changes)
        vector = None
        if "text" in changes:
            written["text"] = worded(changes["text"])
            vector = self.embedder.texts([written["text"]])[0]
        with self._writing(owner) as connection:
            return self.repository.change(
                connection, owner, memory_id, written, now=self.now(), revision=revision, vector=vector
            )

    def forget(self, owner: str, memory_id: str, *, revision: int | None = None) -> Memory:
        """The memory, from now on recalled no more; a damaged one without its text.

        Raises MemoryNotFound when it is not there (any more).
        """
        now = self.now()
        with self._writing(owner) as connection:
            try:
                return self.repository.change(
                    connection, owner, memory_id, {"status": "forgotten"}, now=now, revision=revision
                )
            except DamagedMemory:
                self.repository.set_status(connection, owner, [memory_id], "forgotten", now=now)
        return Memory(id=memory_id, owner=owner, text="", status="forgotten", created_at=now, updated_at=now)

    def reindex(self, owner: str, progress: Callable[[int], object] = lambda _: None) -> bool:
        """Brings the owner's vector index up to date, or makes it anew; False when the index fails.

        Raises ConfigurationError where there is none: `open_collection` was not given.
        """
        if self.index is None:
            raise ConfigurationError("there is no vector index: give MemoryService an open_collection")
        return self.index.catch_up(owner, progress)

    def large_owners(self) -> list[str]:
        """Whose memories are to be searched through the index: those above `index_after`, and the always indexed."""
        counted = select(memory.c.owner).where(memory.c.status == "active").group_by(memory.c.owner)
        with self.database.read() as connection:
            large = connection.execute(counted.having(func.count() > self._index_after)).scalars().all()
        return sorted({*large, *(self.index.names if self.index else ())})

    def close(self) -> None:
        """Ends what runs in the background, the vector store and, if it was opened here, the database."""
        self.embedder.close()
        self.background.close()
        getattr(self._open_collection, "close", lambda: None)()
        if self._own_database:
            self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _new_index(self, open_collection: OpenCollection, names: Mapping[str, str]) -> VectorIndex:
        index = VectorIndex(
            self.database,
            self.repository,
            open_collection,
            dimension=lambda: self.embedder.dimension,
            names=dict(names),
            background=self.background,
        )
        try:
            index.begin()
        except LangMemError:
            self.close()
            raise
        return index

    def _mend(self, kind: Kind, owner: str, row_id: str) -> None:
        self.background.ask(
            f"{kind} {row_id} of {owner}", functools.partial(self.missing_vectors.mend, kind, owner, row_id)
        )

    @contextlib.contextmanager
    def _writing(self, owner: str) -> Iterator[Connection]:
        """A transaction, which the collection of an owner who always has one follows at once."""
        with self.database.write() as connection:
            yield connection
        if self.index is not None and owner in self.index.names:
            self.index.follow(owner)
