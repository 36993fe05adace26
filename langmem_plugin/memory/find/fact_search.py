"""Search in one owner's memories: exactly, or through the vector index of an owner who has very many."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Connection, Text, bindparam, or_, select, type_coerce

from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.find.corpus_cache import Corpus, CorpusCache, Entry, best
from langmem_plugin.memory.find.fact_ranking import Hit, Query, foremost, ranked
from langmem_plugin.memory.find.tokenizer import asked
from langmem_plugin.memory.index.vector_index import Nearest, VectorIndex
from langmem_plugin.memory.keep.changes_and_checksums import Damages, OwnerStates, each_row, microseconds
from langmem_plugin.memory.keep.memory_filters import matching
from langmem_plugin.memory.keep.memory_repository import MemoryRepository
from langmem_plugin.memory.keep.memory_row_mapping import Searched, searched
from langmem_plugin.memory.keep.vectors import StoredVectors, vector_columns
from langmem_plugin.memory.memory_types import EVERYTHING, Filter, Found, Memory

_CANDIDATES = 100  # candidates of a search through an index


@dataclass(frozen=True)
class Ask:
    """One question to one owner's memories, embedded, with the index's answer."""

    owner: OwnerKey
    query: Query
    nearest: Nearest | None
    weight: float = 1.0  # the weight of its answers among those of other questions


class FactSearch:
    """The search: it asks the index outside of any transaction, and the database within the caller's.

    A vector store may be slow or hang, and whoever holds a transaction keeps others waiting. `corpora` are what this
    process holds of the owners.
    """

    def __init__(
        self,
        repository: MemoryRepository,
        vectors: StoredVectors,
        damages: Damages,
        index: VectorIndex | None,
        *,
        cache_bytes: int,
        now: Callable[[], datetime],
    ) -> None:
        self._repository = repository
        self._vectors = vectors
        self._damages = damages
        self._index = index
        self._now = now
        self.corpora = CorpusCache(self._changed, limit=cache_bytes)

    def ask(self, owner: OwnerKey, query: Query, *, weight: float = 1.0) -> Ask:
        """Return a question with the index's answer. Call this outside of a transaction."""
        return Ask(owner, query, self._nearest(owner, query), weight)

    def best_of(
        self,
        connection: Connection,
        asks: Sequence[Ask],
        limit: int,
        states: OwnerStates | None = None,
    ) -> list[Found]:
        """Return the answers to several questions, best weighed score first; each memory once. `states` as in
        CorpusCache.
        """
        best: dict[str, Found] = {}
        for owner in dict.fromkeys(ask.owner for ask in asks if states is None or ask.owner in states):
            of_owner = [ask for ask in asks if ask.owner == owner]
            for ask, each in self._answers(connection, owner, of_owner, states):
                found = replace(each, score=ask.weight * each.score)
                if each.memory.id not in best or best[each.memory.id].score < found.score:
                    best[each.memory.id] = found
        return sorted(best.values(), key=lambda each: each.score, reverse=True)[: max(limit, 0)]

    def _answers(
        self,
        connection: Connection,
        owner: OwnerKey,
        asks: Sequence[Ask],
        states: OwnerStates | None = None,
    ) -> list[tuple[Ask, Found]]:
        filters = {id(ask.query.where): ask.query.where for ask in asks}  # the questions of a scope share its filter
        among = {name: _among(connection, owner, where) for name, where in filters.items()}
        asks = [replace(ask, query=replace(ask.query, among=among[id(ask.query.where)])) for ask in asks]

        def rank(corpus: Corpus) -> dict[str, list[tuple[Ask, Hit]]]:
            hits: dict[str, list[tuple[Ask, Hit]]] = {}
            for ask in asks:
                for hit in ranked(corpus, ask.query, self._cosines(connection, ask, corpus)):
                    hits.setdefault(hit.id, []).append((ask, hit))
            return hits

        answers = self.corpora.answers(connection, owner, rank, self._reading(connection, owner), states)
        return [
            (ask, Found(fact, hit.score, hit.similarity, hit.match_type, hit.signals))
            for hits, fact in answers
            for ask, hit in hits
        ]

    def foremost(self, connection: Connection, owner: OwnerKey, limit: int) -> list[Memory]:
        """Return the memories used or told lately, used often and held to be sure."""

        def rank(corpus: Corpus) -> dict[str, None]:
            return dict.fromkeys(foremost(corpus, self._now(), limit))

        found = self.corpora.answers(connection, owner, rank, self._reading(connection, owner))
        return [fact for _, fact in found]

    def _changed(self, connection: Connection, owner: OwnerKey, since: int) -> Iterable[tuple[str, Entry | None]]:
        """Return the memories written after change `since`, the oldest first; None for one that is not active."""
        asked = {"of_owner": owner, "of_model": self._vectors.model, "since": since}
        encryption = encryption_of(connection)
        for status, memory_id, sealed, text, category, tags, key, summary, slot, vector, checksum, *rest in each_row(
            connection, _CHANGED, asked
        ):
            if status != "active":
                yield memory_id, None
                continue
            whole = self._vectors.whole(encryption, "memory vector", owner, memory_id, (vector, checksum))
            written = (text, category, tags, key, summary, slot)
            words = searched(encryption, owner, memory_id, written, sealed)
            if words is not None and (entry := _entry(memory_id, words, whole, *rest)).can_be_searched:
                yield memory_id, entry
            else:
                self._damages.report("memory", owner, memory_id)

    def _reading(self, connection: Connection, owner: OwnerKey) -> Callable[[list[str]], dict[str, Memory]]:
        return lambda memory_ids: {each.id: each for each in self._repository.by_ids(connection, owner, memory_ids)}

    def _nearest(self, owner: OwnerKey, query: Query) -> Nearest | None:
        """Ask the index for the nearest; not for few memories, nor with a filter: a filter after the choice
        would lose some.
        """
        if self._index is None or query.meaning is None or query.where != EVERYTHING:
            return None
        if self.corpora.held(owner) <= self._index.after:  # the first search of a process reads every vector anyway
            return None
        return self._index.nearest(owner, query.meaning.vector, _candidates(query))

    def _cosines(self, connection: Connection, ask: Ask, corpus: Corpus) -> list[tuple[str, float]]:
        """Return the exact cosines that are known, by id; empty where the corpus holds the vectors itself."""
        query = ask.query
        if query.meaning is None:
            return []
        if ask.nearest is not None and self._index is not None and corpus.live > self._index.after:
            memory_ids = self._index.brought_up_to_date(connection, ask.owner, ask.nearest)
            if memory_ids is not None:
                corpus.release_vectors()
                return self._vectors.cosines(connection, ask.owner, query.meaning.vector, memory_ids)
        if corpus.holds_vectors:
            return []
        found = self._repository.query_similar_by_embedding(
            connection, ask.owner, query.meaning.vector, where=query.where, valid_at=query.now, limit=_candidates(query)
        )
        return [(each.id, cosine) for each, cosine in found]


