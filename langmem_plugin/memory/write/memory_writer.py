"""The writer of memories, which are embedded first and then stored in one transaction; also of those of a session."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from operator import itemgetter
from typing import Any, Unpack

from sqlalchemy import Connection, func, select

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.owners_and_erasures import erasures_seen, owner_key, refuse_erased
from langmem_plugin.errors import DamagedMemory, InvalidInput, MemoryNotFound
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.find.fact_ranking import Meaning, Query
from langmem_plugin.memory.find.fact_search import FactSearch
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.keep.changes_and_checksums import begin_change
from langmem_plugin.memory.keep.memory_filters import matching
from langmem_plugin.memory.keep.memory_repository import Advice, MemoryRepository, NewMemory
from langmem_plugin.memory.keep.retention import Retention
from langmem_plugin.memory.keep.usage_and_verdicts import UsageLog
from langmem_plugin.memory.keep.vectors import Vector, unit
from langmem_plugin.memory.memory_types import (
    EVERYTHING,
    LIVE,
    OVER,
    EntryFields,
    Filter,
    Found,
    Memory,
    MemoryChanges,
    MemoryFields,
    Remembered,
    plain,
    storable,
    worded,
)
from langmem_plugin.memory.write.reconciler import Reconciler, remembered
from langmem_plugin.memory.write.reconciliation_rules import statement_in
from langmem_plugin.telemetry import timed


class MemoryWriter:
    """The writer of memories: every verb writes for one owner, all or nothing.

    The verbs of sessions are for operators. With an `owner` one is about that owner's part of the session; without an
    owner it is about all of the session, whoever stored it: such a verb crosses owners, and is never for a person's
    request. What is stored by session alone belongs to an owner of the session's name. Every one raises InvalidInput
    for a session without a name.
    """

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        embedder: Embedder,
        retention: Retention,
        reconciler: Reconciler,
        *,
        uses: UsageLog,
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
        self._uses = uses
        self._facts = facts
        self._index = index
        self._now = now

    @timed("store")
    def remember(
        self,
        owner: str | int,
        text: str,
        *,
        embedding: Sequence[float] | None = None,
        advice: Advice | None = None,
        **fields: Unpack[MemoryFields],
    ) -> Remembered:
        """Store `text`, unless it says what is known; return what happened. What it corrects is kept as history.

        `said_at` is when the person said it, now if it is not given: what was said later wins, and what was said
        before it was corrected or forgotten does not come back. Where the rules cannot tell, `advice`
        of a model counts as far as `advised` lets it. Raises InvalidInput for an empty text or a wrong field,
        EmbeddingDimMismatchError for an `embedding` of another dimension.
        """
        owner = owner_key(self._database, owner)
        embeddings = None if embedding is None else [embedding]
        return self._stored(owner, [(text, fields)], embeddings, advice)[0]

    def remember_many(
        self,
        owner: str | int,
        memories: Sequence[tuple[str, MemoryFields]],
        *,
        embeddings: Sequence[Sequence[float]] | None = None,
    ) -> list[Remembered]:
        """Remember many texts, all or none, in order, embedded in batches."""
        owner = owner_key(self._database, owner)
        return self._stored(owner, memories, embeddings, None)

    def _stored(
        self,
        owner: OwnerKey,
        memories: Sequence[tuple[str, MemoryFields]],
        embeddings: Sequence[Sequence[float]] | None,
        advice: Advice | None,
    ) -> list[Remembered]:
        seen = erasures_seen(self._database)
        texts = [worded(text) for text, _ in memories]
        now = self._now()
        stated = [statement_in(text, fields, now) for text, (_, fields) in zip(texts, memories, strict=True)]
        vectors = self._embedder.texts(texts) if embeddings is None else list(map(self._unit, embeddings))
        news = [
            NewMemory(text, vector, fields, advice=advice, statement=statement)
            for text, (_, fields), vector, statement in zip(texts, memories, vectors, stated, strict=True)
        ]
        return self.store(owner, news, seen)

    def store(self, owner: OwnerKey, news: Sequence[NewMemory], seen: int | None = None) -> list[Remembered]:
        """Store what is ready to be stored, all or none; with `seen`, unless the owner was erased since then."""
        nearest = self._reconciler.nearest(owner, news)
        with self._writing(owner, seen) as connection:
            made = self._reconciler.store(connection, owner, news, nearest)
            self._retention.keep_within(connection, owner)
        return made

    def take_in(self, owner: str | int, memories: Sequence[Memory]) -> list[Memory]:
        """Store memories of another database as they are, with ids, dates, states and counters, in order;
        return those stored.

        A memory that the owner has under the same id stays as it is, and nothing is weighed against anything.
        """
        owner = owner_key(self._database, owner)
        with self._database.read() as connection:
            there = self._repository.ids_there(connection, owner, [each.id for each in memories])
        new = [each.model_copy(update={"owner": owner}) for each in memories if each.id not in there]
        vectors = self._embedder.texts([each.text for each in new])
        with self._writing(owner) as connection:
            there = self._repository.ids_there(connection, owner, [each.id for each in new])  # by now
            drafts = [(each, vector) for each, vector in zip(new, vectors, strict=True) if each.id not in there]
            made = self._repository.insert(connection, owner, drafts)
            self._retention.keep_within(connection, owner)
        return made

    @timed("change")
    def supersede(self, owner: str | int, memory_id: str, text: str, **fields: Unpack[MemoryFields]) -> Remembered:
        """Store `text` in place of an older memory, which is kept as history and recalled no more.

        Where `said_at` says that it is older itself, it is the history; a text that was corrected or forgotten after it
        was said replaces nothing; one that waits for the person's word (`status="pending"`) replaces it when that is
        given. Raises MemoryNotFound when the older one is not there, and then nothing is stored.
        """
        owner = owner_key(self._database, owner)
        seen = erasures_seen(self._database)
        new = NewMemory(worded(text), self._embedder.texts([worded(text)])[0], fields)
        with self._writing(owner, seen) as connection:
            made = self._reconciler.replace(connection, owner, memory_id, new)
            if made.id != memory_id:
                self._uses.note_look(connection, owner, memory_id, "edited")
        return made

    @timed("change")
    def update(
        self,
        owner: str | int,
        memory_id: str,
        *,
        revision: int | None = None,
        by: str | None = None,
        **changes: Unpack[MemoryChanges],
    ) -> Remembered:
        """Change what is named and nothing else; `revision` is the one the decision was made upon.

        The old text is kept as history, with the words of the person that it rested on; what a named value said is not,
        nor what waited for the person's word. `by` is the `source_id` of a new text, where the person did not write it
        themselves. A pending memory is confirmed by `status="active"`, and then replaces what it corrects. Raises
        MemoryNotFound, or StaleMemory when it has changed since; a forgotten memory is never revived.
        """
        owner = owner_key(self._database, owner)
        seen, now = erasures_seen(self._database), self._now()
        written: dict[str, Any] = dict(changes)
        vector = None
        if "text" in changes:
            written["text"] = worded(changes["text"])
            vector = self._embedder.texts([written["text"]])[0]
        with self._writing(owner, seen) as connection:
            begin_change(connection, owner, 0)  # from here on nobody else's change comes before this one
            held = self._repository.by_id(connection, owner, memory_id)
            is_reworded = held is not None and "text" in written and plain(held.text) != plain(written["text"])
            if is_reworded:
                written = {"source_id": by, "said_at": now} | written
            if is_reworded and held is not None and held.status == "active" and held.key is None:
                made = self._reconciler.rewritten(connection, held, written, vector=vector, revision=revision)
            else:
                changed = self._repository.change(
                    connection, owner, memory_id, written, now=now, revision=revision, vector=vector
                )
                waited = held is not None and held.status == "pending" and changed.status == "active"
                made = self._reconciler.confirmed(connection, changed) if waited else remembered(changed, "changed")
            if changes.keys() - {"status"}:  # a decision whether to remember it is no edit
                self._uses.note_look(connection, owner, memory_id, "edited")
        return made

    @timed("forget")
    def forget(self, owner: str | int, memory_id: str, *, revision: int | None = None) -> Memory:
        """Forget the memory: it is recalled no more. Return it, a damaged one without its text.

        Raises MemoryNotFound when it is not there (any more).
        """
        owner = owner_key(self._database, owner)
        now = self._now()
        with self._writing(owner) as connection:
            try:
                return self._repository.change(
                    connection, owner, memory_id, {"status": "forgotten"}, now=now, revision=revision
                )
            except DamagedMemory:
                self._repository.set_status(connection, owner, [memory_id], "forgotten", now=now)
        return Memory(id=memory_id, owner=owner, text="", status="forgotten", created_at=now, updated_at=now)

    def restore(self, owner: str | int, memory_id: str, *, unless_replaced: bool = False) -> Memory:
        """Make a forgotten, archived or superseded memory active again, in place of what contradicts it.

        With `unless_replaced` it stays as it is where the person has told what is in its place now. Raises
        MemoryNotFound then, or if it is none of these.
        """
        owner, now = owner_key(self._database, owner), self._now()
        changes: dict[str, Any] = {"status": "active", "superseded_by": None}
        with self._writing(owner) as connection:
            held = self._repository.by_id(connection, owner, memory_id)
            if held is not None and held.status == "superseded" and held.valid_to is not None and held.valid_to <= now:
                changes["valid_to"] = None  # it held until it was corrected, and holds again
            memory = self._repository.change(connection, owner, memory_id, changes, now=now, statuses=OVER)
            if not unless_replaced:
                self._reconciler.restored(connection, memory)
            elif self._reconciler.is_replaced(connection, memory):
                raise MemoryNotFound(f"memory {memory_id} stays as it is: something newer is in its place")
        return memory

    @contextlib.contextmanager
    def _writing(self, owner: OwnerKey, seen: int | None = None) -> Iterator[Connection]:
        """Give a transaction; where it is given up, what was searched meanwhile is forgotten. The collection of an
        owner who always has one follows at once.

        With `seen`, the owner must not have been erased since then; a change of a memory in its place needs no `seen`.
        """
        try:
            with self._database.write() as connection:
                yield connection
                if seen is not None:
                    refuse_erased(connection, owner, seen)
        except BaseException:
            self._facts.corpora.forget(owner)
            raise
        self._follow(owner)

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
        """Store one entry of the session, also when it has the same text already; embedded if need be.

        It replaces what it corrects; what was corrected or forgotten after its `said_at` is stored as such at once.
        Raises EmbeddingDimMismatchError for another dimension, ValueError for values that are not finite.
        """
        owner = self._of_session(owner, session_id)
        seen = erasures_seen(self._database)
        text = worded(text)
        vector = self._embedder.texts([text])[0] if embedding is None else self._unit(embedding)
        entry = dict(fields) | {"session_id": session_id, "summary_text": summary_text}
        whose = OwnerKey(session_id) if owner is None else owner
        with self._writing(whose, seen) as connection:
            made = self._reconciler.store_entry(connection, whose, NewMemory(text, vector, entry))
            self._retention.keep_within(connection, whose)
        return made

    def get_memories_by_session(
        self, session_id: str, limit: int | None = None, *, owner: str | int | None = None
    ) -> list[Memory]:
        """Return the memories of a session, oldest first, at most `limit`."""
        owner = self._of_session(owner, session_id)
        most = None if limit is None else max(_count(limit), 0)
        with self._database.read() as connection:
            return self._repository.page(
                connection, owner, _of(session_id), valid_at=self._now(), limit=most, oldest_first=True
            )

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
        """Return the memories nearest to a text or an embedding, best first: of one session, of an owner, or of both.

        Raises EmbeddingDimMismatchError or ValueError for an embedding that cannot be compared.
        """
        if session_id is None and owner is None:
            raise InvalidInput("name the session or the owner whose memories to compare with")
        owner = self._key(owner) if session_id is None else self._of_session(owner, session_id)
        if query is None or (isinstance(query, str) and not query.strip()):
            raise InvalidInput("pass a text that is not blank, or an embedding, to compare with")
        vector = self._embedder.query(storable(query)) if isinstance(query, str) else self._unit(query)
        most, now = max(_count(limit), 0), self._now()
        where = EVERYTHING if session_id is None else _of(session_id)
        query_of = Query("", Meaning(vector, self._embedder.calibration), "semantic", most, 0.0, where, now)
        owners = self._owners_in(where) if owner is None else [owner]
        asks = [self._facts.ask(each, query_of) for each in owners]
        with self._database.read() as connection:
            hits = [hit for ask in asks for hit in self._facts.best_of(connection, [ask], most)]  # two may have one id
        nearest = sorted(((hit.memory, hit.signals["cosine"]) for hit in hits), key=itemgetter(1), reverse=True)[:most]
        relevance = self._embedder.calibration.relevance
        found = [Found(each, cosine, relevance(cosine), "semantic", {"cosine": cosine}) for each, cosine in nearest]
        return [each for each in found if each.similarity >= min_similarity]

    def get_all_sessions(self, *, owner: str | int | None = None) -> list[str]:
        """Return every session that has memories, of one owner or of all: those of which
        `collection_exists` is true.
        """
        owner = self._key(owner)
        with self._database.read() as connection:
            active = matching(connection, owner, EVERYTHING, ("active",), self._now())
            statement = select(memory.c.session_id).where(memory.c.session_id.is_not(None), *active)
            sessions = connection.execute(statement.distinct().order_by(memory.c.session_id)).scalars()
            return [each for each in sessions if each.strip()]

    def collection_exists(self, name: str, *, owner: str | int | None = None) -> bool:
        """Tell whether the session has memories."""
        return self.get_collection_size(name, owner=owner) > 0

    def get_collection_size(self, name: str, *, owner: str | int | None = None) -> int:
        """Return how many memories the session has."""
        owner = self._of_session(owner, name)
        with self._database.read() as connection:
            return self._size(connection, name, owner)

    def delete_collection(self, name: str, *, owner: str | int | None = None) -> int:
        """Forget every memory of the session, which marks it as dropped, and return how many there were.

        Memories that wait for a person's word or have expired go, and count, as well.
        """
        owner = self._of_session(owner, name)
        now = self._now()
        with self._database.write(patience=BULK_WORK) as connection:
            of_session = matching(connection, owner, _of(name), LIVE, None)
            # Always in this order: two who drop at once would otherwise wait for each other.
            rows = connection.execute(
                select(memory.c.owner, memory.c.memory_id).where(*of_session).order_by(memory.c.owner)
            ).all()
            held: dict[OwnerKey, list[str]] = {}
            for row in rows:
                held.setdefault(row.owner, []).append(row.memory_id)
            dropped = sum(
                self._repository.set_status(connection, whose, memory_ids, "forgotten", now=now)
                for whose, memory_ids in held.items()
            )
        for whose in held:
            self._follow(whose)
        return dropped

    def collection_dropped_at(self, name: str, *, owner: str | int | None = None) -> datetime | None:
        """Return when the last memory of the session was forgotten; None where it has memories, or none of those that
        were forgotten is left.
        """
        owner = self._of_session(owner, name)
        with self._database.read() as connection:
            forgotten = matching(connection, owner, _of(name), ("forgotten",), None)
            last: datetime | None = connection.execute(select(func.max(memory.c.updated_at)).where(*forgotten)).scalar()
            return None if self._size(connection, name, owner) else last

    def _owners_in(self, where: Filter) -> list[OwnerKey]:
        with self._database.read() as connection:
            fitting = matching(connection, None, where, ("active",), self._now())
            return list(connection.execute(select(memory.c.owner).where(*fitting).distinct()).scalars())

    def _size(self, connection: Connection, session_id: str, owner: OwnerKey | None) -> int:
        return self._repository.count(connection, owner, _of(session_id), valid_at=self._now())

    def _follow(self, owner: OwnerKey) -> None:
        """Bring the collection of an owner who always has one up to date now, not only when they are next asked for."""
        if self._index is not None and owner in self._index.names:
            self._database.when_over(partial(self._index.follow, owner))

    def _key(self, owner: str | int | None) -> OwnerKey | None:
        return None if owner is None else owner_key(self._database, owner)

    def _of_session(self, owner: str | int | None, session_id: str) -> OwnerKey | None:
        key = self._key(owner)
        if not isinstance(session_id, str) or not session_id.strip():
            raise InvalidInput("a session is needed: pass its id, a text that is not blank")
        return key

    def _unit(self, embedding: Sequence[float]) -> Vector:
        return unit(embedding, self._embedder.dimension)


def _of(session_id: str) -> Filter:
    return Filter(sessions=[session_id])


def _count(limit: int) -> int:
    if not isinstance(limit, int):
        raise InvalidInput(f"a limit of {limit!r}: pass a whole number")
    return limit
