"""Memories in the database: every statement names the owner, every write is conditional."""

import hashlib
import json
import logging
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory, memory_owner, memory_vector
from langmem_plugin.errors import InvalidInput, MemoryNotFound, StaleMemory
from langmem_plugin.memory.models import Filter, Memory, Status, as_tags, plain
from langmem_plugin.memory.vectors import Matrix, Vector, from_bytes, to_bytes

log = logging.getLogger(__name__)

_STORED = [column for column in memory.c if column.name not in ("change", "text_digest")]
_LIVE: tuple[Status, ...] = ("active", "pending")
_AT_ONCE = 500  # ids in one IN list


@dataclass(frozen=True)
class NewMemory:
    """A memory ready to be stored; `fields` as in MemoryFields."""

    text: str
    vector: Vector
    fields: Mapping[str, Any]


class MemoryRepository:
    """One owner at a time; a connection comes from `database.read()` or `.write()` of the caller."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._upsert = sqlite_insert if database.is_sqlite else postgresql_insert

    def create_memory(
        self,
        connection: Connection,
        owner: str,
        new: NewMemory,
        *,
        model: str,
        now: datetime,
        known_counts: bool = True,
    ) -> Memory:
        """Stores `new`. With `known_counts` a live memory with the same text and key is returned instead.

        A pending one that is now stated outright becomes active.
        """
        change, salt = self._begin_change(connection, owner)
        digest = _digest(salt, new.text, new.fields.get("key"))
        if known_counts:
            same = self._same(connection, owner, digest, now)
            if same is not None:
                if same.status == "pending" and new.fields.get("status", "active") == "active":
                    return self.change(connection, owner, same.id, {"status": "active"}, now=now)
                return same
        made = _validated(
            {
                "id": str(uuid.uuid4()),
                "owner": owner,
                "text": new.text,
                "created_at": now,
                "updated_at": now,
            }
            | _checked(new.fields)
        )
        values = made.model_dump(exclude={"id"}) | {
            "memory_id": made.id,
            "change": change,
            "text_digest": digest,
        }
        connection.execute(insert(memory), values)
        self._store_vector(connection, owner, made.id, new.vector, model)
        return made

    def change(
        self,
        connection: Connection,
        owner: str,
        memory_id: str,
        changes: Mapping[str, Any],
        *,
        now: datetime,
        revision: int | None = None,
        statuses: Sequence[Status] = _LIVE,
        vector: Vector | None = None,
        model: str | None = None,
    ) -> Memory:
        """Writes `changes` if the memory is in one of `statuses` and, when given, still at `revision`.

        Raises MemoryNotFound or StaleMemory, and then nothing is written.
        """
        number, salt = self._begin_change(connection, owner)
        before = self.one(connection, owner, memory_id)
        if before is None or before.status not in statuses:
            raise MemoryNotFound(f"there is no memory {memory_id} to change: list the memories for their ids")
        if revision is not None and before.revision != revision:
            raise StaleMemory(f"memory {memory_id} has changed since revision {revision}: read it again")
        after = _validated(
            before.model_dump() | _checked(changes) | {"revision": before.revision + 1, "updated_at": now}
        )
        connection.execute(
            update(memory)
            .where(memory.c.owner == owner, memory.c.memory_id == memory_id)
            .values(
                change=number,
                text_digest=_digest(salt, after.text, after.key),
                **after.model_dump(exclude={"id", "owner", "access_count", "last_accessed"}),
            )
        )
        if vector is not None and model is not None:
            self._store_vector(connection, owner, memory_id, vector, model)
        return after

    def touch(self, connection: Connection, owner: str, memory_ids: Sequence[str], now: datetime) -> list[str]:
        """Counts one use of each memory that is active, and returns those; nothing else is changed by it."""
        number, _ = self._begin_change(connection, owner)
        touched = connection.execute(
            update(memory)
            .where(memory.c.owner == owner, memory.c.memory_id.in_(memory_ids), memory.c.status == "active")
            .values(access_count=memory.c.access_count + 1, last_accessed=now, change=number)
            .returning(memory.c.memory_id)
        )
        return list(touched.scalars())

    def one(self, connection: Connection, owner: str, memory_id: str) -> Memory | None:
        found = self.by_ids(connection, owner, [memory_id])
        return found[0] if found else None

    def by_ids(self, connection: Connection, owner: str, memory_ids: Sequence[str]) -> list[Memory]:
        """In the order of `memory_ids`; what the owner does not have is left out."""
        found: dict[str, Memory] = {}
        for start in range(0, len(memory_ids), _AT_ONCE):
            rows = connection.execute(
                select(*_STORED).where(
                    memory.c.owner == owner, memory.c.memory_id.in_(memory_ids[start : start + _AT_ONCE])
                )
            )
            found.update((made.id, made) for made in map(_memory, rows))
        return [found[memory_id] for memory_id in dict.fromkeys(memory_ids) if memory_id in found]

    def page(
        self,
        connection: Connection,
        owner: str,
        where: Filter,
        *,
        statuses: Sequence[Status],
        valid_at: datetime | None,
        limit: int,
        offset: int = 0,
    ) -> list[Memory]:
        """Newest first. With `valid_at` the expired are left out."""
        rows = connection.execute(
            select(*_STORED)
            .where(*_conditions(owner, where, statuses, valid_at))
            .order_by(memory.c.created_at.desc(), memory.c.memory_id)
            .limit(limit)
            .offset(offset)
        )
        return [_memory(row) for row in rows]

    def count(
        self,
        connection: Connection,
        owner: str,
        where: Filter,
        *,
        statuses: Sequence[Status],
        valid_at: datetime | None,
    ) -> int:
        counted = select(func.count()).select_from(memory).where(*_conditions(owner, where, statuses, valid_at))
        return int(connection.execute(counted).scalar_one())

    def query_similar_by_embedding(
        self,
        connection: Connection,
        owner: str,
        vector: Vector,
        *,
        model: str,
        where: Filter,
        valid_at: datetime,
        limit: int,
    ) -> list[tuple[Memory, float]]:
        """Best first with the cosine, computed over every fitting memory: exact, and no cache is needed."""
        rows = connection.execute(
            select(memory_vector.c.memory_id, memory_vector.c.vector)
            .join(
                memory,
                and_(memory.c.owner == memory_vector.c.owner, memory.c.memory_id == memory_vector.c.memory_id),
            )
            .where(
                memory_vector.c.owner == owner,
                memory_vector.c.model == model,
                *_conditions(owner, where, ("active",), valid_at),
            )
        ).all()
        if not rows:
            return []
        cosines = matrix([stored for _, stored in rows]) @ vector
        best = np.argsort(-cosines, kind="stable")[:limit]
        cosine_of = {rows[row].memory_id: float(cosines[row]) for row in best}
        return [(found, cosine_of[found.id]) for found in self.by_ids(connection, owner, list(cosine_of))]

    def _begin_change(self, connection: Connection, owner: str) -> tuple[int, bytes]:
        """The write's number and the owner's salt. On PostgreSQL the owner's other writers wait for it."""
        row = connection.execute(
            self._upsert(memory_owner)
            .values(owner=owner, change=1, rebuild=0, salt=os.urandom(16))
            .on_conflict_do_update(index_elements=["owner"], set_={"change": memory_owner.c.change + 1})
            .returning(memory_owner.c.change, memory_owner.c.salt)
        ).one()
        return row.change, row.salt

    def _same(self, connection: Connection, owner: str, digest: bytes, now: datetime) -> Memory | None:
        row = connection.execute(
            select(*_STORED).where(
                memory.c.owner == owner,
                memory.c.text_digest == digest,
                memory.c.status.in_(_LIVE),
                _valid(now),
            )
        ).first()
        return None if row is None else _memory(row)

    def _store_vector(self, connection: Connection, owner: str, memory_id: str, vector: Vector, model: str) -> None:
        stored = to_bytes(vector)
        connection.execute(
            self._upsert(memory_vector)
            .values(owner=owner, model=model, memory_id=memory_id, vector=stored)
            .on_conflict_do_update(index_elements=["owner", "model", "memory_id"], set_={"vector": stored})
        )


