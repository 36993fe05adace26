"""Gives memories and messages the vectors they have not, of the present model: after it changed, or after damage."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, Table, and_, func, select, tuple_, update

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import history_message, history_vector, memory, memory_vector
from langmem_plugin.memory.damaged_rows import AnyRow, Kind, all_rows
from langmem_plugin.memory.embedding.embedder import Embedder
from langmem_plugin.memory.embedding.vectors import to_bytes
from langmem_plugin.memory.models import storable
from langmem_plugin.memory.repository import MemoryRepository

_BATCH = 64


class Texts(NamedTuple):
    """A table of texts, that of their vectors, and the column that names a text within its owner."""

    texts: Table
    vectors: Table
    name: str


MEMORIES = Texts(memory, memory_vector, "memory_id")
MESSAGES = Texts(history_message, history_vector, "message_id")


class MissingVectors:
    """Nothing is embedded in a transaction, and nothing is lost where it stops: the next call goes on."""

    def __init__(self, database: Database, embedder: Embedder, repository: MemoryRepository) -> None:
        self._database = database
        self._embedder = embedder
        self._repository = repository

    def count(self, of: Texts) -> int:
        """How many texts have no vector."""
        missing = select(func.count()).select_from(self._joined(of)).where(of.vectors.c.vector.is_(None))
        with self._database.read() as connection:
            return int(connection.execute(missing).scalar_one())

    def made(self, of: Texts) -> Iterator[int]:
        """How many of each batch were made, once they are stored.

        A text the model has no vector for is passed by. Raises EmbeddingUnavailable.
        """
        key = of.texts.c[of.name]
        missing = (
            self._texts(of)
            .select_from(self._joined(of))
            .where(of.vectors.c.vector.is_(None))
            .order_by(of.texts.c.owner, key)
            .limit(_BATCH)
        )
        after = ("", "")
        while True:
            with self._database.read() as connection:
                rows = all_rows(connection, missing.where(tuple_(of.texts.c.owner, key) > after))
            if not rows:
                return
            after = (rows[-1].owner, rows[-1].id)
            yield self._embedded(of, rows)

    def mend(self, kind: Kind, owner: str, row_id: str) -> None:
        """Makes one damaged vector anew. Until then, and where that fails, words alone find its text.

        Raises EmbeddingUnavailable.
        """
        of = MEMORIES if kind == "memory vector" else MESSAGES
        its_text = self._texts(of).where(of.texts.c.owner == owner, of.texts.c[of.name] == row_id)
        with self._database.read() as connection:
            rows = all_rows(connection, its_text)
        if self._embedded(of, rows):
            self._repository.damages.forget(kind, owner, row_id)

    def _embedded(self, of: Texts, rows: Sequence[AnyRow]) -> int:
        vectors = self._embedder.each([row.text for row in rows])
        embedded = [
            (row, vector)
            for row, vector in zip(rows, vectors, strict=True)
            if vector is not None and storable(row.text) == row.text
        ]
        with self._database.write() as connection:
            for row, vector in embedded:
                number, _ = self._repository.begin_change(connection, row.owner)
                # Only what still says what was embedded; whoever changed it has embedded it anew.
                kept = connection.execute(
                    update(of.texts)
                    .where(of.texts.c.owner == row.owner, of.texts.c[of.name] == row.id, of.texts.c.text == row.text)
                    .values(change=number)
                )
                if kept.rowcount:
                    stored = {"owner": row.owner, of.name: row.id, "vector": to_bytes(vector)}
                    self._repository.put_vectors(connection, of.vectors, of.name, [stored])
        return len(embedded)

    def _texts(self, of: Texts) -> Select[Any]:
        return select(of.texts.c.owner, of.texts.c[of.name].label("id"), of.texts.c.text)

    def _joined(self, of: Texts) -> Any:
        return of.texts.outerjoin(
            of.vectors,
            and_(
                of.vectors.c.owner == of.texts.c.owner,
                of.vectors.c[of.name] == of.texts.c[of.name],
                of.vectors.c.model == self._embedder.model,
            ),
        )
