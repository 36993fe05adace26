"""Vectors in the database: written with a checksum, read if they are whole, compared exactly."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, select

from langmem_plugin.database.memory_tables import memory_vector
from langmem_plugin.database.schema import in_parts, upsert
from langmem_plugin.memory.checksums import of_vector, vector_is_whole
from langmem_plugin.memory.damaged_rows import AnyRow, Damages, Kind
from langmem_plugin.memory.embedding.unit_vectors import Matrix, Vector, cosines, from_bytes, to_bytes


class StoredVectors:
    """The vectors of one model; the caller opens the connections."""

    def __init__(self, model: str, damages: Damages) -> None:
        self.model = model
        self._damages = damages

    def put(self, connection: Connection, owner: str, vectors: Iterable[tuple[str, Vector]]) -> None:
        """Of memories, by id; a vector that is there is replaced."""
        rows = [{"owner": owner, "memory_id": memory_id, "vector": to_bytes(vector)} for memory_id, vector in vectors]
        self.put_rows(connection, memory_vector, "memory_id", rows)

    def put_rows(self, connection: Connection, table: Table, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """The same for any table of vectors, whose rows are named by `name` within their owner."""
        statement = upsert(connection, table)
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
        self._damages.report(kind, owner, row_id)
        return None

    def compared(self, owner: str, rows: Iterable[tuple[Any, ...]], vector: Vector) -> list[tuple[str, float]]:
        """The cosine with `vector` of each row of (memory id, stored vector, checksum) that can be compared."""
        held = [
            (memory_id, stored)
            for memory_id, stored, checksum in rows
            if self.whole("memory vector", owner, memory_id, stored, checksum) and len(stored) == vector.nbytes
        ]
        if not held:
            return []
        found = cosines(_matrix([stored for _, stored in held]), vector)
        return [(memory_id, float(cosine)) for (memory_id, _), cosine in zip(held, found, strict=True)]

    def cosines(
        self, connection: Connection, owner: str, vector: Vector, memory_ids: Sequence[str]
    ) -> list[tuple[str, float]]:
        """The exact cosine of each of these memories that has a vector, in no order."""
        return self.compared(owner, self._rows(connection, owner, memory_ids), vector)

    def of(self, connection: Connection, owner: str, memory_ids: Sequence[str]) -> dict[str, Vector]:
        """Those of these memories that are there and whole."""
        rows = self._rows(connection, owner, memory_ids)
        whole = ((row.memory_id, self.whole("memory vector", owner, *row)) for row in rows)
        return {memory_id: from_bytes(stored) for memory_id, stored in whole if stored is not None}

    def _rows(self, connection: Connection, owner: str, memory_ids: Sequence[str]) -> Iterator[AnyRow]:
        for part in in_parts(memory_ids):
            yield from connection.execute(
                select(memory_vector.c.memory_id, memory_vector.c.vector, memory_vector.c.checksum).where(
                    memory_vector.c.owner == owner,
                    memory_vector.c.model == self.model,
                    memory_vector.c.memory_id.in_(part),
                )
            )


def _matrix(stored: Sequence[bytes]) -> Matrix:
    """One row per vector; shape (rows, dimension)."""
    return from_bytes(b"".join(stored)).reshape(len(stored), -1)
