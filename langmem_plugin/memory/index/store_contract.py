"""What a vector store has to be to serve as the index, and what a factory of one's own has to know."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from langmem_plugin.errors import EmbeddingUnavailable, StoreUnavailable
from langmem_plugin.memory.embedding.unit_vectors import Vector


class VectorsById(Embeddings):
    """Gives each memory id the vector the database holds for it, so that nothing is embedded twice."""

    def __init__(self, dimension: int, *, strict: bool = True) -> None:
        self.dimension = dimension
        self.strict = strict  # whether a collection of another dimension or distance is refused, or only deleted
        self.of: Mapping[str, Vector] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.of[memory_id].tolist() for memory_id in texts]

    def embed_query(self, text: str) -> list[float]:
        values: list[float] = self.of[text].tolist()
        return values


OpenCollection: TypeAlias = Callable[[str, VectorsById], VectorStore]
"""(name, embeddings) -> the collection of that name, by cosine, made if it is not there.

Names have letters, digits and what the caller chose. The store must have `add_texts` and `delete` by ids,
`get_by_ids` and `similarity_search_by_vector`. Where it has `settle()`, that is called once a new collection holds all
there is, before it is searched; where the factory has `close()`, in the end.

The factory and its stores say that the index is down by raising StoreUnavailable or an OSError, a TimeoutError for
instance, or what the factory declares by an attribute `failures`, a tuple of exception classes: everything is then
compared exactly, and the index is tried again later. Anything else they raise is a mistake in them: replies are
answered without the index, an ERROR says so once for each owner, and `reindex` and the constructor of
MemoryService raise ConfigurationError.
"""


def failures_of(open_collection: OpenCollection) -> tuple[type[Exception], ...]:
    """What means that the index is down, as the factory sees it."""
    declared: tuple[type[Exception], ...] = getattr(open_collection, "failures", ())
    return (StoreUnavailable, EmbeddingUnavailable, OSError, *declared)
