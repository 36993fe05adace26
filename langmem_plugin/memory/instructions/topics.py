"""Tell whether a message is about a topic: by words, and by meaning where the embedding model knows its language."""

import functools
import sys
from collections.abc import Callable, Sequence

import numpy as np

from langmem_plugin.errors import EmbeddingUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.lru import LruCache
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.unit_vectors import Vector
from langmem_plugin.memory.find.tokenizer import asked, stems
from langmem_plugin.memory.instructions.conditions import holds_in_order
from langmem_plugin.memory.models import storable

log = event_log(__name__)

_NEAR = 1.3
"""By how many deviations a message is nearer to the topic than to topics in general: fitted to
tests/memory/topics/seen.tsv. Unlike a cosine it means the same for every model.
"""
_AS_EMBEDDED = "a question about {}"
_IN_GENERAL = (
    *("weather", "animals", "clothes", "history", "mathematics", "computers", "family", "religion", "politics", "art"),
    *("the house", "shopping", "the news", "language", "the calendar", "feelings", "nature", "school", "games"),
    *("transport", "holidays", "friends", "technology", "science"),
)
_CACHE_BYTES, _BYTES_BESIDE = 4 * 2**20, 300
_FOLLOW_UP_WORDS = 2  # a message of so few words takes its topic from the one before


class Topics:
    """One per embedder, which keeps the vectors: of a message it has the one that recall asked for."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._general: Vector | None = None
        self._vectors: LruCache[str, tuple[Vector | None]] = LruCache(_CACHE_BYTES)
        self._failed: str | None = None

    def of(self, said: Sequence[str]) -> Callable[[str], bool]:
        """Says of each topic whether the person's last messages, oldest first, are about it."""
        message = asks(said)
        in_words = functools.cache(lambda: stems(message, like=message))
        nearness = functools.cache(lambda: self._nearness(message))

        def about(topic: str) -> bool:
            if holds_in_order(in_words(), stems(topic, like=message)):
                return True
            if message == self._failed:
                return False
            try:
                near = nearness()
                vector = self._vector(topic) if near is not None else None
            except EmbeddingUnavailable:
                log.warning("topics.by_words", exc_info=True)
                self._failed = message  # not asked again at each model call of the turn
                return False
            return near is not None and vector is not None and near(vector) >= _NEAR

        return about

    def _nearness(self, message: str) -> Callable[[Vector], float] | None:
        """A measure of nearness to a message; None for one that names nothing, or in an unknown language."""
        if not asked(message) or not self._embedder.understands(message):
            return None
        if self._general is None:
            self._general = np.stack(self._embedder.texts([_AS_EMBEDDED.format(each) for each in _IN_GENERAL]))
        vector = self._embedder.query(storable(message))
        general = self._general @ vector
        mean, deviation = float(general.mean()), max(float(general.std()), 1e-6)
        return lambda topic: (float(topic @ vector) - mean) / deviation

    def _vector(self, topic: str) -> Vector | None:
        if (known := self._vectors.get(topic)) is not None:
            return known[0]
        vector = None
        if self._embedder.understands(topic):
            [vector] = self._embedder.texts([_AS_EMBEDDED.format(storable(topic))])
        size = 0 if vector is None else vector.nbytes
        self._vectors.put(topic, (vector,), size + sys.getsizeof(topic) + _BYTES_BESIDE)
        return vector


def asks(said: Sequence[str]) -> str:
    """The last message, with the one before it where it says little by itself: as recall asks for both."""
    texts = [text for text in said if text.strip()]
    if len(texts) > 1 and len(asked(texts[-1])) <= _FOLLOW_UP_WORDS:
        return "\n".join(texts[-2:])
    return texts[-1] if texts else ""
