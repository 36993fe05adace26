"""Where the vectors of large owners can be indexed: Chroma, pgvector, or any LangChain VectorStore by a factory."""

from collections.abc import Callable, Mapping
from pathlib import Path

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError, LangMemError, client_errors
from langmem_plugin.memory.embedding.vectors import Vector


class StoredVectors(Embeddings):
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


OpenCollection = Callable[[str, StoredVectors], VectorStore]
"""(name, embeddings) -> the collection of that name, by cosine, made if it is not there.

Names have letters, digits and what the caller chose. The store must have `add_texts` and `delete` by ids and
`get_by_ids`; what it raises must be among `failures()`. Where the factory has `close()` it is called in the end.
"""


def opened_stores(said: str, database: Database) -> OpenCollection:
    """The stores of a setting: `chroma:FOLDER` or `pgvector`. Raises ConfigurationError."""
    kind, _, folder = said.partition(":")
    if kind == "chroma" and folder:
        return chroma(folder)
    if said == "pgvector":
        return pgvector(database)
    raise ConfigurationError(f"{said!r} is no vector index: use chroma:FOLDER or pgvector")


def chroma(folder: str | Path) -> OpenCollection:
    """Collections of one Chroma database in `folder`; chromadb is imported here.

    A folder serves one process: of two that write, Chroma loses the vectors of one without a word (measured).
    Another process is refused, and searches exactly; many workers share PostgreSQL with pgvector.
    """
    from langmem_plugin.memory.index.chroma import ChromaCollections  # noqa: PLC0415 - heavy: only who uses it pays for it

    return ChromaCollections(Path(folder).absolute())


def pgvector(database: Database) -> OpenCollection:
    """One table per collection in the schema `langmem_index` of our own PostgreSQL database.

    Raises ConfigurationError where the server has no pgvector or this is not PostgreSQL.
    """
    if database.is_sqlite:
        raise ConfigurationError("pgvector needs PostgreSQL: use postgresql://… or the index chroma:FOLDER")
    from langmem_plugin.memory.index.pgvector import PgVectorCollections  # noqa: PLC0415 - of the extra `postgres`

    return PgVectorCollections(database)


def failures() -> tuple[type[Exception], ...]:
    """What a store raises that is broken, locked, closed or gone; clients' own errors where they are loaded."""
    clients = client_errors(
        ("chromadb.errors", "ChromaError"),
        ("qdrant_client.http.exceptions", "ApiException"),
        ("sqlalchemy.exc", "SQLAlchemyError"),
    )
    # AttributeError and TypeError are what a Chroma client raises that another thread has closed meanwhile.
    return (OSError, RuntimeError, ValueError, KeyError, AttributeError, TypeError, LangMemError, *clients)
