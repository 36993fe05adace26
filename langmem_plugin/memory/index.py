"""An approximate index for owners with very many memories: derived from the database, behind it at worst.

Any LangChain VectorStore serves. It holds vectors under memory ids and no text; what it does not know yet is
compared exactly, and so is what is private. It is trusted once it was seen to hold what it should; when it fails,
lacks something or takes too long, everything is compared exactly until it was mended in the background.
"""

import contextlib
import functools
import hashlib
import logging
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from sqlalchemy import Connection

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.memory.background import Background
from langmem_plugin.memory.outbox import Outbox, Standing
from langmem_plugin.memory.repository import MemoryRepository
from langmem_plugin.memory.stores import OpenCollection, StoredVectors, failures
from langmem_plugin.memory.vectors import Vector

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_FOLLOW_AFTER = 200  # changes: fewer are compared exactly in no time
_TOO_FAR_BEHIND = 2_000  # changes: with more to compare, the index is not asked
_ANSWER_SECONDS = 0.5
_PAUSES = (0.0, 2.0, 8.0)  # a store that is locked may be free again soon, and need not be made anew
_NEXT_REPAIR_SECONDS = 30.0
_FOUND_SHARE = 0.9  # of the vectors that an undamaged index finds by themselves
_SAMPLE = 50  # nearest, of one vector in each page
_THE_SAME = 0.9999  # cosine
_OPEN = 32  # collections


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
        self._open_collection = open_collection
        self._dimension = dimension
        self._background = background
        self._open: OrderedDict[str, tuple[VectorStore, StoredVectors]] = OrderedDict()
        self._lock = threading.Lock()
        self._trusted: dict[str, tuple[str, int]] = {}  # owner -> collection and generation that were examined
        self._not_before: dict[str, float] = {}  # owner -> when the next repair may be tried

    def begin(self) -> None:
        """Makes the collections that have names, and follows their owners. Raises ConfigurationError.

        A store that cannot be reached now is tried again in the background.
        """
        for owner, name in self.names.items():
            if any(model != self._repository.model for model, _ in self._outbox.generations(owner)):
                with self._outbox.alone(owner):
                    self._drop(owner, name)  # it is ours, and holds the vectors of another model
            try:
                self._opened(name)
            except ConfigurationError:
                raise
            except failures():
                log.warning("index.failed", exc_info=True)
            self.follow(owner)

    def nearest(self, connection: Connection, owner: str, vector: Vector, limit: int) -> list[str] | None:
        """Ids of about the `limit` nearest memories and of all the index has not seen; None: ask another way.

        The order means nothing, and some may be gone: look them up and compare. An index that is missing, behind
        or broken is brought up to date in the background.
        """
        standing = self._outbox.standing(connection, owner)
        if standing is None:
            return None
        behind = standing.change - standing.indexed
        trusted = self._is_trusted(owner, standing)
        if not trusted or behind > _FOLLOW_AFTER:
            self.follow(owner)
        if not trusted or behind > _TOO_FAR_BEHIND:
            return None
        found = self._tried(
            self._name(owner, standing),
            lambda store, _: _ids(store.similarity_search_by_vector(vector.tolist(), k=limit)),
            seconds=_ANSWER_SECONDS,
        )
        if not found:
            if found is not None:
                log.warning("index.empty")
            self._trusted.pop(owner, None)
            self.follow(owner)
            return None
        return list(dict.fromkeys([*found, *self._outbox.unseen(connection, owner, standing.indexed)]))

    def follow(self, owner: str) -> None:
        """Brings the owner's collection up to date, or mends it, in the background."""
        if time.monotonic() >= self._not_before.get(owner, 0.0):
            self._background.ask(f"index of {owner}", functools.partial(self._follow, owner))

    def catch_up(self, owner: str, progress: Callable[[int], object] = lambda _: None) -> bool:
        """Brings the owner's collection up to date, from scratch where it is not whole; False when it fails now.

        `progress` is told the number of changes done after each batch. What is done stays done, and several
        processes take turns. Each process examines the whole collection once before it trusts it.
        """
        with self._outbox.alone(owner):
            standing = self._standing(owner)
            if standing is None:
                return True
            if not (
                self._is_trusted(owner, standing)
                or self._is_whole(owner, standing)
                or (not self._background.closing.is_set() and self._begun_anew(owner, standing))
            ):
                return False
        done, at, after = 0, (-1, -1), (0, "")
        while not self._background.closing.is_set():
            with self._outbox.alone(owner):
                standing = self._standing(owner)
                if standing is None:
                    return True
                if at != (standing.indexed, standing.generation):  # others have been here, or this is the beginning
                    after = (standing.indexed + 1, "")
                with self._database.read() as connection:
                    batch = self._outbox.changes(connection, owner, after)
                name = self._name(owner, standing)
                if not batch:
                    self._outbox.mark(owner, change=standing.change, generation=standing.generation)
                    self._trusted[owner] = (name, standing.generation)
                    log.info("index.current", extra={"changes": done})
                    return True
                vectors = {each.memory_id: each.vector for each in batch if each.vector is not None}
                gone = [each.memory_id for each in batch if each.vector is None]
                if self._tried(name, _Replacement(vectors, gone)) is None:
                    return False
                after = (batch[-1].change, batch[-1].memory_id)
                at = (after[0] - 1, standing.generation)  # the next batch may hold more of this change
                self._outbox.mark(owner, change=at[0], generation=at[1])
            done += len(batch)
            progress(done)
        return False

    def waiting(self, owner: str) -> int:
        """How many memories have changes that the owner's collection has not followed."""
        return self._outbox.waiting(owner)

    def size(self, owner: str) -> int:
        """How many vectors the owner's collection holds."""
        return self._outbox.size(owner)

    @contextlib.contextmanager
    def removing(self, owner: str, memory_ids: Sequence[str]) -> Iterator[None]:
        """Takes vectors out before their memories are deleted for good, which is to be done inside the block."""
        standing = self._standing(owner)
        if standing is None or not standing.generation:
            yield
            return
        if self._is_trusted(owner, standing):
            self.catch_up(owner)
        with self._outbox.alone(owner):
            told = self._tried(self._name(owner, standing), _Replacement({}, list(memory_ids)))
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
            self._trusted.pop(owner, None)
            for model, newest in self._outbox.generations(owner):
                names = [self._hashed(owner, standing.salt, model, each) for each in range(1, newest + 1)]
                for name in (*names, *([self.names[owner]] if owner in self.names else [])):
                    if not self._drop(owner, name):
                        raise StoreUnavailable("the vector index of this owner cannot be deleted now: try again")
            yield
        if owner in self.names:
            self._tried(self.names[owner], lambda _store, _vectors: True)

    def _follow(self, owner: str) -> None:
        for pause in _PAUSES:
            if self._background.closing.wait(pause):
                return
            if self._answers(owner):
                break
        if not self.catch_up(owner):
            self._not_before[owner] = time.monotonic() + _NEXT_REPAIR_SECONDS

    def _answers(self, owner: str) -> bool:
        standing = self._standing(owner)
        if standing is None or not standing.generation:
            return True
        nobody = str(uuid.UUID(int=0))
        return self._tried(self._name(owner, standing), lambda store, _: store.get_by_ids([nobody])) is not None

    def _is_trusted(self, owner: str, standing: Standing) -> bool:
        return standing.whole and self._trusted.get(owner) == (self._name(owner, standing), standing.generation)

    def _is_whole(self, owner: str, standing: Standing) -> bool:
        if not standing.whole:
            return False
        holds = self._tried(
            self._name(owner, standing), lambda store, _: self._holds_all(store, owner, standing.indexed)
        )
        if holds is False:
            log.warning("index.incomplete")
        return holds is True

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

    def _begun_anew(self, owner: str, standing: Standing) -> bool:
        """Whether there is an empty collection to fill now."""
        self._trusted.pop(owner, None)
        if standing.generation:
            self._drop(owner, self._name(owner, standing))
        generation = standing.generation + 1
        name = self.names.get(owner) or self._hashed(owner, standing.salt, self._repository.model, generation)
        if self._tried(name, lambda _store, _vectors: True) is None:
            return False
        self._outbox.mark(owner, change=0, generation=generation)
        return True

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
        dropped = self._tried(name, lambda store, _: self._emptied(store, owner))
        with self._lock:
            self._open.pop(name, None)
        if dropped is None:
            log.warning("index.left_behind")
        return dropped is True

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

    def _tried(
        self, name: str, ask: Callable[[VectorStore, StoredVectors], Answer], *, seconds: float | None = None
    ) -> Answer | None:
        """Once more, newly opened, after a failure; None after the second. Each may take so many seconds."""
        for _ in range(2):
            try:
                if seconds is None:
                    return ask(*self._opened(name))
                return _in_time(seconds, lambda: ask(*self._opened(name)))
            except failures():
                log.warning("index.failed", exc_info=True)
                with self._lock:
                    self._open.pop(name, None)
        return None

    def _opened(self, name: str) -> tuple[VectorStore, StoredVectors]:
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
        vectors = StoredVectors(self._dimension())
        opened = (self._open_collection(name, vectors), vectors)  # not under the lock: a store may be slow to open
        with self._lock:
            self._open[name] = opened
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
        return opened


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


def _ids(documents: Sequence[Document]) -> list[str]:
    return [document.page_content for document in documents]


def _in_time(seconds: float, ask: Callable[[], Answer]) -> Answer:
    """Asks in a thread of its own, which is left alone if it takes longer. Raises TimeoutError."""
    answer: Future[Answer] = Future()

    def work() -> None:
        try:
            answer.set_result(ask())
        except failures() as error:
            answer.set_exception(error)

    threading.Thread(target=work, name="langmem-index", daemon=True).start()
    return answer.result(seconds)
