"""What every corpus of an owner has in the database: numbered changes, and vectors beside the texts."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory_index, memory_owner, memory_vector
from langmem_plugin.memory.checksums import of_vector, vector_is_whole
from langmem_plugin.memory.damaged_rows import AnyRow, Damages, Kind
from langmem_plugin.memory.embedding.vectors import Matrix, Vector, cosines, from_bytes, to_bytes

_AT_ONCE = 500  # ids in one IN list


class VectorRows:
    """The vectors of one model; the caller opens the connections."""

    def __init__(self, database: Database, *, model: str) -> None:
        self.model = model  # whose vectors are written and compared
        self.damages = Damages()
        self._upsert = sqlite_insert if database.is_sqlite else postgresql_insert

    def begin_change(self, connection: Connection, owner: str, numbers: int = 1) -> tuple[int, bytes]:
        """Takes so many numbers of changes; the last one, and the owner's salt.

        On PostgreSQL the owner's other writers wait here until this transaction ends.
        """
        row = connection.execute(
            self._upsert(memory_owner)
            .values(owner=owner, change=numbers, rebuild=0, salt=os.urandom(16))
            .on_conflict_do_update(index_elements=["owner"], set_={"change": memory_owner.c.change + numbers})
            .returning(memory_owner.c.change, memory_owner.c.salt)
        ).one()
        return row.change, row.salt

    def store_vectors(self, connection: Connection, owner: str, vectors: Iterable[tuple[str, Vector]]) -> None:
        """By memory id, under the repository's model; a vector that is there is replaced."""
        rows = [{"owner": owner, "memory_id": memory_id, "vector": to_bytes(vector)} for memory_id, vector in vectors]
        self.put_vectors(connection, memory_vector, "memory_id", rows)

    def put_vectors(self, connection: Connection, table: Table, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """The same for any table of vectors, whose rows are named by `name` within their owner."""
        statement = self._upsert(table)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["owner", "model", name],
                set_={"vector": statement.excluded.vector, "checksum": statement.excluded.checksum},
            ),
            [
                {
                    "model": self.model,
                    "checksum": of_vector(row["owner"], self.model, row[name], row["vector"]),
                    **row,
                }
                for row in rows
            ],
        )

    def whole(self, kind: Kind, owner: str, row_id: str, stored: bytes | None, checksum: int | None) -> bytes | None:
        """The vector as it was written; None where there is none any more, which is reported."""
        if stored is None:
            return None
        if vector_is_whole(owner, self.model, row_id, stored, checksum):
            return stored
        self.damages.report(kind, owner, row_id)
        return None

    def compared(self, owner: str, rows: Iterable[AnyRow], vector: Vector) -> list[tuple[str, float]]:
        """The cosine with `vector` of each row of (memory id, stored vector, checksum) that can be compared."""
        held = [
            (memory_id, stored)
            for memory_id, stored, checksum in rows
            if self.whole("memory vector", owner, memory_id, stored, checksum) and len(stored) == vector.nbytes
        ]
        if not held:
            return []
        found = cosines(matrix([stored for _, stored in held]), vector)
        return [(memory_id, float(cosine)) for (memory_id, _), cosine in zip(held, found, strict=True)]

    def cosines(
        self, connection: Connection, owner: str, vector: Vector, memory_ids: Sequence[str]
    ) -> list[tuple[str, float]]:
        """The exact cosine of each of these memories that has a vector, in no order."""
        held: list[AnyRow] = []
        for part in parts(memory_ids):
            rows = connection.execute(
                select(memory_vector.c.memory_id, memory_vector.c.vector, memory_vector.c.checksum).where(
                    memory_vector.c.owner == owner,
                    memory_vector.c.model == self.model,
                    memory_vector.c.memory_id.in_(part),
                )
            )
            held.extend(rows)
        return self.compared(owner, held, vector)

    def mark_index(self, connection: Connection, owner: str, *, change: int, generation: int) -> None:
        """Notes how far the owner's vector index has followed."""
        said = {"change": change, "generation": generation}
        connection.execute(
            self._upsert(memory_index)
            .values(owner=owner, model=self.model, **said)
            .on_conflict_do_update(index_elements=["owner", "model"], set_=said)
        )


def matrix(stored: Sequence[bytes]) -> Matrix:
    """One row per vector; shape (rows, dimension)."""
    return from_bytes(b"".join(stored)).reshape(len(stored), -1)


def parts(many: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (many[start : start + _AT_ONCE] for start in range(0, len(many), _AT_ONCE))
