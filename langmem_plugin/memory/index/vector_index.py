"""An approximate index for owners with very many memories: derived from the database, behind it at worst.
From how many memories on: INDEX_AFTER of settings.py.
It adds and removes vectors; which of them are missing is known in index_progress.py.

Any LangChain VectorStore serves. It holds vectors under memory ids and no text; what it does not know yet is
compared exactly, and so is what is private. It is trusted once it was seen to hold what it should; when it fails,
lacks something or takes too long, everything is compared exactly until it was mended in the background.
"""

import contextlib
import dataclasses
import functools
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, func, select

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.identifiers import OwnerKey, masked
from langmem_plugin.logs import event_log
from langmem_plugin.memory.background import BackgroundThread
from langmem_plugin.memory.embedding.embedder import Vector
from langmem_plugin.memory.index.collections import OpenedCollection, OwnerCollections, VectorStorePool
from langmem_plugin.memory.index.index_progress import Change, Examination, IndexProgress, OwnerProgress
from langmem_plugin.memory.index.stores import OpenCollection
from langmem_plugin.memory.keep.stored_vectors import StoredVectors
from langmem_plugin.operation_timing import timing

log = event_log(__name__)

Answer = TypeVar("Answer")

_FOLLOW_AFTER = 200  # changes: fewer are compared exactly in no time
_TOO_FAR_BEHIND = 2_000  # changes: with more to compare, the index is not asked
_ANSWER_SECONDS = 0.5
_SETTLING_SECONDS = 3_600.0
_PAUSES = (0.0, 2.0, 8.0)  # a store that is locked may be free again soon, and need not be made anew
_NEXT_REPAIR_SECONDS = 30.0
_NOBODY = str(uuid.UUID(int=0))


@dataclass(frozen=True)
class Nearest:
    """The answer of one generation of the index, and the change that it had followed to."""

    memory_ids: list[str]
    followed: int
    generation: int


