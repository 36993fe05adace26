"""Embeds texts with any LangChain Embeddings: unit vectors, with retries and a cache."""

import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import timedelta
from functools import partial

import numpy as np
from langchain_core.embeddings import Embeddings

from langmem_plugin.cached_property import cached_property
from langmem_plugin.errors import EmbeddingUnavailable, InvalidInput, LangMemError
from langmem_plugin.logs import event_log
from langmem_plugin.lru_cache import LruCache
from langmem_plugin.memory.calls_with_timeout import GivenUp, TimedCalls
from langmem_plugin.memory.embedding.calibration import KNOWN, OF_QUESTIONS, PAIRS, Calibration, fitted
from langmem_plugin.memory.find.tokenizer import language_of
from langmem_plugin.memory.keep.vectors import Vector, unit
from langmem_plugin.settings import EMBEDDING_TIMEOUT

log = event_log(__name__)

_WAITS = (1.0, 2.0, 4.0)  # seconds before each further try
_MISTAKES = (TypeError, AttributeError, NameError, NotImplementedError)  # mistakes in code: no further try helps
_CACHED_BYTES = 16 * 2**20
_BYTES_BESIDE = 400  # bytes of the key, the array's header and the dictionary
_BATCH, _BATCHES_AT_ONCE = 64, 2
_TEXTS_IN_TIME = 8
_A_WORD = "dimension"  # a text that every model can embed

_ENGLISH_ONLY = {"all-MiniLM-L6-v2-int8+glosses"}
_REST = 30.0  # seconds after every try failed, in which nobody waits again
_SECONDS_AT_REST = 1.0


