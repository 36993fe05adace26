"""Vectors: of unit length, as bytes, stored with a checksum or encrypted, read if they are whole, compared exactly."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BindParameter, Connection, ScalarSelect, Select, Table, insert, select

from langmem_plugin.database.encryption import Encryption, Place, encryption_of
from langmem_plugin.database.memory_tables import history_vector, memory, memory_vector
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.schema import in_parts, inserts
from langmem_plugin.errors import DecryptionRefused, EmbeddingDimMismatchError, InvalidInput
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.changes_and_checksums import Damages, Kind, checksum_of_vector, each_row, is_any

Vector: TypeAlias = NDArray[np.float32]  # shape (dimension,), length 1
Matrix: TypeAlias = NDArray[np.float32]  # shape (rows, dimension), every row of length 1

_STORED_FLOATS, _STORED_HALVES = np.dtype("<f4"), np.dtype("<f2")  # the bytes mean the same on every machine
_HALVES = b"h"  # begins what is stored as float16, whose length is odd by it

_MEMORY_VECTORS = select(memory_vector.c.memory_id, memory_vector.c.vector, memory_vector.c.checksum)
_TABLES: dict[Kind, Table] = {"memory vector": memory_vector, "message vector": history_vector}
NAMED_BY = {memory_vector: "memory_id", history_vector: "message_id"}
"""The column that names a row within its owner and model."""


def vector_columns(model: str | BindParameter[str], texts: Table) -> tuple[ScalarSelect[Any], ScalarSelect[Any]]:
    """Return the vector and the checksum of each row of a query on memories or messages; None where it has none.

    Looked up row by row: joined, PostgreSQL compares every text of an owner with every vector of theirs as long as its
    statistics say that an owner has few (2,500 just stored: 1.5 s, and 24 s for 10,000).
    """
    table = memory_vector if texts is memory else history_vector
    name = NAMED_BY[table]
    its = (table.c.owner == texts.c.owner, table.c.model == model, table.c[name] == texts.c[name])
    return select(table.c.vector).where(*its).scalar_subquery(), select(table.c.checksum).where(*its).scalar_subquery()


def unit(values: Sequence[float] | Vector, dimension: int | None = None) -> Vector:
    """Return `values` scaled to length 1, as float32.

    Raises InvalidInput (a ValueError) for a value that is not finite, for nothing at all and for a vector of
    zeros, which points nowhere; EmbeddingDimMismatchError when `dimension` is given and is another one.
    """
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"an embedding is one flat list of numbers ({error})") from error
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInput(f"an embedding is one flat list of numbers, not of shape {vector.shape}")
    if dimension is not None and vector.size != dimension:
        raise EmbeddingDimMismatchError(dimension, vector.size)
    if not np.isfinite(vector).all():
        raise InvalidInput("an embedding holds a value that is not a finite number")
    largest = float(np.abs(vector).max())
    if largest == 0.0:
        raise InvalidInput("an embedding of zeros points nowhere")
    vector = vector / largest  # squares of very large or very small values would leave float64
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def cosines(rows: Matrix, vector: Vector) -> NDArray[np.float32]:
    """Return the cosine of every row with `vector`; shape (rows,)."""
    # One product per row and no matrix product: that takes several threads, which wait for one another
    # ten times longer than they work as soon as another process wants a core.
    found: NDArray[np.float32] = np.vecdot(rows, vector)
    return found


def to_bytes(vector: Vector) -> bytes:
    return vector.astype(_STORED_FLOATS, copy=False).tobytes()


def to_halves(vector: Vector) -> bytes:
    """Return the vector as float16: a cosine with it differs in the fourth decimal."""
    return _HALVES + vector.astype(_STORED_HALVES).tobytes()


def from_bytes(stored: bytes) -> Vector:
    """Return the vector, as float32, that `to_bytes` or `to_halves` was given."""
    if len(stored) % 2:
        return np.frombuffer(stored, dtype=_STORED_HALVES, offset=len(_HALVES)).astype(np.float32)
    return np.frombuffer(stored, dtype=_STORED_FLOATS).astype(np.float32, copy=False)


def _put(insert: Any) -> Any:
    put = {"vector": insert.excluded.vector, "checksum": insert.excluded.checksum}
    return insert.on_conflict_do_update(index_elements=[*insert.table.primary_key], set_=put)


_PUT = {table: Prepared(inserts(table, _put)) for table in _TABLES.values()}


def vector_place(table: Table, owner: OwnerKey, model: str, row_id: str) -> Place:
    return Place(table.name, "vector", owner, (model, row_id))


def vector_values(encryption: Encryption, place: Place, plain: bytes) -> dict[str, Any]:
    """Return the columns of a vector; an encrypted one has no checksum, which would tell whether a guess is right."""
    if encryption.encrypts:
        return {"vector": encryption.cipher.encrypt(place, plain), "checksum": None}
    model, row_id = map(str, place.rest)
    return {"vector": plain, "checksum": checksum_of_vector(OwnerKey(place.owner), model, row_id, plain)}


def opened_vector(encryption: Encryption, place: Place, held: Sequence[Any]) -> bytes | None:
    """Return the vector as it was written, of what is held as vector and checksum; None where it is not that, or is in
    plain and should not be.
    """
    stored, checksum = held
    if not isinstance(stored, bytes):
        return None
    try:
        plain = encryption.cipher.decrypt(place, stored)
    except DecryptionRefused:
        return None
    model, row_id = map(str, place.rest)
    trusted = encryption.encrypts or checksum is None
    return plain if trusted or checksum == checksum_of_vector(OwnerKey(place.owner), model, row_id, plain) else None


class StoredVectors:
    """The vectors of one model; the caller opens the connections."""

    def __init__(self, model: str, damages: Damages) -> None:
        self.model = model
        self._damages = damages

    def put(
        self,
        connection: Connection,
        owner: OwnerKey,
        vectors: Iterable[tuple[str, Vector]],
        table: Table = memory_vector,
    ) -> None:
        """Store the vectors of memories or of messages, each with its id; one that is there is replaced.

        Vectors of past talk, which are the most, are kept in half the bytes.
        """
        as_stored = to_halves if table is history_vector else to_bytes
        encryption, rows = encryption_of(connection), list[dict[str, Any]]()
        for row_id, vector in vectors:
            place = vector_place(table, owner, self.model, row_id)
            named = {"owner": owner, "model": self.model, NAMED_BY[table]: row_id}
            rows.append(named | vector_values(encryption, place, as_stored(vector)))
        _PUT[table].run_each(connection, rows)

    def whole(
        self, encryption: Encryption, kind: Kind, owner: OwnerKey, row_id: str, held: Sequence[Any]
    ) -> bytes | None:
        """Return the vector as it was made; None where there is none any more, which is reported."""
        if held[0] is None:
            return None
        found = opened_vector(encryption, vector_place(_TABLES[kind], owner, self.model, row_id), held)
        if found is None:
            self._damages.report(kind, owner, row_id)
        return found

    def of_memories(self) -> Select[Any]:
        """Return a query on memories for the id, the vector and its checksum."""
        return select(memory.c.memory_id, *vector_columns(self.model, memory))

    def read(self, connection: Connection, owner: OwnerKey, chosen: Select[Any]) -> Iterator[tuple[str, bytes]]:
        """Give the id and the vector of each memory of these three columns whose vector is there and whole."""
        encryption = encryption_of(connection)
        for memory_id, *held in each_row(connection, chosen):
            if (whole := self.whole(encryption, "memory vector", owner, memory_id, held)) is not None:
                yield memory_id, whole

    def cosines(
        self, connection: Connection, owner: OwnerKey, vector: Vector, memory_ids: Sequence[str]
    ) -> list[tuple[str, float]]:
        """Return the exact cosine of each of these memories that has a vector, in no order."""
        return compared(self._named(connection, owner, memory_ids), vector)

    def of(self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of these memories that are there and whole."""
        return {each: from_bytes(whole) for each, whole in self._named(connection, owner, memory_ids)}

    def _named(self, connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        mine = _MEMORY_VECTORS.where(memory_vector.c.owner == owner, memory_vector.c.model == self.model)
        return self.read(connection, owner, mine.where(is_any(memory_vector.c.memory_id, memory_ids)))


def compared(vectors: Iterable[tuple[str, bytes]], vector: Vector) -> list[tuple[str, float]]:
    """Return the cosine with `vector` of each that can be compared, by id."""
    held = [each for each in vectors if len(each[1]) == vector.nbytes]
    rows = from_bytes(b"".join(whole for _, whole in held)).reshape(len(held), len(vector))
    return [(each, float(cosine)) for (each, _), cosine in zip(held, cosines(rows, vector), strict=True)]


def move_vectors(
    connection: Connection, table: Table, source: OwnerKey, target: OwnerKey, ids: Mapping[str, str]
) -> None:
    """Copy the vectors of rows that another owner has under these new ids; a damaged one is left out."""
    encryption, name = encryption_of(connection), NAMED_BY[table]
    held = select(table.c.model, table.c[name], table.c.vector, table.c.checksum).where(table.c.owner == source)
    for part in in_parts(list(ids)):
        arriving = []
        for model, old, *stored in connection.execute(held.where(is_any(table.c[name], part))).all():
            plain = opened_vector(encryption, vector_place(table, source, model, old), stored)
            if plain is not None:
                values = vector_values(encryption, vector_place(table, target, model, ids[old]), plain)
                arriving.append({"owner": target, "model": model, name: ids[old], **values})
        if arriving:
            connection.execute(insert(table), arriving)
