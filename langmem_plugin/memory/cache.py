"""Keeps the owners searched lately in memory: always as new as the database, never larger than its limit."""

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Column, Connection, Row, and_, select

from langmem_plugin.database.memory_tables import memory, memory_owner, memory_vector
from langmem_plugin.memory.corpus import Corpus, Entry
from langmem_plugin.memory.vectors import from_bytes

_READ: tuple[Column[Any], ...] = (
    memory.c.memory_id,
    memory.c.status,
    memory.c.text,
    memory.c.fact_type,
    memory.c.category,
    memory.c.session_id,
    memory.c.tags,
    memory.c.confidence,
    memory.c.access_count,
    memory.c.created_at,
    memory.c.last_accessed,
    memory.c.expires_at,
    memory_vector.c.vector,
)
_DEAD_SHARE = 4  # a corpus in which one row of so many is dead is read anew


class _Slot:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.corpus: Corpus | None = None
        self.change = 0
        self.size = 0


class CorpusCache:
    """One corpus per owner, of the vectors of one model. Least recently searched leaves first."""

    def __init__(self, *, model: str, dimension: int, limit: int) -> None:
        self._model = model
        self._dimension = dimension
        self._limit = limit  # bytes
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def corpus(self, connection: Connection, owner: str) -> Iterator[Corpus]:
        """The owner's corpus as `connection` sees the database; nobody else changes it inside the block."""
        with self._lock:
            slot = self._slots.setdefault(owner, _Slot())
            self._slots.move_to_end(owner)
        with slot.lock:
            yield self._refreshed(connection, owner, slot)
        self._shrink(owner, slot)

    def forget(self, owner: str) -> None:
        """Drops what is held of an owner; the next search reads it again."""
        with self._lock:
            self._slots.pop(owner, None)

    @property
    def size(self) -> int:
        """Bytes held, roughly."""
        with self._lock:
            return sum(slot.size for slot in self._slots.values())

    def _refreshed(self, connection: Connection, owner: str, slot: _Slot) -> Corpus:
        state = connection.execute(
            select(memory_owner.c.change, memory_owner.c.rebuild).where(memory_owner.c.owner == owner)
        ).first()
        corpus = slot.corpus
        if (
            corpus is None
            or state is None
            or slot.change < state.rebuild
            or corpus.dead * _DEAD_SHARE > len(corpus.ids)
        ):
            corpus, slot.change = Corpus(self._dimension), 0
        if state is not None and state.change > slot.change:
            for row in self._changed(connection, owner, slot.change):
                if row.status == "active":
                    corpus.put([_entry(row)])
                else:
                    corpus.drop(row.memory_id)
            slot.change = state.change
        slot.corpus = corpus
        return corpus

    def _changed(self, connection: Connection, owner: str, since: int) -> Iterable[Row[Any]]:
        changed = (
            select(*_READ)
            .outerjoin(
                memory_vector,
                and_(
                    memory_vector.c.owner == memory.c.owner,
                    memory_vector.c.memory_id == memory.c.memory_id,
                    memory_vector.c.model == self._model,
                ),
            )
            .where(memory.c.owner == owner, memory.c.change > since)
        )
        if since == 0:
            changed = changed.where(memory.c.status == "active")
        return connection.execute(changed.order_by(memory.c.created_at, memory.c.position))

    def _shrink(self, owner: str, slot: _Slot) -> None:
        with self._lock:
            if slot.corpus is not None:
                slot.size = slot.corpus.size
            held = sum(each.size for each in self._slots.values())
            for name in list(self._slots):
                if held <= self._limit:
                    break
                if name != owner:
                    held -= self._slots.pop(name).size


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        id=row.memory_id,
        text=row.text,
        vector=None if row.vector is None else from_bytes(row.vector),
        fact_type=row.fact_type,
        category=row.category,
        session_id=row.session_id,
        tags=row.tags,
        confidence=row.confidence,
        uses=row.access_count,
        created_at=row.created_at,
        last_used=row.last_accessed,
        expires_at=row.expires_at,
    )
