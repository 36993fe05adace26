"""One way to any LangChain Embeddings: unit vectors, retries, a cache, and what a cosine means."""

import functools
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TypeVar

from langchain_core.embeddings import Embeddings

from langmem_plugin import forks
from langmem_plugin.errors import EmbeddingUnavailable, client_errors
from langmem_plugin.memory.calibration import KNOWN, PAIRS, Calibration, fitted
from langmem_plugin.memory.languages import language_of
from langmem_plugin.memory.vectors import Vector, unit

Embedded = TypeVar("Embedded")

log = logging.getLogger(__name__)

_WAITS = (1.0, 2.0, 4.0)  # seconds before each further try
_CACHED_TEXTS = 4_096
_BATCH = 64


_ENGLISH_ONLY = {"all-MiniLM-L6-v2-int8"}


class Embedder:
    """Embeds texts as unit vectors and remembers the latest ones.

    `model` names the vector space: vectors of different models are never compared.
    Raises EmbeddingUnavailable after three further tries, 1, 2 and 4 seconds apart.
    """

    def __init__(
        self,
        embeddings: Embeddings,
        *,
        calibration: Calibration | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.embeddings = embeddings
        self.model = model_of(embeddings)
        self._calibration = calibration or KNOWN.get(self.model)
        self._sleep = sleep
        self._latest: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._lock = forks.Lock()

    @functools.cached_property
    def calibration(self) -> Calibration:
        """What this model's cosines mean; for a model nobody has measured, fitted to some pairs, once."""
        if self._calibration is not None:
            return self._calibration
        vectors = self.texts([text for pair in PAIRS for text in pair])
        return fitted(vectors[::2], vectors[1::2])

    @functools.cached_property
    def dimension(self) -> int:
        """Asked of the model once, by embedding a word, where it does not say."""
        said = getattr(self.embeddings, "dimension", None)
        if isinstance(said, int):
            return said
        return len(self._tried(functools.partial(self.embeddings.embed_query, "dimension")))

    def query(self, text: str) -> Vector:
        """The vector of a question; some models embed it otherwise than the texts it should find."""
        vector = self._cached(("query", text))
        if vector is None:
            values = self._tried(functools.partial(self.embeddings.embed_query, text))
            vector = self._keep(("query", text), unit(values, self.dimension))
        return vector

    def texts(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order; what is not in the cache is embedded in batches."""
        known = {text: vector for text in texts if (vector := self._cached(("text", text))) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            embedded = self._tried(functools.partial(self.embeddings.embed_documents, batch))
            for text, values in zip(batch, embedded, strict=True):
                known[text] = self._keep(("text", text), unit(values, self.dimension))
        return [known[text] for text in texts]

    def closeness(self, text: str, texts: Sequence[str]) -> list[float]:
        """The cosine of a text to each of the others, in [-1, 1]; 0 for all where the model does not understand."""
        if not texts or not self.understands(text):
            return [0.0] * len(texts)
        asked = self.query(text)
        return [float(asked @ each) for each in self.texts(texts)]

    def understands(self, text: str) -> bool:
        """False for a language the model never learned: everything is then near everything else."""
        return self.model not in _ENGLISH_ONLY or language_of(text) == "english"

    def _tried(self, embed: Callable[[], Embedded]) -> Embedded:
        for wait in _WAITS:
            try:
                return embed()
            except _failures():
                log.warning("embedding.retry", exc_info=True, extra={"model": self.model, "seconds": wait})
                self._sleep(wait)
        try:
            return embed()
        except _failures() as error:
            raise EmbeddingUnavailable(
                f"{self.model} gave no embedding ({type(error).__name__}): try again later"
            ) from error

    def _cached(self, key: tuple[str, str]) -> Vector | None:
        with self._lock:
            vector = self._latest.get(key)
            if vector is not None:
                self._latest.move_to_end(key)
            return vector

    def _keep(self, key: tuple[str, str], vector: Vector) -> Vector:
        vector.setflags(write=False)
        with self._lock:
            self._latest[key] = vector
            while len(self._latest) > _CACHED_TEXTS:
                self._latest.popitem(last=False)
        return vector


def model_of(embeddings: Embeddings) -> str:
    """The name of the vector space: the model's own name, or the class's when it has none.

    A model that was told to give fewer dimensions than it can is another space.
    """
    name = getattr(embeddings, "model", None) or getattr(embeddings, "model_name", None)
    dimensions = getattr(embeddings, "dimensions", None)
    return f"{name or type(embeddings).__name__}{f'/{dimensions}' if dimensions else ''}"


def _failures() -> tuple[type[Exception], ...]:
    """What a model that cannot be reached or run raises; a mistake in code is not among it."""
    return (OSError, RuntimeError, *client_errors(("openai", "OpenAIError"), ("httpx", "HTTPError")))
