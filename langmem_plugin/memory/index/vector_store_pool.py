"""The collections of a vector index that this process has open: asked once more after a failure, and in time."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from langchain_core.vectorstores import VectorStore

from langmem_plugin import process_forks
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.logs import event_log
from langmem_plugin.memory.embedding.unit_vectors import Vector
from langmem_plugin.memory.index.store_contract import OpenCollection, VectorsById, failures_of
from langmem_plugin.memory.timed_calls import Panic, TimedCalls

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
    """By name, the least recently used dropped. Every method serves any thread.

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
