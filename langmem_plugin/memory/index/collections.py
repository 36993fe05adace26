"""Which collections of the vector store are an owner's, what they are called, and how they are deleted."""

import contextlib
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from langchain_core.vectorstores import VectorStore

from langmem_plugin import process_forks
from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory.background import Panic, TimedCalls
from langmem_plugin.memory.embedding.embedder import Vector
from langmem_plugin.memory.index.index_progress import IndexProgress, OwnerProgress
from langmem_plugin.memory.index.stores import OpenCollection, VectorsById, failures_of

log = event_log(__name__)

Answer = TypeVar("Answer")

_OPEN = 32
_UPKEEP_SECONDS = 600.0  # the longest step, to examine a whole collection, takes a minute for a million vectors


@dataclass
class OpenedCollection:
    store: VectorStore
    vectors: VectorsById
    examined: int = 0  # the generation for which it was seen to hold what it should, or was begun empty

    def replace(self, vectors: Mapping[str, Vector], gone: Sequence[str]) -> bool:
        """Writes vectors, in place of older ones of the same memories, and takes others out."""
        if gone:
            self.store.delete(ids=list(gone))
        if vectors:
            self.vectors.of = vectors
            self.store.add_texts(list(vectors), ids=list(vectors))
            self.vectors.of = {}
        return True

    def settle(self) -> bool:
        """Where the store can: all that was there is written now."""
        getattr(self.store, "settle", lambda: None)()
        return True


class VectorStorePool:
    """The open collections by name, the least recently used dropped. Every method serves any thread.

    `dimension` is asked when the first one is opened.
    """

    def __init__(self, open_collection: OpenCollection, dimension: Callable[[], int]) -> None:
        self._open_collection = open_collection
        self._failures: tuple[type[Exception], ...] = (*failures_of(open_collection), Panic)
        self._dimension = dimension
        self._open: OrderedDict[str, OpenedCollection] = OrderedDict()
        self._lock = process_forks.Lock()
        process_forks.register(after_in_child=self._forget_all)
        self._questions, self._upkeep = TimedCalls("langmem-index"), TimedCalls("langmem-index-upkeep")

    def tried(
        self,
        name: str,
        ask: Callable[[OpenedCollection], Answer],
        *,
        times: int = 2,
        seconds: float | None = None,
        patience: float = _UPKEEP_SECONDS,
        strict: bool = True,
    ) -> Answer | None:
        """Once more after a failure, newly opened; None after the second. `seconds` is for what a reply waits for,
        `patience` for what none does.

        Raises ConfigurationError for what is no failure but a mistake: trying again would change nothing.
        """
        calls = self._upkeep if seconds is None else self._questions
        for _ in range(times):
            try:
                return calls.answer(lambda: ask(self._opened(name, strict=strict)), seconds or patience)
            except self._failures:
                log.warning("index.failed", exc_info=True)
                if seconds is None:  # else a reply waits, which is not to see a collection nobody has examined
                    self.forget(name)
            except ConfigurationError:
                raise
            except Exception as error:  # of any class: the code of a store is not ours
                raise ConfigurationError(
                    f"the vector store raised {type(error).__name__}: mend it, or, if that means that it is down, name "
                    "the class in the attribute `failures` of the factory"
                ) from error
        return None

    def forget(self, name: str) -> None:
        """It is opened anew when it is next asked."""
        with self._lock:
            self._open.pop(name, None)

    def examined(self, name: str) -> int | None:
        """The generation for which the collection was examined; None if it is not open."""
        with self._lock:
            return self._open[name].examined if name in self._open else None

    def note_examined(self, name: str, generation: int) -> bool:
        """False if the collection is no longer open."""
        with self._lock:
            if name in self._open:
                self._open[name].examined = generation
            return name in self._open

    def close(self) -> None:
        """Closes the stores where their factory can do that."""
        getattr(self._open_collection, "close", lambda: None)()

    def _opened(self, name: str, *, strict: bool) -> OpenedCollection:
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
        vectors = VectorsById(self._dimension(), strict=strict)
        opened = OpenedCollection(self._open_collection(name, vectors), vectors)  # outside of the lock: may take long
        with self._lock:
            self._open[name] = opened
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
        return opened

    def _forget_all(self) -> None:
        self._open.clear()


