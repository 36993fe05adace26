"""An approximate index for owners with very many memories: derived from the database, behind it at worst.

Any LangChain VectorStore serves. It holds vectors under memory ids and no text; what it does not know yet is
compared exactly, and so is what is private. It is trusted once it was seen to hold what it should; when it fails,
lacks something or takes too long, everything is compared exactly until it was mended in the background.
"""

import contextlib
import dataclasses
import functools
import hashlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from sqlalchemy import Connection

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.memory.background import Background
from langmem_plugin.memory.embedding.vectors import Vector
from langmem_plugin.memory.index.index_progress import Change, Outbox, Standing
from langmem_plugin.memory.index.vector_store_pool import OpenCollections, Opened
from langmem_plugin.memory.index.vector_stores import OpenCollection, failures
from langmem_plugin.memory.repository import MemoryRepository

log = logging.getLogger(__name__)

_FOLLOW_AFTER = 200  # changes: fewer are compared exactly in no time
_TOO_FAR_BEHIND = 2_000  # changes: with more to compare, the index is not asked
_ANSWER_SECONDS = 0.5
_PAUSES = (0.0, 2.0, 8.0)  # a store that is locked may be free again soon, and need not be made anew
_NEXT_REPAIR_SECONDS = 30.0
_FOUND_SHARE = 0.9  # of the vectors that an undamaged index finds by themselves
_SAMPLE = 50  # nearest, of one vector in each page
_THE_SAME = 0.9999  # cosine
_NOBODY = str(uuid.UUID(int=0))


@dataclass(frozen=True)
class Nearest:
    """What the index of one generation answered when it had followed to a change."""

    memory_ids: list[str]
    followed: int
    generation: int