class Embedder:
    """The embedder of texts: it gives unit vectors, remembers the latest ones, and serves any thread.

    `model` names the vector space: vectors of different models are never compared. A call that fails is tried again
    after 1, 2 and 4 seconds; one that hangs is given up after `timeout` for every eight texts. When all of that failed,
    nobody waits for it again in the next half a minute: each call is one try of a second. Whatever the model raises and
    whatever it gives that is no vector, every method raises EmbeddingUnavailable.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        *,
        timeout: timedelta = EMBEDDING_TIMEOUT,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.embeddings = embeddings
        self.model = model_of(embeddings)
        self._calibration = KNOWN.get(self.model)
        self._of_questions = OF_QUESTIONS.get(self.model, {})
        dimension = getattr(embeddings, "dimension", None)
        self._dimension = dimension if isinstance(dimension, int) else None
        self._timeout = timeout
        self._calls = TimedCalls("langmem-embedding")
        self._closing = threading.Event()
        self._rests_until = 0.0
        self._unknown: set[str] = set()  # languages for which it was logged that the model does not know them
        self._sleep = sleep or self._closing.wait
        self._latest: LruCache[tuple[str, str], Vector] = LruCache(_CACHED_BYTES)

    @cached_property
    def calibration(self) -> Calibration:
        """Return the meaning of this model's cosines; for a model nobody has measured, fitted to some pairs, once."""
        if self._calibration is not None:
            return self._calibration
        vectors = self.texts([text for pair in PAIRS for text in pair])
        return fitted(vectors[::2], vectors[1::2])

    def calibration_of(self, question: str) -> Calibration | None:
        """Return the meaning of cosines with a question in its language; None where they mean nothing."""
        known = self._of_questions.get(language_of(question))
        return known or (None if self.model in _ENGLISH_ONLY and self._of_questions else self.calibration)

    @property
    def dimension(self) -> int:
        """Return the length of the model's vectors, as it says or as its first vector shows; one is made if need be."""
        return len(self.query(_A_WORD)) if self._dimension is None else self._dimension

    @property
    def is_resting(self) -> bool:
        """Tell whether all tries of a call failed within the last half a minute."""
        return time.monotonic() < self._rests_until

    def query(self, text: str) -> Vector:
        """Return the vector of a question; some models embed it otherwise than the texts it should find."""
        vector = self._latest.get(("query", text))
        if vector is None:
            [vector] = self._embedded(lambda: [self.embeddings.embed_query(text)], 1)
            self._keep(("query", text), vector)
        return vector

    def texts(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order; what is not in the cache is embedded in batches, two at once."""
        known = {text: vector for text in texts if (vector := self._latest.get(("text", text))) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        batches = [missing[start : start + _BATCH] for start in range(0, len(missing), _BATCH)]
        with ThreadPoolExecutor(_BATCHES_AT_ONCE, "langmem-embedding") as pool:
            runs = [copy_context().run for _ in batches]
            each = (pool.map if len(batches) > 1 else map)(lambda run, batch: run(self._batch, batch), runs, batches)
            for batch, vectors in zip(batches, each, strict=True):
                known.update(zip(batch, vectors, strict=True))
        return [known[text] for text in texts]

    def _batch(self, batch: list[str]) -> list[Vector]:
        embedded = self._embedded(partial(self.embeddings.embed_documents, batch), len(batch))
        for text, vector in zip(batch, embedded, strict=True):
            self._keep(("text", text), vector)
        return embedded

    def each(self, texts: Sequence[str]) -> list[Vector | None]:
        """Return one vector per text, with None for a text that has no vector of a model which answers for others."""
        batches = (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))
        return [vector for batch in batches for vector in self._each(batch)]

    def close(self) -> None:
        """Make every call fail at once from now on, also those that run or wait to be tried again."""
        self._closing.set()
        self._calls.close()

    def understands(self, text: str) -> bool:
        """Tell whether the model knows the text's language; in a language it never learned everything is near
        everything else.
        """
        return self.model not in _ENGLISH_ONLY or language_of(text) == "english"

    def look_at_language(self, text: str) -> None:
        """Log once for each language that the model does not know it, and which model would."""
        language = language_of(text)
        if language not in self._unknown and not self.understands(text):
            self._unknown.add(language)
            log.warning("embedding.language_unknown", extra={"model": self.model, "language": language})

    def _each(self, batch: Sequence[str]) -> list[Vector | None]:
        try:
            return list(self.texts(batch))
        except EmbeddingUnavailable:
            self._assure()
        found = [self._alone(text) for text in batch]
        self._assure()  # else the model went away meanwhile, and nothing is known about the texts
        if left_out := sum(each is None for each in found):  # none if the batch was only too slow together
            log.error("embedding.texts_left_out", extra={"model": self.model, "texts": left_out})
        return found

    def _alone(self, text: str) -> Vector | None:
        try:
            [vector] = self._embedded(lambda: self.embeddings.embed_documents([text]), 1, waits=())
        except EmbeddingUnavailable:
            return None
        return vector

    def _assure(self) -> None:
        """Raise EmbeddingUnavailable where the model has no vector for a word either."""
        self._embedded(lambda: self.embeddings.embed_documents([_A_WORD]), 1, waits=())

    def _embedded(
        self, embed: Callable[[], Sequence[Sequence[float]]], count: int, *, waits: Sequence[float] = _WAITS
    ) -> list[Vector]:
        """Run the model's code, here alone: it may raise anything, give anything, or hang."""
        seconds = self._timeout.total_seconds() * math.ceil(count / _TEXTS_IN_TIME)
        left = list(waits)
        if self.is_resting:
            left, seconds = [], min(seconds, _SECONDS_AT_REST)
        while True:
            try:
                made = self._checked(self._calls.answer(embed, seconds), count)
            except (GivenUp, LangMemError) as error:
                raise self._unavailable(str(error)) from error
            except Exception as error:  # of any class: botocore, google, ollama and others each have their own
                if not left or isinstance(error, _MISTAKES):
                    raise self._unavailable(type(error).__name__) from error
                log.warning("embedding.retry", exc_info=True, extra={"model": self.model, "seconds": left[0]})
                self._sleep(left.pop(0))
            else:
                self._rests_until = 0.0
                return made

    def _checked(self, given: Sequence[Sequence[float]], count: int) -> list[Vector]:
        """Return the vectors as unit vectors of one dimension. Raises InvalidInput."""
        if not isinstance(given, list | tuple | np.ndarray) or len(given) != count:
            raise InvalidInput(f"the model gave no list of {count} vectors")
        try:
            vectors = [unit(values, self._dimension) for values in given]
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInput("the model gave something else than a vector of finite numbers, not all zero") from error
        self._dimension = len(vectors[0])
        return vectors

    def _unavailable(self, why: str) -> EmbeddingUnavailable:
        self._rests_until = time.monotonic() + _REST
        return EmbeddingUnavailable(f"{self.model} gave no embedding ({why}): try again later")

    def _keep(self, key: tuple[str, str], vector: Vector) -> None:
        vector.setflags(write=False)
        self._latest.put(key, vector, sys.getsizeof(key[1]) + vector.nbytes + _BYTES_BESIDE)


def model_of(embeddings: Embeddings) -> str:
    """Return the name of the vector space: the model's own name, or the class's when it has none.

    A model that was told to give fewer dimensions than it can is another space.
    """
    name = getattr(embeddings, "model", None) or getattr(embeddings, "model_name", None)
    dimensions = getattr(embeddings, "dimensions", None)
    return f"{name or type(embeddings).__name__}{f'/{dimensions}' if dimensions else ''}"