_SINCE = bindparam("since", type_=memory.c.change.type)
_CHANGED = (
    select(
        memory.c.status,
        memory.c.memory_id,
        memory.c.sealed,
        memory.c.text,
        memory.c.category,
        type_coerce(memory.c.tags, Text),
        memory.c.key,
        memory.c.summary_text,
        memory.c.slot,
        *vector_columns(bindparam("of_model"), memory),
        type_coerce(memory.c.created_at, BigInteger),
        memory.c.confidence,
        memory.c.access_count,
        type_coerce(memory.c.last_accessed, BigInteger),
        type_coerce(memory.c.expires_at, BigInteger),
    )
    .where(
        memory.c.owner == bindparam("of_owner"), memory.c.change > _SINCE, or_(memory.c.status == "active", _SINCE > 0)
    )
    .order_by(memory.c.created_at, memory.c.position)
)


def sharing_words(corpus: Corpus, text: str, limit: int, now: datetime) -> list[str]:
    """Return the ids of memories that share words with a text: most first, and of those as near the newest."""
    scores, _ = corpus.words.scores(corpus.words.known(asked(text)))
    rows = np.flatnonzero(scores)[::-1]
    rows = rows[corpus.fitting(now)[rows]]
    return [corpus.ids[rows[at]] for at in best(scores[rows], np.ones(len(rows), np.bool_), limit)]


def entry_of(fact: Memory) -> Entry:
    """Return a memory that is about to be stored as one to be searched."""
    words = (fact.text, fact.category, "\n".join(fact.tags), fact.key, fact.summary_text, fact.slot)
    expires = None if fact.expires_at is None else microseconds(fact.expires_at)
    return _entry(fact.id, words, None, microseconds(fact.created_at), fact.confidence, 0, None, expires)


def _entry(memory_id: str, words: Searched, vector: bytes | None, created: int, *counted: Any) -> Entry:
    text, *beside, slot = words
    return Entry(memory_id, text, vector, created, tuple(beside), slot, *counted)


def _among(connection: Connection, owner: OwnerKey, where: Filter) -> Sequence[str] | None:
    """Return the ids of the memories that a filter lets through; None for everything."""
    if where == EVERYTHING:
        return None
    ids = select(memory.c.memory_id).where(*matching(connection, owner, where, ("active",), None))
    return connection.execute(ids).scalars().all()


def _candidates(query: Query) -> int:
    return max(_CANDIDATES, 10 * query.limit)
