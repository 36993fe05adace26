"""Every verb of long-term memory in one object: its parts are put together here; one owner at a time."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self, get_args

from langchain_core.embeddings import Embeddings

from langmem_plugin.database import Database
from langmem_plugin.database.owners_and_erasures import owner_key
from langmem_plugin.errors import ConfigurationError, InvalidInput, LangMemError, MemoryNotFound
from langmem_plugin.identifiers import OwnerKey, normalised
from langmem_plugin.memory.calls_with_timeout import BackgroundThread
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from langmem_plugin.memory.find.fact_ranking import Query
from langmem_plugin.memory.find.fact_search import Ask, FactSearch
from langmem_plugin.memory.find.message_search import MessageHistory
from langmem_plugin.memory.index.stores import OpenCollection
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.instructions.standing_instructions import StandingInstructions
from langmem_plugin.memory.keep.categories import Categories
from langmem_plugin.memory.keep.changes_and_checksums import Damages
from langmem_plugin.memory.keep.memory_repository import MemoryRepository
from langmem_plugin.memory.keep.reembedding import Reembedding
from langmem_plugin.memory.keep.retention import Retention
from langmem_plugin.memory.keep.usage_and_verdicts import UsageLog
from langmem_plugin.memory.keep.vectors import StoredVectors
from langmem_plugin.memory.memory_types import EVERYTHING, Filter, Found, Memory, Mode, Status
from langmem_plugin.memory.write.collection_adoption import CollectionAdoption
from langmem_plugin.memory.write.memory_writer import MemoryWriter
from langmem_plugin.memory.write.reconciler import Reconciler
from langmem_plugin.settings import EMBEDDING_TIMEOUT, INDEX_AFTER, OWNER_LIMIT, check_index_is_reachable
from langmem_plugin.telemetry import timed

_CACHE_BYTES = 256 * 2**20


class MemoryService:
    """Long-term memory in one database. `owner` is the caller's key of a person or of a shared scope.

    `embeddings` is any LangChain Embeddings, the offline model if none is given. What the cosines of a model mean is
    known, or found out at the first search by embedding forty sentences.
    Above `owner_limit` active memories an owner's oldest are archived. With `open_collection`, an owner above
    `index_after` memories is searched through a vector index, which holds their vectors instead of this
    process; `chroma(folder)` and `pgvector(database)` of memory/index/stores.py are such, and
    memory/index/stores.py says what another has to be. It follows the database in
    the background, and until it has, everything is compared exactly. `always_indexed` names the collections of
    owners who shall have one from the start, however few their memories: they exist once this is constructed,
    and what another application has stored in them is taken over (`adopt_collection`). The constructor
    raises ConfigurationError where one of that name has another distance or dimension, as it does where
    `index_after` is not below `owner_limit`: the index would never be used; or where everything is encrypted: it would
    hold vectors in plain.
    The verbs that write and those by session are MemoryWriter's, those that age memories Retention's, `note_…` are
    UsageLog's: they are described there.
    Whatever needs an embedding raises EmbeddingUnavailable after its retries, each try given up after
    `embedding_timeout`, or, from `close` on, at once; whatever touches the database may
    raise StoreUnavailable.
    """

    def __init__(
        self,
        database: Database | str | Path,
        *,
        embeddings: Embeddings | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        embedding_timeout: timedelta = EMBEDDING_TIMEOUT,
        sleep: Callable[[float], object] | None = None,
        cache_bytes: int = _CACHE_BYTES,
        owner_limit: int = OWNER_LIMIT,
        open_collection: OpenCollection | None = None,
        index_after: int = INDEX_AFTER,
        always_indexed: Mapping[str, str] | None = None,
    ) -> None:
        if always_indexed and open_collection is None:
            raise ConfigurationError("a collection that should always be there needs an open_collection")
        if not isinstance(owner_limit, int) or owner_limit < 1:
            raise ConfigurationError(f"owner_limit={owner_limit!r}: all would be archived at once, give 1 or more")
        if open_collection is not None:
            if isinstance(database, Database) and database.encryption.encrypts:
                raise ConfigurationError(
                    "what is stored is encrypted, and a vector index would hold vectors in plain: leave out "
                    "vector_index, and delete what it holds, or leave out the keys"
                )
            check_index_is_reachable(owner_limit, index_after)
        self.database = database if isinstance(database, Database) else Database(database)
        self._own_database = self.database is not database
        self.operations = self.database.operations
        self.now = now
        self.embedder = Embedder(embeddings or OfflineEmbeddings(), timeout=embedding_timeout, sleep=sleep)
        self.background = BackgroundThread()
        damages = Damages()
        vectors = StoredVectors(self.embedder.model, damages)
        self.repository = MemoryRepository(vectors, damages)
        self.instructions = StandingInstructions(self.database, damages, now=now)
        self.categories = Categories(self.database, damages, now=now)
        self.index = (
            None
            if open_collection is None
            else VectorIndex(
                self.database,
                vectors,
                open_collection,
                self.background,
                after=index_after,
                dimension=lambda: self.embedder.dimension,
                names={
                    OwnerKey(normalised(owner, self.database.region)): name
                    for owner, name in (always_indexed or {}).items()
                },
            )
        )
        self.reembedding = Reembedding(
            self.database, self.embedder, vectors, damages, index=self.index, background=self.background
        )
        caches = cache_bytes // 2
        self.history = MessageHistory(
            self.database, self.embedder, vectors, self.repository, damages, now=now, cache_bytes=caches
        )
        self.facts = FactSearch(self.repository, vectors, damages, self.index, cache_bytes=caches, now=now)
        self.retention = Retention(self.database, self.repository, self.index, owner_limit=owner_limit, now=now)
        self.reconciler = Reconciler(self.database, self.repository, self.facts, now=now)
        writer = self._offer_verbs_of_parts()
        adoption = CollectionAdoption(self.database, self.embedder, writer, open_collection, now=now)
        self.adopt_collection = adoption.adopt_collection
        if self.index is not None:
            try:
                adoption.adopt_at_start(self.index.names)
                self.index.begin()
            except LangMemError:
                self.close()
                raise

    def _offer_verbs_of_parts(self) -> MemoryWriter:
        database, repository, embedder = self.database, self.repository, self.embedder
        uses = UsageLog(database, repository, self.instructions, used=self.facts.corpora.note_used, now=self.now)
        self.note_access, self.note_used, self.note_viewed = uses.note_access, uses.note_used, uses.note_viewed
        writer = MemoryWriter(
            database,
            repository,
            embedder,
            self.retention,
            self.reconciler,
            uses=uses,
            facts=self.facts,
            index=self.index,
            now=self.now,
        )
        self.related, self.over = self.reconciler.related, self.reconciler.over
        self.instead_of = self.reconciler.instead_of
        self.remember, self.remember_many = writer.remember, writer.remember_many
        self.take_in = writer.take_in
        self.supersede, self.update = writer.supersede, writer.update
        self.forget, self.restore = writer.forget, writer.restore
        self.erase, self.purge = self.retention.erase, self.retention.purge
        self.create_memory = writer.create_memory
        self.get_memories_by_session = writer.get_memories_by_session
        self.query_similar_memories = writer.query_similar_memories
        self.get_all_sessions = writer.get_all_sessions
        self.collection_exists = writer.collection_exists
        self.get_collection_size = writer.get_collection_size
        self.delete_collection = writer.delete_collection
        self.collection_dropped_at = writer.collection_dropped_at
        return writer

    def recall(
        self,
        owner: str | int,
        query: str,
        *,
        limit: int = 5,
        min_similarity: float = 0.7,
    ) -> list[Found]:
        """Return the memories that are about `query`, best first; [] when there is none."""
        return self.search(owner, query, limit=limit, min_relevance=min_similarity)

    def foremost(self, owner: str | int, *, limit: int = 5) -> list[Memory]:
        """Return memories without a question: those used or told lately, used often and held to be sure."""
        owner = owner_key(self.database, owner)
        with self.database.read() as connection:
            return self.facts.foremost(connection, owner, limit)

    @timed("search")
    def search(
        self,
        owner: str | int,
        query: str,
        *,
        mode: Mode = "hybrid",
        limit: int = 10,
        min_relevance: float = 0.5,
        where: Filter = EVERYTHING,
    ) -> list[Found]:
        """Search by words, by meaning, or both; results say which of the two found them.

        Words are looked for in the text and in tags, key, summary and category. By words alone, whatever has one of
        them is found, and nothing else: `min_relevance` does not count.
        """
        if not isinstance(query, str) or mode not in get_args(Mode) or not isinstance(min_relevance, int | float):
            raise InvalidInput(
                f"search(owner, text): mode is one of {get_args(Mode)}, min_relevance a number from 0 to 1"
            )
        if not query.strip():
            return []
        ask = self.ask(owner, query, mode, limit=limit, min_relevance=min_relevance, where=where)
        with self.database.read() as connection:
            return self.facts.best_of(connection, [ask], limit)

    def ask(
        self,
        owner: str | int,
        question: str,
        mode: Mode = "hybrid",
        *,
        limit: int,
        min_relevance: float,
        where: Filter = EVERYTHING,
    ) -> Ask:
        """Return a search, ready to run inside a read with others: see FactSearch. Raises EmbeddingUnavailable."""
        owner = owner_key(self.database, owner)
        least = 1e-6 if mode == "text" else min_relevance
        query = Query.of(self.embedder, question, mode, limit=limit, min_relevance=least, now=self.now(), where=where)
        return self.facts.ask(owner, query)

    def get(self, owner: str | int, memory_ids: Sequence[str]) -> list[Memory]:
        """Return the memories in the order asked for; what the owner does not have, or has no longer, is left out.

        Raises DamagedMemory where the database has something else than what was written.
        """
        owner = owner_key(self.database, owner)
        now = self.now()
        with self.database.read() as connection:
            found = self.repository.by_ids(connection, owner, memory_ids)
            there = {each.id for each in found}
            self.repository.refuse_damaged(connection, owner, [each for each in memory_ids if each not in there])
        return [memory for memory in found if memory.status == "active" and not memory.has_expired(now)]

    def fact_history(self, owner: str | int, memory_id: str) -> list[Memory]:
        """Return all the memories that one is linked with by corrections, each once, the oldest first,
        in whatever state.

        Raises MemoryNotFound or DamagedMemory.
        """
        owner = owner_key(self.database, owner)
        found: dict[str, Memory] = {}
        looking = [memory_id]
        with self.database.read() as connection:
            while looking and (these := self.repository.by_ids(connection, owner, looking)):
                found |= {each.id: each for each in these}
                linked = [
                    *(each.superseded_by for each in these if each.superseded_by),
                    *(older.id for each in these for older in self.repository.replaced_by(connection, owner, each.id)),
                ]
                looking = [each for each in dict.fromkeys(linked) if each not in found]
            self.repository.refuse_damaged(connection, owner, [] if found else [memory_id])
        if not found:
            raise MemoryNotFound(f"there is no memory {memory_id}: list the memories for their ids")
        return sorted(found.values(), key=lambda each: (each.told_at, each.created_at, each.superseded_by is None))

    def list_memories(
        self,
        owner: str | int,
        *,
        limit: int = 50,
        offset: int = 0,
        where: Filter = EVERYTHING,
        statuses: Sequence[Status] = ("active",),
        include_expired: bool = False,
        after: str | None = None,
    ) -> list[Memory]:
        """Return memories, newest first; with `after` from behind the memory with that id."""
        owner = owner_key(self.database, owner)
        with self.database.read() as connection:
            return self.repository.page(
                connection,
                owner,
                where,
                statuses=statuses,
                valid_at=None if include_expired else self.now(),
                limit=limit,
                offset=offset,
                after=after,
            )

    def count(
        self,
        owner: str | int,
        *,
        where: Filter = EVERYTHING,
        statuses: Sequence[Status] = ("active",),
        include_expired: bool = False,
    ) -> int:
        """Count the memories that `list_memories` could list."""
        owner = owner_key(self.database, owner)
        valid_at = None if include_expired else self.now()
        with self.database.read() as connection:
            return self.repository.count(connection, owner, where, statuses=statuses, valid_at=valid_at)

    def reindex(self, owner: str | int, progress: Callable[[int], object] = lambda _: None) -> bool:
        """Bring the owner's vector index up to date, or make it anew; False when the index fails.

        Raises ConfigurationError where there is none: `open_collection` was not given.
        """
        owner = owner_key(self.database, owner)
        if self.index is None:
            raise ConfigurationError("there is no vector index: give MemoryService an open_collection")
        return self.index.catch_up(owner, progress)

    def close(self) -> None:
        """End what runs in the background, the vector store and, if it was opened here, the database."""
        self.embedder.close()
        self.background.close()
        if self.index is not None:
            self.index.close()
        if self._own_database:
            self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
