"""Vector stores that can serve as the index, and the demands on a store of somebody's own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.keep.vectors import Vector


class VectorsById(Embeddings):
    """The vectors by memory id, as the database holds them, so that nothing is embedded twice."""

    def __init__(self, dimension: int, *, strict: bool = True) -> None:
        self.dimension = dimension
        self.strict = strict  # whether a collection of another dimension or distance is refused, or only deleted
        self.of: Mapping[str, Vector] = {}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.of[memory_id].tolist() for memory_id in texts]

    def embed_query(self, text: str) -> list[float]:
        values: list[float] = self.of[text].tolist()
        return values


class Collection(Protocol):
    """The part of a LangChain VectorStore that an index uses."""

    def add_texts(self, texts: Iterable[str], *, ids: list[str]) -> object: ...
    def delete(self, ids: list[str]) -> object: ...
    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]: ...
    def similarity_search_by_vector(self, embedding: list[float], k: int) -> list[Document]: ...


OpenCollection: TypeAlias = Callable[[str, VectorsById], Collection]
"""The factory (name, embeddings) -> the collection of that name, by cosine, made if it is not there.

Names have letters, digits and what the caller chose. The store must have `add_texts` and `delete` by ids,
`get_by_ids` and `similarity_search_by_vector`; `delete_collection`, and `close()` of the factory, are used where they
are. Whatever they raise, everything is compared exactly, a WARNING says so, and the index is tried again later; but for
ConfigurationError, by which a factory says that the collection of this name is another's. A factory to whose folder
another application may have written has `foreign_documents(name)`, which gives as ForeignDocument what is not ours, and
`remove_foreign(name, document_ids)`, which leaves no byte of it in the files.
"""


@dataclass(frozen=True, slots=True)
class ForeignDocument:
    document_id: str
    text: str | None
    metadata: Mapping[str, Any]


def opened_stores(setting: str, database: Database) -> OpenCollection:
    """Open the stores of a setting: `chroma:FOLDER` or `pgvector`. Raises ConfigurationError."""
    kind, _, folder = setting.partition(":")
    if kind == "chroma" and folder:
        return chroma(folder)
    if setting == "pgvector":
        return pgvector(database)
    raise ConfigurationError(f"{setting!r} is no vector index: use chroma:FOLDER or pgvector")


def chroma(folder: str | Path) -> OpenCollection:
    """Open collections of one Chroma database in `folder`; chromadb, of the extra `chroma`, is imported here.

    A folder serves one process: of two that write, Chroma loses the vectors of one without a word (measured).
    Another process is refused, and searches exactly; many workers share PostgreSQL with pgvector.
    """
    from langmem_plugin.memory.index.chroma import ChromaCollections  # noqa: PLC0415 - heavy: only who uses it pays for it

    return ChromaCollections(Path(folder).absolute())


def pgvector(database: Database) -> OpenCollection:
    """Open one table per collection in the schema `langmem_index`, beside a `schema` in `SCHEMA_index`,
    of our PostgreSQL.

    Raises ConfigurationError where the server has no pgvector or this is not PostgreSQL.
    """
    if database.is_sqlite:
        raise ConfigurationError("pgvector needs PostgreSQL: use postgresql://… or the index chroma:FOLDER")
    from langmem_plugin.memory.index.pgvector import PgVectorCollections  # noqa: PLC0415 - of the extra `postgres`

    return PgVectorCollections(database)
