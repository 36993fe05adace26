"""The collections of a vector index that this process has open: asked once more after a failure, and in time."""

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from langchain_core.vectorstores import VectorStore

from langmem_plugin import forks
from langmem_plugin.memory.embedding.timed_calls import TimedCalls
from langmem_plugin.memory.index.vector_stores import OpenCollection, StoredVectors, failures

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_OPEN = 32
_UPKEEP_SECONDS = 600.0  # the longest step, to examine a whole collection, takes a minute for a million vectors


@dataclass
class Opened:
    store: VectorStore
    vectors: StoredVectors
    examined: int = 0  # the generation for which it was seen to hold what it should, or was begun empty


class OpenCollections:
    """By name, the least recently used dropped. Every method serves any thread.

    `dimension` is asked when the first one is opened.
    """

    def __init__(self, open_collection: OpenCollection, dimension: Callable[[], int]) -> None:
        self._open_collection = open_collection
        self._dimension = dimension
        self._open: OrderedDict[str, Opened] = OrderedDict()
        self._lock = forks.Lock()
        forks.register(after_in_child=self._close_all)
        self._questions, self._upkeep = TimedCalls("langmem-index"), TimedCalls("langmem-index-upkeep")

    def tried(
        self,
        name: str,
        ask: Callable[[Opened], Answer],
        *,
        times: int = 2,
        seconds: float | None = None,
        strict: bool = True,
    ) -> Answer | None:
        """Once more after a failure, newly opened; None after the second. `seconds` is for what a reply waits for."""
        calls = self._upkeep if seconds is None else self._questions
        for _ in range(times):
            try:
                return calls.answer(lambda: ask(self.opened(name, strict=strict)), seconds or _UPKEEP_SECONDS)
            except failures():
                log.warning("index.failed", exc_info=True)
                if seconds is None:  # else a reply waits, which is not to see a collection nobody has examined
                    self.close(name)
        return None

    def opened(self, name: str, *, strict: bool = True) -> Opened:
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
        vectors = StoredVectors(self._dimension(), strict=strict)
        opened = Opened(self._open_collection(name, vectors), vectors)  # not under the lock: this may take long
        with self._lock:
            self._open[name] = opened
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
        return opened

    def close(self, name: str) -> None:
        with self._lock:
            self._open.pop(name, None)

    def _close_all(self) -> None:
        self._open.clear()

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
