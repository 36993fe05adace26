"""The changes that an owner's vector index has still to take over, read by one follower at a time."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, func, select, tuple_, union, update

from langmem_plugin import process_forks
from langmem_plugin.database import Database, one_process
from langmem_plugin.database.memory_tables import memory, memory_index, memory_owner
from langmem_plugin.database.schema import put
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.embedding.embedder import Vector
from langmem_plugin.memory.index.stores import Collection
from langmem_plugin.memory.keep.stored_vectors import StoredVectors

BATCH = 500
_FOUND_SHARE = 0.9  # part of the vectors that an undamaged index finds by themselves
_SAMPLE = 50  # nearest, of one vector in each page
_THE_SAME = 0.9999  # cosine
_KEPT = and_(memory.c.status == "active", ~memory.c.private)


@dataclass(frozen=True)
class OwnerProgress:
    """An owner's changes, and how far the index has followed them."""

    change: int
    rebuild: int
    salt: bytes
    mark: int  # the change the index has followed to; negative while it is made from scratch
    generation: int  # a rebuilt index is another collection; 0: there was never one

    @property
    def followed(self) -> int:
        return abs(self.mark)

    @property
    def whole(self) -> bool:
        return self.mark > 0 and self.mark >= self.rebuild

    @property
    def unfinished(self) -> bool:
        return self.mark <= 0 < self.generation


class Change(NamedTuple):
    memory_id: str
    change: int
    vector: Vector | None  # None for what is private or not active


class IndexProgress:
    """The progress of one model's index: reads the changes and notes how far they were followed."""

    def __init__(self, database: Database, vectors: StoredVectors) -> None:
        self._database = database
        self._vectors = vectors
        self._one_thread = process_forks.Lock()

    @contextlib.contextmanager
    def alone(self, owner: OwnerKey) -> Iterator[None]:
        """Give a block in which nobody else, in any process, changes the owner's index. Not re-entrant."""
        with self._one_thread, one_process.alone(self._database, "index", owner):
            yield

    def of(self, connection: Connection, owner: OwnerKey) -> OwnerProgress | None:
        row = connection.execute(
            select(
                memory_owner.c.change,
                memory_owner.c.rebuild,
                memory_owner.c.salt,
                func.coalesce(memory_index.c.change, 0).label("mark"),
                func.coalesce(memory_index.c.generation, 0).label("generation"),
            )
            .outerjoin(
                memory_index,
                and_(memory_index.c.owner == memory_owner.c.owner, memory_index.c.model == self._vectors.model),
            )
            .where(memory_owner.c.owner == owner)
        ).first()
        return None if row is None else OwnerProgress(*row)

    def read(self, owner: OwnerKey) -> OwnerProgress | None:
        with self._database.read() as connection:
            return self.of(connection, owner)

    def generations(self, owner: OwnerKey) -> list[tuple[str, int]]:
        """Return (model, newest generation) of every index that was ever begun for the owner."""
        with self._database.read() as connection:
            rows = connection.execute(
                select(memory_index.c.model, memory_index.c.generation).where(memory_index.c.owner == owner)
            )
            return [(row.model, row.generation) for row in rows]

    def indexed_owners(self) -> list[OwnerKey]:
        """Return the owners for whom an index was ever begun."""
        with self._database.read() as connection:
            return list(connection.execute(select(memory_index.c.owner).distinct()).scalars())

    def forget(self, owner: OwnerKey, model: str) -> None:
        """Forget that there was an index of this model."""
        with self._database.write() as connection:
            connection.execute(delete(memory_index).where(memory_index.c.owner == owner, memory_index.c.model == model))

    def changes(self, connection: Connection, owner: OwnerKey, after: tuple[int, str]) -> list[Change]:
        """Return the next batch of changes in the order of (change, id)."""
        # Vectors are looked up for the batch alone: with a join, PostgreSQL compared every memory with every vector as
        # long as it had no statistics (20,000 just stored: a minute a batch).
        statement = (
            select(memory.c.memory_id, memory.c.change, _KEPT.label("kept"))
            .where(memory.c.owner == owner, tuple_(memory.c.change, memory.c.memory_id) > after)
            .order_by(memory.c.change, memory.c.memory_id)
            .limit(BATCH)
        )
        batch = connection.execute(statement).all()
        vectors = self._vectors.of(connection, owner, [row.memory_id for row in batch if row.kept])
        return [Change(row.memory_id, row.change, vectors.get(row.memory_id)) for row in batch]

    def unseen(self, connection: Connection, owner: OwnerKey, indexed: int) -> list[str]:
        """Return the ids that no index knows in their present state: what changed after it, and the private."""
        mine = select(memory.c.memory_id).where(memory.c.owner == owner)
        apart = (memory.c.change > indexed, memory.c.private)
        unseen = union(*map(mine.where, apart))  # each by its own index
        return list(connection.execute(unseen).scalars())

    def mark(self, owner: OwnerKey, change: int, generation: int) -> None:
        """Note how far the index has followed; negative while it is made from scratch."""
        followed = {"change": change, "generation": generation}
        with self._database.write() as connection:
            put(connection, memory_index, {"owner": owner, "model": self._vectors.model}, followed)

    def skip_removal(self, owner: OwnerKey) -> None:
        """Mark the index as up to date if every newer change was a deletion, which the index has applied already."""
        newest = select(memory_owner.c.change).where(memory_owner.c.owner == owner).scalar_subquery()
        other = select(memory.c.memory_id).where(memory.c.owner == owner, memory.c.change > memory_index.c.change)
        with self._database.write() as connection:
            connection.execute(
                update(memory_index)
                .where(
                    memory_index.c.owner == owner,
                    memory_index.c.model == self._vectors.model,
                    memory_index.c.change > 0,
                    ~other.exists(),
                )
                .values(change=newest)
            )

    def is_held(self, store: Collection, owner: OwnerKey, indexed: int) -> bool:
        """Tell whether the store holds all it should once it has followed the owner's changes to `indexed`.

        Ids and vectors can be lost apart: every id is asked for, and a sample is searched by its vector.
        """
        asked = found = 0
        after = (0, "")
        while True:
            with self._database.read() as connection:
                batch = [each for each in self.changes(connection, owner, after) if each.change <= indexed]
            if not batch:
                return found >= _FOUND_SHARE * asked
            after = (batch[-1].change, batch[-1].memory_id)
            vectors = {each.memory_id: each.vector for each in batch if each.vector is not None}
            if not vectors:
                continue
            if not {each.page_content for each in store.get_by_ids(list(vectors))}.issuperset(vectors):
                return False
            vector = next(iter(vectors.values()))
            nearest = store.similarity_search_by_vector(vector.tolist(), k=_SAMPLE)
            with self._database.read() as connection:
                cosines = self._vectors.cosines(connection, owner, vector, [each.page_content for each in nearest])
            asked += 1
            found += any(cosine > _THE_SAME for _, cosine in cosines)  # of equal vectors any may be found