class VectorIndex:
    """For owners of more than `after` memories, one collection each. Every method serves any thread.

    `dimension` is asked when the first collection is opened. `names` are those of owners whose collection is kept
    from the start: `begin` makes them.
    """

    def __init__(
        self,
        database: Database,
        vectors: StoredVectors,
        open_collection: OpenCollection,
        background: BackgroundThread,
        *,
        after: int,
        dimension: Callable[[], int],
        names: Mapping[OwnerKey, str],
    ) -> None:
        self.after = after
        self._database = database
        self._background = background
        self._progress = IndexProgress(database, vectors)
        self._examination = Examination(database, self._progress, vectors)
        self._pool = VectorStorePool(open_collection, dimension)
        self.collections = OwnerCollections(database, self._progress, self._pool, model=vectors.model, names=names)
        self._not_before: dict[str, float] = {}  # owner -> when the next repair may be tried
        self._given_up: set[str] = set()  # owners whose collection cannot be used before somebody mends a mistake

    @property
    def names(self) -> Mapping[OwnerKey, str]:
        """The names of the collections that are always kept, by owner."""
        return self.collections.names

    def begin(self) -> None:
        """Makes the collections that have names, and follows their owners. Raises ConfigurationError.

        A store that cannot be reached now is tried again in the background.
        """
        if len(set(self.names.values())) < len(self.names):
            raise ConfigurationError("each owner whose memories are always indexed needs a collection of their own")
        for owner, name in self.names.items():
            self.collections.drop_other_models(owner)
            self._pool.tried(name, lambda _: True, times=1)
            self.follow(owner)

    def close(self) -> None:
        self._pool.close()

    def large_owners(self) -> list[OwnerKey]:
        """Whose memories are to be searched through the index: those above `after`, and those with names."""
        counted = select(memory.c.owner).where(memory.c.status == "active").group_by(memory.c.owner)
        with self._database.read() as connection:
            large = connection.execute(counted.having(func.count() > self.after)).scalars().all()
        return sorted({*large, *self.names})

    def nearest(self, owner: OwnerKey, vector: Vector, limit: int) -> Nearest | None:
        """About the `limit` nearest memories of those the index has followed; None: ask another way.

        An index that is missing, behind or broken is brought up to date in the background.
        """
        progress = self._progress.read(owner)
        if progress is None:
            return None
        behind = progress.change - progress.followed
        trusted = progress.whole and self._is_examined(owner, progress)
        if not trusted or behind > _FOLLOW_AFTER:
            self.follow(owner)
        if not trusted or behind > _TOO_FAR_BEHIND:
            return None
        name = self.collections.name(owner, progress)
        found = self._unless_mistaken(
            owner,
            lambda: self._pool.tried(
                name,
                lambda opened: [
                    each.page_content for each in opened.store.similarity_search_by_vector(vector.tolist(), k=limit)
                ],
                seconds=_ANSWER_SECONDS,
            ),
        )
        if not found:
            if found is not None:
                log.warning("index.empty")
            self._pool.forget(name)
            self.follow(owner)
            return None
        return Nearest(found, progress.followed, progress.generation)

    def brought_up_to_date(self, connection: Connection, owner: OwnerKey, nearest: Nearest) -> list[str] | None:
        """The ids, with those of all that changed since; None if the index was made anew meanwhile.

        The order means nothing, and some may be gone: look them up and compare.
        """
        progress = self._progress.of(connection, owner)
        if progress is None or not progress.whole or progress.generation != nearest.generation:
            return None
        return list(dict.fromkeys([*nearest.memory_ids, *self._progress.unseen(connection, owner, nearest.followed)]))

    def stands(self, connection: Connection, owner: OwnerKey) -> bool:
        """True where the owner's vectors are indexed, as far as the database knows."""
        progress = self._progress.of(connection, owner)
        return progress is not None and progress.whole

    def follow(self, owner: OwnerKey) -> None:
        """Brings the owner's collection up to date, or mends it, in the background."""
        if owner not in self._given_up and time.monotonic() >= self._not_before.get(owner, 0.0):
            self._background.ask(f"index of {owner}", functools.partial(self._follow, owner))

    def catch_up(self, owner: OwnerKey, report: Callable[[int], object] = lambda _: None) -> bool:
        """Brings the owner's collection up to date, from scratch where it is not whole; False when it fails now.

        `report` is told the number of changes done after each batch. What is done stays done, and several
        processes take turns. Each process examines the whole collection once before it trusts it.
        Raises ConfigurationError for a mistake in the store or its factory.
        """
        with timing(self._database.operations, "index") as call:
            caught_up = self._caught_up(owner, report) or self._caught_up(owner, report)  # examines what has failed
            call.failed = not caught_up and not self._background.closing.is_set()
        self._given_up.discard(owner)
        return caught_up

    def owners(self) -> list[OwnerKey]:
        """Those who have a collection, of whatever model."""
        return self._progress.indexed_owners()

    def waiting(self, owner: OwnerKey) -> int:
        """How many memories have changes that the owner's collection has not followed."""
        return self._progress.waiting(owner)

    def is_there(self, name: str) -> bool:
        """True where the named collection can be asked."""
        return self._pool.tried(name, lambda opened: opened.store.get_by_ids([_NOBODY])) is not None

    def size(self, name: str) -> int:
        """How many vectors the named collection holds, once it has followed its owners; 0 if it cannot."""
        owners = [owner for owner, its_name in self.names.items() if its_name == name]
        return sum(self._progress.size(owner) for owner in owners if self.catch_up(owner))

    @contextlib.contextmanager
    def removing(self, owner: OwnerKey, memory_ids: Sequence[str]) -> Iterator[None]:
        """Takes vectors out before their memories are deleted for good, which is to be done inside the block."""
        progress = self._progress.read(owner)
        if progress is None or not progress.generation:
            yield
            return
        if self._is_examined(owner, progress):
            self._unless_mistaken(owner, lambda: self.catch_up(owner))
        name = self.collections.name(owner, progress)
        with self._progress.alone(owner):
            told = self._unless_mistaken(
                owner, lambda: self._pool.tried(name, lambda opened: opened.replace({}, memory_ids))
            )
            yield
            if told:
                self._progress.skip_removal(owner)

    def _unless_mistaken(self, owner: OwnerKey, ask: Callable[[], Answer]) -> Answer | None:
        """Where nobody waits to hear of a mistake: it is logged, and the owner's index is asked no more."""
        if owner in self._given_up:
            return None
        try:
            return ask()
        except ConfigurationError:
            self._given_up.add(owner)
            log.exception("index.mistake", extra={"owner": masked(owner)})
            return None

    def _follow(self, owner: OwnerKey) -> None:
        if not self._unless_mistaken(owner, lambda: self._mended(owner)):
            self._not_before[owner] = time.monotonic() + _NEXT_REPAIR_SECONDS

    def _mended(self, owner: OwnerKey) -> bool:
        for pause in _PAUSES:
            if self._background.closing.wait(pause):
                return True
            if self._answers(owner):
                break
        return self.catch_up(owner)

    def _caught_up(self, owner: OwnerKey, report: Callable[[int], object]) -> bool:
        done, at, after, settled = 0, (0, 0), (0, ""), 0
        while not self._background.closing.is_set():
            with self._progress.alone(owner):
                progress = self._progress.read(owner)
                if progress is None:
                    return True
                if (progress := self._sound_or_begun_anew(owner, progress)) is None:
                    return False
                if at != (progress.mark, progress.generation):  # the beginning, or others have been here
                    after = (progress.followed + 1, "")
                with self._database.read() as connection:
                    batch = self._progress.changes(connection, owner, after)
                name = self.collections.name(owner, progress)
                if not batch and (progress.whole or settled == progress.generation):
                    self._progress.mark(owner, progress.change, progress.generation)
                    log.info("index.current", extra={"changes": done})
                    return True
                if batch:
                    if not self._written(name, batch):
                        return False
                    after = (batch[-1].change, batch[-1].memory_id)
                    followed = after[0] - 1  # the next batch may hold more of this change
                    at = (-followed if progress.unfinished else followed, progress.generation)
                    self._progress.mark(owner, *at)
            if batch:
                done += len(batch)
                report(done)
            elif self._settled(name):  # not alone: nobody who forgets a memory is to wait for that
                settled = progress.generation
            else:
                return False
        return False

    def _answers(self, owner: OwnerKey) -> bool:
        progress = self._progress.read(owner)
        if progress is None or not progress.generation:
            return True
        return self.is_there(self.collections.name(owner, progress))

    def _is_examined(self, owner: OwnerKey, progress: OwnerProgress) -> bool:
        return self._pool.examined(self.collections.name(owner, progress)) == progress.generation

    def _is_sound(self, owner: OwnerKey, progress: OwnerProgress) -> bool:
        """Tell whether the collection, as it is opened now, can still be used."""
        if not (progress.whole or progress.unfinished):
            return False
        if self._is_examined(owner, progress):
            return True
        name = self.collections.name(owner, progress)
        holds = self._pool.tried(name, lambda opened: self._examination.passed(opened.store, owner, progress.followed))
        if holds is False:
            log.warning("index.incomplete")
        return holds is True and self._pool.note_examined(name, progress.generation)

    def _sound_or_begun_anew(self, owner: OwnerKey, progress: OwnerProgress) -> OwnerProgress | None:
        """The progress of a usable collection, else that of an empty one to fill; None where there can be none now."""
        if self._is_sound(owner, progress):
            return progress
        if progress.generation:
            self.collections.drop(owner, self.collections.name(owner, progress))
        begun = dataclasses.replace(progress, mark=0, generation=progress.generation + 1)
        name = self.collections.name(owner, begun)
        if self._background.closing.is_set() or self._pool.tried(name, lambda _: True) is None:
            return None
        self._progress.mark(owner, 0, begun.generation)
        return begun if self._pool.note_examined(name, begun.generation) else None

    def _settled(self, name: str) -> bool:
        settle = OpenedCollection.settle
        return self._pool.tried(name, settle, times=1, patience=_SETTLING_SECONDS) is not None

    def _written(self, name: str, batch: Sequence[Change]) -> bool:
        """Not tried again: opened anew, the collection may be another one, and is to be examined first."""
        vectors = {each.memory_id: each.vector for each in batch if each.vector is not None}
        gone = [each.memory_id for each in batch if each.vector is None]
        return self._pool.tried(name, lambda opened: opened.replace(vectors, gone), times=1) is not None