def matrix(stored: Iterable[bytes]) -> Matrix:
    """One row per vector; shape (rows, dimension)."""
    return np.stack([from_bytes(vector) for vector in stored])


def _conditions(
    owner: str, where: Filter, statuses: Sequence[Status], valid_at: datetime | None
) -> list[ColumnElement[bool]]:
    conditions = [memory.c.owner == owner, memory.c.status.in_(statuses)]
    for column, wanted in (
        (memory.c.fact_type, where.fact_types),
        (memory.c.category, where.categories),
        (memory.c.session_id, where.sessions),
    ):
        if wanted:
            conditions.append(column.in_(wanted))
    conditions.extend(memory.c.tags.contains(f"\n{tag}\n", autoescape=True) for tag in as_tags(where.tags))
    if where.created_after is not None:
        conditions.append(memory.c.created_at >= where.created_after)
    if where.created_before is not None:
        conditions.append(memory.c.created_at < where.created_before)
    if valid_at is not None:
        conditions.append(_valid(valid_at))
    return conditions


def _valid(now: datetime) -> ColumnElement[bool]:
    return or_(memory.c.expires_at.is_(None), memory.c.expires_at > now)


def _memory(row: Row[Any]) -> Memory:
    values = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's public name for it
    return Memory(id=values.pop("memory_id"), **values)


def _validated(values: Mapping[str, Any]) -> Memory:
    try:
        return Memory.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{field} of a memory: {first['msg']}") from error


def _digest(salt: bytes, text: str, key: str | None) -> bytes:
    return hashlib.blake2b(f"{key or ''}\n{plain(text)}".encode(), key=salt, digest_size=16).digest()


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they are stored. What JSON cannot hold is left out of `metadata`, with a warning."""
    checked = dict(fields)
    if "text" in checked and not checked["text"].strip():
        raise InvalidInput("a memory needs a text")
    if "tags" in checked:
        checked["tags"] = as_tags(checked["tags"])
    if "metadata" in checked:
        checked["metadata"] = {
            str(name): kept
            for name, value in checked["metadata"].items()
            if (kept := _as_json(name, value)) is not None
        }
    return checked


def _as_json(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        log.warning("memory.metadata_dropped", extra={"field": str(name)})
        return None
    return value
