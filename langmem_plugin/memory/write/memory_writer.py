"""How memories are written: embedded first, outside of any transaction, then stored or changed in one."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Unpack

from sqlalchemy import Connection

from langmem_plugin.database import Database
from langmem_plugin.database.erased_keys import erasures_seen, refuse_erased
from langmem_plugin.database.owners import owner_key
from langmem_plugin.errors import DamagedMemory, MemoryNotFound
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.embedding.embedder import Embedder, unit
from langmem_plugin.memory.index.vector_index import VectorIndex
from langmem_plugin.memory.keep.repository import Advice, MemoryRepository, NewMemory
from langmem_plugin.memory.keep.retention import Retention
from langmem_plugin.memory.keep.rows import begin_change
from langmem_plugin.memory.keep.usage_log import UsageLog
from langmem_plugin.memory.models import OVER, Memory, MemoryChanges, MemoryFields, Remembered, Status, plain, worded
from langmem_plugin.memory.write.reconciler import Reconciler, Related, remembered
from langmem_plugin.operation_timing import timed


class MemoryWriter:
    """Every verb writes for one owner, all or nothing."""

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        embedder: Embedder,
        retention: Retention,
        reconciler: Reconciler,
        *,
        uses: UsageLog,
        index: VectorIndex | None,
        learn: Callable[[Connection, Memory], object],
        now: Callable[[], datetime],
    ) -> None:
        self.operations = database.operations
        self._database = database
        self._repository = repository
        self._embedder = embedder
        self._retention = retention
        self._reconciler = reconciler
        self._uses = uses
        self._index = index
        self._learn = learn
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
        """Stores `text`, unless it says what is known, and says what happened; what it corrects is kept as history.

        `said_at` is when the person said it, now if it is not given: what was said later wins, and what was said
        before it was corrected or forgotten does not come back. Where the rules cannot tell, `advice`
        of a model counts as far as advice.py lets it. Raises InvalidInput for an empty text or a wrong field,
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
        """The same for many, all or none, in order, embedded in batches."""
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
        vectors = (
            self._embedder.texts(texts)
            if embeddings is None
            else [unit(embedding, self._embedder.dimension) for embedding in embeddings]
        )
        news = [
            NewMemory(text, vector, fields, advice=advice)
            for text, (_, fields), vector in zip(texts, memories, vectors, strict=True)
        ]
        nearest = self._reconciler.nearest(owner, news)
        with self._writing(owner, seen) as connection:
            made = self._reconciler.store(connection, owner, news, nearest)
            for each in made:
                if each.outcome != "duplicate":
                    self._learn(connection, each)
            self._retention.keep_within(connection, owner)
        return made

    def take_in(self, owner: str | int, memories: Sequence[Memory]) -> list[Memory]:
        """Stores memories of another database as they are, with their ids, dates, states and counters, in order; those
        that were stored. What the owner has under the same id stays as it is, and nothing is weighed against anything.
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

    def related(self, owner: str | int, text: str, *, limit: int = 5) -> list[Related]:
        """The memories that a text concerns, with what remembering it would do to each and why; stores nothing."""
        owner = owner_key(self._database, owner)
        text = worded(text)
        return self._reconciler.related(owner, text, self._embedder.texts([text])[0], limit=limit)

    def over(self, owner: str | int, text: str) -> Memory | None:
        """The corrected or forgotten memory that says the same as `text`; None where that is remembered."""
        owner = owner_key(self._database, owner)
        return self._reconciler.over(owner, worded(text))

    def instead_of(self, memory: Memory) -> Memory | None:
        """The memory in place of one that was corrected, where that is known and holds."""
        seen: set[str] = set()
        with self._database.read() as connection:
            while memory.status == "superseded" and memory.superseded_by is not None and memory.id not in seen:
                seen.add(memory.id)
                found = self._repository.by_ids(connection, memory.owner, [memory.superseded_by])
                if not found:
                    return None
                memory = found[0]
        return memory if memory.status == "active" else None

    @timed("change")
    def supersede(self, owner: str | int, memory_id: str, text: str, **fields: Unpack[MemoryFields]) -> Remembered:
        """Stores `text` in place of an older memory, which is kept as history and recalled no more.

        Where `said_at` says that it is older itself, it is the history, and what was corrected or forgotten after it
        was said replaces nothing; what waits for the person's word (`status="pending"`) replaces it when that is given.
        Raises MemoryNotFound when the older one is not there, and then nothing is stored.
        """
        owner = owner_key(self._database, owner)
        seen = erasures_seen(self._database)
        new = NewMemory(worded(text), self._embedder.texts([worded(text)])[0], fields)
        with self._writing(owner, seen) as connection:
            made = self._reconciler.replace(connection, owner, memory_id, new)
            if made.id != memory_id:
                self._uses.note_look(connection, owner, memory_id, "edited")
            self._learn(connection, made)
        return made

    @timed("change")
    def update(
        self,
        owner: str | int,
        memory_id: str,
        *,
        revision: int | None = None,
        **changes: Unpack[MemoryChanges],
    ) -> Remembered:
        """Changes what is named and nothing else; `revision` is the one the decision was made upon.

        A pending memory is confirmed by `status="active"`, and then replaces what it corrects. Raises MemoryNotFound,
        or StaleMemory when it has changed since; a forgotten memory is never revived.
        """
        owner = owner_key(self._database, owner)
        written: dict[str, Any] = dict(changes)
        vector = None
        if "text" in changes:
            written["text"] = worded(changes["text"])
            vector = self._embedder.texts([written["text"]])[0]
        with self._writing(owner) as connection:
            waited = changes.get("status") == "active" and self._waits(connection, owner, memory_id)
            changed = self._repository.change(
                connection, owner, memory_id, written, now=self._now(), revision=revision, vector=vector
            )
            if changes.keys() - {"status"}:  # a word on whether to remember it is no edit
                self._uses.note_look(connection, owner, memory_id, "edited")
            if "text" in changes:
                self._learn(connection, changed)
            return self._reconciler.confirmed(connection, changed) if waited else remembered(changed, "changed")

    @timed("change")
    def correct(
        self,
        owner: str | int,
        memory_id: str,
        *,
        revision: int | None = None,
        by: str | None = None,
        **changes: Unpack[MemoryChanges],
    ) -> Remembered:
        """Changes what is named, as whoever reads a memory puts it right; what it said until then is kept as history,
        with the words of the person that it rested on.

        `by` is the `source_id` of a new text, where the person did not write it themselves. What a named value said is
        not kept, nor what waited for the person's word. Raises as `update`.
        """
        owner = owner_key(self._database, owner)
        if "text" not in changes:
            return self.update(owner, memory_id, revision=revision, **changes)
        seen, text = erasures_seen(self._database), worded(changes["text"])
        vector = self._embedder.texts([text])[0]
        with self._writing(owner, seen) as connection:
            begin_change(connection, owner, 0)  # from here on nobody else's change comes before this one
            held = self._repository.by_id(connection, owner, memory_id)
            written: dict[str, Any] = {**changes, "text": text}
            if held is None or plain(held.text) != plain(text):
                written |= {"source_id": by, "said_at": self._now()}
            if held is not None and held.status == "active" and held.key is None and "said_at" in written:
                made = self._reconciler.rewritten(connection, held, written, vector=vector, revision=revision)
            else:
                changed = self._repository.change(
                    connection, owner, memory_id, written, now=self._now(), revision=revision, vector=vector
                )
                made = remembered(changed, "changed")
            self._uses.note_look(connection, owner, memory_id, "edited")
            self._learn(connection, made)
        return made

    @timed("forget")
    def forget(self, owner: str | int, memory_id: str, *, revision: int | None = None) -> Memory:
        """The memory, from now on recalled no more; a damaged one without its text.

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

    def restore(self, owner: str | int, memory_id: str) -> Memory:
        """Makes a forgotten, archived or superseded memory active again; MemoryNotFound if it is none of these.

        It takes the place of what contradicts it.
        """
        owner = owner_key(self._database, owner)
        with self._writing(owner) as connection:
            return self._reconciler.restored(connection, self._active_again(connection, owner, memory_id, OVER))

    def take_back(self, owner: str | int, memory_id: str) -> Memory:
        """Makes a forgotten memory active again, unless the person has told what is in its place now.

        Raises MemoryNotFound then, or if it is not forgotten.
        """
        owner = owner_key(self._database, owner)
        with self._writing(owner) as connection:
            memory = self._active_again(connection, owner, memory_id, ("forgotten",))
            if self._reconciler.is_replaced(connection, memory):
                raise MemoryNotFound(f"memory {memory_id} stays forgotten: something newer is in its place")
            return memory

    def _active_again(
        self, connection: Connection, owner: OwnerKey, memory_id: str, statuses: Sequence[Status]
    ) -> Memory:
        now = self._now()
        changes: dict[str, Any] = {"status": "active", "superseded_by": None}
        held = self._repository.by_id(connection, owner, memory_id)
        if held is not None and held.status == "superseded" and held.valid_to is not None and held.valid_to <= now:
            changes["valid_to"] = None  # it held until it was corrected, and holds again
        return self._repository.change(connection, owner, memory_id, changes, now=now, statuses=statuses)

    def _waits(self, connection: Connection, owner: OwnerKey, memory_id: str) -> bool:
        held = self._repository.by_id(connection, owner, memory_id)
        return held is not None and held.status == "pending"

    @contextlib.contextmanager
    def _writing(self, owner: OwnerKey, seen: int | None = None) -> Iterator[Connection]:
        """A transaction, which the collection of an owner who always has one follows at once.

        With `seen`, of an owner who was not erased since; what is changed where it is needs no such thing.
        """
        with self._database.write() as connection:
            yield connection
            if seen is not None:
                refuse_erased(connection, owner, seen)
        if self._index is not None and owner in self._index.names:
            self._database.when_over(partial(self._index.follow, owner))