log = event_log(__name__)


class OwnerCollections:
    """One for each model and generation, named by a keyed hash, or, whatever these are, as `names` says."""

    def __init__(
        self,
        database: Database,
        progress: IndexProgress,
        pool: VectorStorePool,
        *,
        model: str,
        names: Mapping[OwnerKey, str],
    ) -> None:
        self.names = names
        self._database = database
        self._progress = progress
        self._pool = pool
        self._model = model

    def name(self, owner: OwnerKey, progress: OwnerProgress) -> str:
        return self.names.get(owner) or _hashed(owner, progress.salt, self._model, progress.generation)

    def drop(self, owner: OwnerKey, name: str) -> bool:
        """Deletes the collection where the store can do that, else all vectors in it; False when that fails."""
        self._pool.forget(name)
        dropped = self._pool.tried(name, lambda opened: self._emptied(opened.store, owner), strict=False)
        self._pool.forget(name)
        if dropped is None:
            log.warning("index.left_behind")
        return dropped is True

    def drop_other_models(self, owner: OwnerKey) -> None:
        """Deletes the collections that hold the owner's vectors of other models than the present one."""
        progress = self._progress.read(owner)
        others = [each for each in self._progress.generations(owner) if each[0] != self._model]
        if progress is not None and others:
            with self._progress.alone(owner):
                for model, newest in others:
                    if self._drop_all(owner, progress, model, newest):
                        self._progress.forget(owner, model)

    @contextlib.contextmanager
    def erasing(self, owner: OwnerKey) -> Iterator[None]:
        """Deletes the owner's collections; inside the block the owner is to be deleted from the database.

        Raises StoreUnavailable when a collection cannot be deleted: nothing is deleted from the database then.
        """
        progress = self._progress.read(owner)
        if progress is None:
            yield
            return
        with self._progress.alone(owner):
            for model, newest in self._progress.generations(owner):
                if not self._drop_all(owner, progress, model, newest):
                    raise StoreUnavailable("the vector index of this owner cannot be deleted now: try again")
            yield
        if owner in self.names:
            self._pool.tried(self.names[owner], lambda _: True)

    def drop_named(self, name: str) -> bool:
        """Deletes a collection whose owner is gone already; False when that fails, or the store cannot."""

        def emptied(store: VectorStore) -> bool:
            if not hasattr(store, "delete_collection"):
                return False
            store.delete_collection()
            return True

        self._pool.forget(name)
        dropped = self._pool.tried(name, lambda opened: emptied(opened.store), strict=False)
        self._pool.forget(name)
        return dropped is True

    def named(self, owner: OwnerKey) -> list[str]:
        """Every collection of the owner that may be there, of whatever model."""
        progress = self._progress.read(owner)
        if progress is None:
            return []
        names = [
            _hashed(owner, progress.salt, model, each)
            for model, newest in self._progress.generations(owner)
            for each in range(1, newest + 1)
        ]
        return [*names, *([self.names[owner]] if owner in self.names else [])]

    def _drop_all(self, owner: OwnerKey, progress: OwnerProgress, model: str, newest: int) -> bool:
        """Every collection of the model that may be there, those that were left behind among them."""
        names = [_hashed(owner, progress.salt, model, each) for each in range(1, newest + 1)]
        names += [self.names[owner]] if owner in self.names else []
        dropped = [self.drop(owner, name) for name in names]
        return all(dropped)

    def _emptied(self, store: VectorStore, owner: OwnerKey) -> bool:
        if hasattr(store, "delete_collection"):
            store.delete_collection()
            return True
        after = ""
        while True:
            with self._database.read() as connection:
                ids = self._progress.ids(connection, owner, after)
            if not ids:
                return True
            store.delete(ids=ids)
            after = ids[-1]


def _hashed(owner: OwnerKey, salt: bytes, model: str, generation: int) -> str:
    hashed = hashlib.blake2b(f"{model}\n{owner}".encode(), key=salt, digest_size=16).hexdigest()
    return f"memories{hashed}g{generation}"
