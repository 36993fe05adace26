"""Vectors in the database: written with a checksum or encrypted, read if they are whole, compared exactly."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, and_, delete, select, update

from langmem_plugin.database.encryption import PLAINTEXT, Encryption, Place, RowCipher, encryption_of
from langmem_plugin.database.memory_tables import history_vector, memory, memory_vector
from langmem_plugin.database.schema import in_parts, upsert
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.checksums import of_vector, vector_is_whole
from langmem_plugin.memory.damaged_rows import AnyRow, Damages, Kind
from langmem_plugin.memory.embedding.unit_vectors import Matrix, Vector, cosines, from_bytes, to_bytes

SEALED = memory.c.sealed.is_not(None)  # and so is the vector
OF_MEMORY = and_(memory.c.owner == memory_vector.c.owner, memory.c.memory_id == memory_vector.c.memory_id)
_TABLES: dict[Kind, Table] = {"memory vector": memory_vector, "message vector": history_vector}
_NAMED = {memory_vector: "memory_id", history_vector: "message_id"}


class HeldVector(NamedTuple):
    """As it is in the database; `sealed`: it is to be encrypted."""

    stored: Any
    checksum: int | None
    sealed: bool


def vector_place(table: Table, owner: OwnerKey, model: str, row_id: str) -> Place:
    return Place(table.name, "vector", owner, (model, row_id))


def vector_values(encryption: Encryption, place: Place, plain: bytes, *, sealed: bool) -> dict[str, Any]:
    """The columns of a vector; one that is encrypted has no checksum, which would tell whether a guess is right."""
    if sealed:
        return {"vector": encryption.private.encrypt(place, plain), "checksum": None}
    model, row_id = map(str, place.rest)
    return {"vector": plain, "checksum": of_vector(OwnerKey(place.owner), model, row_id, plain)}


def opened_vector(encryption: Encryption, place: Place, held: HeldVector) -> bytes | None:
    """The vector as it was written; None where it is not that, or is in plain and should not be."""
    if not isinstance(held.stored, bytes):
        return None
    cipher: RowCipher = encryption.private if held.sealed else PLAINTEXT
    try:
        plain = cipher.decrypt(place, held.stored)
    except DecryptionRefused:
        return None
    model, row_id = map(str, place.rest)
    return plain if held.sealed or vector_is_whole(OwnerKey(place.owner), model, row_id, plain, held.checksum) else None


def reseal(connection: Connection, table: Table, owner: OwnerKey, row_id: str, *, sealed: bool) -> None:
    """Encrypts all vectors of a row, or no longer, as the row itself is now. One that is damaged is deleted."""
    encryption, id_column = encryption_of(connection), table.c[_NAMED[table]]
    here = (table.c.owner == owner, id_column == row_id)
    held = select(table.c.model, table.c.vector, table.c.checksum).where(*here)
    for model, stored, checksum in connection.execute(held).all():
        place = vector_place(table, owner, model, row_id)
        plain = opened_vector(encryption, place, HeldVector(stored, checksum, not sealed))
        one = and_(*here, table.c.model == model)
        if plain is None:
            connection.execute(delete(table).where(one))
        else:
            values = vector_values(encryption, place, plain, sealed=sealed)
            connection.execute(update(table).where(one).values(values))


class StoredVectors:
    """The vectors of one model; the caller opens the connections. Those of encrypted rows are encrypted too."""

    def __init__(self, model: str, damages: Damages) -> None:
        self.model = model
        self._damages = damages

    def put(self, connection: Connection, owner: OwnerKey, vectors: Iterable[tuple[str, Vector, bool]]) -> None:
        """Of memories: the id of each, its vector, and whether it is encrypted; one that is there is replaced."""
        rows = [
            {"owner": owner, "memory_id": memory_id, "vector": to_bytes(vector), "sealed": sealed}
            for memory_id, vector, sealed in vectors
        ]
        self.put_rows(connection, memory_vector, "memory_id", rows)

    def put_rows(self, connection: Connection, table: Table, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """The same for any table of vectors, whose rows are named by `name` within their owner."""
        statement, encryption = upsert(connection, table), encryption_of(connection)
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["owner", "model", name],
                set_={"vector": statement.excluded.vector, "checksum": statement.excluded.checksum},
            ),
            [
                {
                    "owner": row["owner"],
                    "model": self.model,
                    name: row[name],
                    **vector_values(
                        encryption,
                        vector_place(table, row["owner"], self.model, row[name]),
                        row["vector"],
                        sealed=row["sealed"],
                    ),
                }
                for row in rows
            ],
        )

    def whole(self, encryption: Encryption, kind: Kind, owner: OwnerKey, row_id: str, held: HeldVector) -> bytes | None:
        """The vector as it was made; None where there is none any more, which is reported."""
        if held.stored is None:
            return None
        found = opened_vector(encryption, vector_place(_TABLES[kind], owner, self.model, row_id), held)
        if found is None:
            self._damages.report(kind, owner, row_id)
        return found

    def compared(
        self, encryption: Encryption, owner: OwnerKey, rows: Iterable[tuple[Any, ...]], vector: Vector
    ) -> list[tuple[str, float]]:
        """The cosine with `vector` of each row of (memory id, stored vector, checksum, whether it is encrypted) that
        can be compared.
        """
        held = [
            (memory_id, whole)
            for memory_id, *stored in rows
            if (whole := self.whole(encryption, "memory vector", owner, memory_id, HeldVector(*stored)))
            and len(whole) == vector.nbytes
        ]
        if not held:
            return []
        found = cosines(_matrix([stored for _, stored in held]), vector)
        return [(memory_id, float(cosine)) for (memory_id, _), cosine in zip(held, found, strict=True)]

    def cosines(
        self, connection: Connection, owner: OwnerKey, vector: Vector, memory_ids: Sequence[str]
    ) -> list[tuple[str, float]]:
        """The exact cosine of each of these memories that has a vector, in no order."""
        return self.compared(encryption_of(connection), owner, self._rows(connection, owner, memory_ids), vector)

    def of(self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> dict[str, Vector]:
        """Those of these memories that are there and whole."""
        rows, encryption = self._rows(connection, owner, memory_ids), encryption_of(connection)
        whole = (
            (memory_id, self.whole(encryption, "memory vector", owner, memory_id, HeldVector(*held)))
            for memory_id, *held in rows
        )
        return {memory_id: from_bytes(stored) for memory_id, stored in whole if stored is not None}

    def _rows(self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> Iterator[AnyRow]:
        for part in in_parts(memory_ids):
            yield from connection.execute(
                select(memory_vector.c.memory_id, memory_vector.c.vector, memory_vector.c.checksum, SEALED)
                .join(
                    memory,
                    and_(memory.c.owner == memory_vector.c.owner, memory.c.memory_id == memory_vector.c.memory_id),
                )
                .where(
                    memory_vector.c.owner == owner,
                    memory_vector.c.model == self.model,
                    memory_vector.c.memory_id.in_(part),
                )
            )


def _matrix(stored: Sequence[bytes]) -> Matrix:
    """One row per vector; shape (rows, dimension)."""
    return from_bytes(b"".join(stored)).reshape(len(stored), -1)