class VectorIndex:
    """One collection per owner, named by a keyed hash, or as `names` says. Every method serves any thread.

    `dimension` is asked when the first collection is opened.
    """

    def __init__(
        self,
        database: Database,
        repository: MemoryRepository,
        open_collection: OpenCollection,
        *,
        dimension: Callable[[], int],
        names: Mapping[str, str],
        background: Background,
    ) -> None:
        self.names = names
        self._database = database
        self._repository = repository
        self._outbox = Outbox(database, repository)
        self._collections = OpenCollections(open_collection, dimension)
        self._background = background
        self._not_before: dict[str, float] = {}  # owner -> when the next repair may be tried

    def begin(self) -> None:
        """Makes the collections that have names, and follows their owners. Raises ConfigurationError.

        A store that cannot be reached now is tried again in the background.
        """
        if len(set(self.names.values())) < len(self.names):
            raise ConfigurationError("each owner whose memories are always indexed needs a collection of their own")
        for owner, name in self.names.items():
            self.drop_other_models(owner)
            try:
                self._collections.opened(name)
            except ConfigurationError:
                raise
            except failures():
                log.warning("index.failed", exc_info=True)
            self.follow(owner)

    def nearest(self, owner: str, vector: Vector, limit: int) -> Nearest | None:
        """About the `limit` nearest memories of those the index has followed; None: ask another way.

        An index that is missing, behind or broken is brought up to date in the background.
        """
        standing = self._standing(owner)
        if standing is None:
            return None
        behind = standing.change - standing.followed
        trusted = standing.whole and self._is_examined(owner, standing)
        if not trusted or behind > _FOLLOW_AFTER:
            self.follow(owner)
        if not trusted or behind > _TOO_FAR_BEHIND:
            return None
        found = self._collections.tried(
            self._name(owner, standing),
            lambda opened: _ids(opened.store.similarity_search_by_vector(vector.tolist(), k=limit)),
            seconds=_ANSWER_SECONDS,
        )
        if not found:
            if found is not None:
                log.warning("index.empty")
            self._collections.close(self._name(owner, standing))
            self.follow(owner)
            return None
        return Nearest(found, standing.followed, standing.generation)

    def brought_up_to_date(self, connection: Connection, owner: str, nearest: Nearest) -> list[str] | None:
        """The ids, with those of all that changed since; None if the index was made anew meanwhile.

        The order means nothing, and some may be gone: look them up and compare.
        """
        standing = self._outbox.standing(connection, owner)
        if standing is None or not standing.whole or standing.generation != nearest.generation:
            return None
        return list(dict.fromkeys([*nearest.memory_ids, *self._outbox.unseen(connection, owner, nearest.followed)]))

    def stands(self, connection: Connection, owner: str) -> bool:
        """Whether the owner's vectors are indexed, as far as the database knows."""
        standing = self._outbox.standing(connection, owner)
        return standing is not None and standing.whole

    def follow(self, owner: str) -> None:
        """Brings the owner's collection up to date, or mends it, in the background."""
        if time.monotonic() >= self._not_before.get(owner, 0.0):
            self._background.ask(f"index of {owner}", functools.partial(self._follow, owner))

    def catch_up(self, owner: str, progress: Callable[[int], object] = lambda _: None) -> bool:
        """Brings the owner's collection up to date, from scratch where it is not whole; False when it fails now.

        `progress` is told the number of changes done after each batch. What is done stays done, and several
        processes take turns. Each process examines the whole collection once before it trusts it.
        """
        return self._caught_up(owner, progress) or self._caught_up(owner, progress)  # examines what has failed

    def owners(self) -> list[str]:
        """Those who have a collection, of whatever model."""
        return self._outbox.indexed_owners()

    def waiting(self, owner: str) -> int:
        """How many memories have changes that the owner's collection has not followed."""
        return self._outbox.waiting(owner)

    def is_there(self, name: str) -> bool:
        """Whether the named collection can be asked."""
        return self._collections.tried(name, lambda opened: opened.store.get_by_ids([_NOBODY])) is not None

    def size(self, name: str) -> int:
        """How many vectors the named collection holds, once it has followed its owners; 0 if it cannot."""
        owners = [owner for owner, its_name in self.names.items() if its_name == name]
        return sum(self._outbox.size(owner) for owner in owners if self.catch_up(owner))

    @contextlib.contextmanager
    def removing(self, owner: str, memory_ids: Sequence[str]) -> Iterator[None]:
        """Takes vectors out before their memories are deleted for good, which is to be done inside the block."""
        standing = self._standing(owner)
        if standing is None or not standing.generation:
            yield
            return
        if self._is_examined(owner, standing):
            self.catch_up(owner)
        with self._outbox.alone(owner):
            told = self._collections.tried(self._name(owner, standing), _Replacement({}, list(memory_ids)))
            yield
            if told:
                self._outbox.skip_removal(owner)

    @contextlib.contextmanager
    def erasing(self, owner: str) -> Iterator[None]:
        """Deletes the owner's collections; inside the block the owner is to be deleted from the database.

        Raises StoreUnavailable when a collection cannot be deleted: nothing is deleted from the database then.
        """
        standing = self._standing(owner)
        if standing is None:
            yield
            return
        with self._outbox.alone(owner):
            for model, newest in self._outbox.generations(owner):
                if not self._drop_all(owner, standing, model, newest):
                    raise StoreUnavailable("the vector index of this owner cannot be deleted now: try again")
            yield
        if owner in self.names:
            self._collections.tried(self.names[owner], lambda _: True)

    def drop_other_models(self, owner: str) -> None:
        """Deletes the collections that hold the owner's vectors of other models than the present one."""
        standing = self._standing(owner)
        others = [each for each in self._outbox.generations(owner) if each[0] != self._repository.model]
        if standing is not None and others:
            with self._outbox.alone(owner):
                for model, newest in others:
                    if self._drop_all(owner, standing, model, newest):
                        self._outbox.forget(owner, model)

    def _follow(self, owner: str) -> None:
        for pause in _PAUSES:
            if self._background.closing.wait(pause):
                return
            if self._answers(owner):
                break
        if not self.catch_up(owner):
            self._not_before[owner] = time.monotonic() + _NEXT_REPAIR_SECONDS

    def _caught_up(self, owner: str, progress: Callable[[int], object]) -> bool:
        done, at, after = 0, (0, 0), (0, "")
        while not self._background.closing.is_set():
            with self._outbox.alone(owner):
                standing = self._standing(owner)
                if standing is None:
                    return True
                if not self._is_sound(owner, standing):
                    standing = self._begun_anew(owner, standing)
                    if standing is None:
                        return False
                if at != (standing.mark, standing.generation):  # the beginning, or others have been here
                    after = (standing.followed + 1, "")
                with self._database.read() as connection:
                    batch = self._outbox.changes(connection, owner, after)
                if not batch:
                    self._outbox.mark(owner, standing.change, standing.generation)
                    log.info("index.current", extra={"changes": done})
                    return True
                if not self._written(self._name(owner, standing), batch):
                    return False
                after = (batch[-1].change, batch[-1].memory_id)
                followed = after[0] - 1  # the next batch may hold more of this change
                at = (-followed if standing.unfinished else followed, standing.generation)
                self._outbox.mark(owner, *at)
            done += len(batch)
            progress(done)
        return False

    def _answers(self, owner: str) -> bool:
        standing = self._standing(owner)
        if standing is None or not standing.generation:
            return True
        return self.is_there(self._name(owner, standing))

    def _is_examined(self, owner: str, standing: Standing) -> bool:
        return self._collections.examined(self._name(owner, standing)) == standing.generation

    def _is_sound(self, owner: str, standing: Standing) -> bool:
        """Whether the collection, as it is opened now, can be gone on with."""
        if not (standing.whole or standing.unfinished):
            return False
        if self._is_examined(owner, standing):
            return True
        name = self._name(owner, standing)
        holds = self._collections.tried(name, lambda opened: self._holds_all(opened.store, owner, standing.followed))
        if holds is False:
            log.warning("index.incomplete")
        return holds is True and self._collections.note_examined(name, standing.generation)

    def _holds_all(self, store: VectorStore, owner: str, indexed: int) -> bool:
        """Whether every id is there, and a sample is found by its vector: the two can be lost apart."""
        after, asked, found = "", 0, 0
        while True:
            with self._database.read() as connection:
                page = self._outbox.held(connection, owner, indexed, after)
            if not page:
                return found >= _FOUND_SHARE * asked
            ids = [memory_id for memory_id, _ in page]
            if not set(_ids(store.get_by_ids(ids))).issuperset(ids):
                return False
            vector = page[0][1]
            nearest = _ids(store.similarity_search_by_vector(vector.tolist(), k=_SAMPLE))
            with self._database.read() as connection:
                cosines = self._repository.cosines(connection, owner, vector, nearest)
            asked += 1
            found += any(cosine > _THE_SAME for _, cosine in cosines)  # of equal ones any may be found
            after = ids[-1]

    def _begun_anew(self, owner: str, standing: Standing) -> Standing | None:
        """With an empty collection to fill; None where there can be none now."""
        if standing.generation:
            self._drop(owner, self._name(owner, standing))
        begun = dataclasses.replace(standing, mark=0, generation=standing.generation + 1)
        name = self._name(owner, begun)
        if self._background.closing.is_set() or self._collections.tried(name, lambda _: True) is None:
            return None
        self._outbox.mark(owner, 0, begun.generation)
        return begun if self._collections.note_examined(name, begun.generation) else None

    def _written(self, name: str, batch: Sequence[Change]) -> bool:
        """Not tried again: opened anew, the collection may be another one, and is to be examined first."""
        vectors = {each.memory_id: each.vector for each in batch if each.vector is not None}
        gone = [each.memory_id for each in batch if each.vector is None]
        return self._collections.tried(name, _Replacement(vectors, gone), times=1) is not None

    def _standing(self, owner: str) -> Standing | None:
        with self._database.read() as connection:
            return self._outbox.standing(connection, owner)

    def _name(self, owner: str, standing: Standing) -> str:
        return self.names.get(owner) or self._hashed(owner, standing.salt, self._repository.model, standing.generation)

    def _hashed(self, owner: str, salt: bytes, model: str, generation: int) -> str:
        hashed = hashlib.blake2b(f"{model}\n{owner}".encode(), key=salt, digest_size=16).hexdigest()
        return f"memories{hashed}g{generation}"

    def _drop(self, owner: str, name: str) -> bool:
        """Deletes the collection where the store can do that, else all vectors in it; False when that fails."""
        self._collections.close(name)
        dropped = self._collections.tried(name, lambda opened: self._emptied(opened.store, owner), strict=False)
        self._collections.close(name)
        if dropped is None:
            log.warning("index.left_behind")
        return dropped is True

    def _drop_all(self, owner: str, standing: Standing, model: str, newest: int) -> bool:
        """Every collection of the model that may be there, those that were left behind among them."""
        names = [self._hashed(owner, standing.salt, model, each) for each in range(1, newest + 1)]
        names += [self.names[owner]] if owner in self.names else []
        dropped = [self._drop(owner, name) for name in names]
        return all(dropped)

    def _emptied(self, store: VectorStore, owner: str) -> bool:
        if hasattr(store, "delete_collection"):
            store.delete_collection()
            return True
        after = ""
        while True:
            with self._database.read() as connection:
                ids = self._outbox.ids(connection, owner, after)
            if not ids:
                return True
            store.delete(ids=ids)
            after = ids[-1]


@dataclass(frozen=True)
class _Replacement:
    """Writes vectors, in place of older ones of the same memories, and takes others out."""

    vectors: Mapping[str, Vector]
    gone: list[str]

    def __call__(self, opened: Opened) -> bool:
        if self.gone:
            opened.store.delete(ids=self.gone)
        if self.vectors:
            opened.vectors.of = self.vectors
            opened.store.add_texts(list(self.vectors), ids=list(self.vectors))
            opened.vectors.of = {}
        return True


def _ids(documents: Sequence[Document]) -> list[str]:
    return [document.page_content for document in documents]
