"""Where the vectors of large owners can be indexed, by the name a setting has for it: Chroma or pgvector."""

from pathlib import Path

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.index.store_contract import OpenCollection


def opened_stores(setting: str, database: Database) -> OpenCollection:
    """The stores of a setting: `chroma:FOLDER` or `pgvector`. Raises ConfigurationError."""
    kind, _, folder = setting.partition(":")
    if kind == "chroma" and folder:
        return chroma(folder)
    if setting == "pgvector":
        return pgvector(database)
    raise ConfigurationError(f"{setting!r} is no vector index: use chroma:FOLDER or pgvector")


def chroma(folder: str | Path) -> OpenCollection:
    """Collections of one Chroma database in `folder`; chromadb, of the extra `chroma`, is imported here.

    A folder serves one process: of two that write, Chroma loses the vectors of one without a word (measured).
    Another process is refused, and searches exactly; many workers share PostgreSQL with pgvector.
    """
    from langmem_plugin.memory.index.chroma import ChromaCollections  # noqa: PLC0415 - heavy: only who uses it pays for it

    return ChromaCollections(Path(folder).absolute())


def pgvector(database: Database) -> OpenCollection:
    """One table per collection in the schema `langmem_index`, beside a `schema` in `SCHEMA_index`, of our PostgreSQL.

    Raises ConfigurationError where the server has no pgvector or this is not PostgreSQL.
    """
    if database.is_sqlite:
        raise ConfigurationError("pgvector needs PostgreSQL: use postgresql://… or the index chroma:FOLDER")
    from langmem_plugin.memory.index.pgvector import PgVectorCollections  # noqa: PLC0415 - of the extra `postgres`

    return PgVectorCollections(database)
