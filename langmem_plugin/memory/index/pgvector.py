"""Vector collections in PostgreSQL: one table each, with an HNSW index by cosine."""

from collections.abc import Iterable, Sequence

from langchain_core.documents import Document
from sqlalchemy import Column, Index, MetaData, Table, Text, delete, func, inspect, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateSchema

from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.index.stores import Collection, VectorsById

try:
    from pgvector.sqlalchemy import HALFVEC
except ImportError as error:
    raise ImportError("the index pgvector needs more: pip install 'phone-memory[postgres]'") from error

_LARGEST_SEARCH = 1_000  # the most of hnsw.ef_search


def _schema_of(database: Database) -> str:
    """Return the schema of the collections: apart from the tables, which are copied and backed up without them."""
    return f"{database.schema or 'langmem'}_index"


class PgVectorCollections:
    """The collections in PostgreSQL. Raises ConfigurationError where the server has no pgvector or forbids it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        schema = _schema_of(database)
        # In a schema of ours the type would be hidden from everybody else.
        where = "" if database.schema is None else " SCHEMA public"
        role = database.engine.url.username or "the_role"
        with database.write() as connection:
            try:
                connection.execute(text("SELECT pg_advisory_xact_lock(7203512)"))  # two creations at once: one fails
                connection.execute(text(f"CREATE EXTENSION IF NOT EXISTS vector{where}"))
                # The extension is looked up first: "IF NOT EXISTS" too needs the right to make one.
                if not inspect(connection).has_schema(schema):
                    connection.execute(CreateSchema(schema))
            except DBAPIError as error:
                raise ConfigurationError(
                    f"this PostgreSQL cannot index vectors ({error.orig}): install pgvector, or have its owner run "
                    f'CREATE EXTENSION vector; CREATE SCHEMA "{schema}" AUTHORIZATION {role}'
                ) from error

    def __call__(self, name: str, embeddings: VectorsById) -> Collection:
        return PgVectorStore(self._database, name, embeddings)


class PgVectorStore:
    """The collection in PostgreSQL. Its texts are ids.

    Vectors are kept in half precision: searches compare the candidates exactly anyway.
    """

    def __init__(self, database: Database, name: str, embeddings: VectorsById) -> None:
        self._database = database
        self._embeddings = embeddings
        schema = _schema_of(database)
        self._table = Table(
            name,
            MetaData(schema=schema),
            Column("id", Text, primary_key=True),
            Column("embedding", HALFVEC(embeddings.dimension), nullable=False),
            Index(
                f"{name}_nearest",
                "embedding",
                postgresql_using="hnsw",
                postgresql_ops={"embedding": "halfvec_cosine_ops"},
            ),
        )
        with database.read() as connection:
            is_known = inspect(connection).has_table(name, schema=schema)
        if not is_known:
            with database.write() as connection:
                connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))
                self._table.create(connection, checkfirst=True)

    def add_texts(self, texts: Iterable[str], *, ids: list[str]) -> list[str]:  # noqa: ARG002 - the texts are the ids
        added = list(texts)
        vectors = self._embeddings.embed_documents(added)
        statement = insert(self._table)
        new = statement.excluded.embedding
        with self._database.write(patience=BULK_WORK) as connection:
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["id"], set_={"embedding": new}, where=self._table.c.embedding != new
                ),
                [{"id": memory_id, "embedding": vector} for memory_id, vector in zip(added, vectors, strict=True)],
            )
        return added

    def delete(self, ids: list[str]) -> None:
        with self._database.write() as connection:
            connection.execute(delete(self._table).where(self._table.c.id.in_(ids)))

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        with self._database.read() as connection:
            found = connection.execute(select(self._table.c.id).where(self._table.c.id.in_(ids))).scalars()
            return [Document(page_content=memory_id, id=memory_id) for memory_id in found]

    def similarity_search_by_vector(self, embedding: list[float], k: int) -> list[Document]:
        nearest = select(self._table.c.id).order_by(self._table.c.embedding.cosine_distance(embedding)).limit(k)
        with self._database.read() as connection:
            connection.execute(
                select(
                    func.set_config("hnsw.ef_search", str(min(k, _LARGEST_SEARCH)), True),
                    func.set_config("hnsw.iterative_scan", "relaxed_order", True),
                )
            )
            return [Document(page_content=each, id=each) for each in connection.execute(nearest).scalars()]

    def delete_collection(self) -> None:
        with self._database.write() as connection:
            self._table.drop(connection, checkfirst=True)
