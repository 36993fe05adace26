"""LangGraph's store over the memories of the person that a namespace names."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import cast

from langchain_core.runnables.config import run_in_executor
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from sqlalchemy import Connection, select

from langmem_plugin.database.memory_tables import memory as table
from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import OwnerKey, ScopeKey
from langmem_plugin.memory import Memory, MemoryService
from langmem_plugin.memory.keep.changes_and_checksums import begin_change
from langmem_plugin.memory.keep.memory_repository import NewMemory
from langmem_plugin.store import items
from langmem_plugin.store.namespaces import APPLICATION, MEMORIES, Location, escaped, fits, located, spelled

_ALL = 10**9


class MemoryStore(BaseStore):
    """The store for `graph.compile(store=memory.store)`, made by `PhoneMemory.store`.

    `("memories", "+972501234567")` holds every memory of that person: what tools, chat commands and extraction stored
    has its key or id, and `{"content": text}` as its value. Any other namespace that names a person holds what was put
    there, as memories of theirs: recalled, exported and erased with them. One that names nobody is the application's.
    An identifier counts in any spelling; `store.namespace("prefs", "972501234567@c.us")` escapes what LangGraph
    refuses in a label. What is put is found by words and meaning, with `index=False` by its key alone.
    Raises InvalidInput, EmbeddingUnavailable or StoreUnavailable.
    """

    __slots__ = ("_executor", "_fenced", "_person_of", "_service")

    def __init__(
        self,
        service: MemoryService,
        *,
        person_of: Callable[[str], OwnerKey],
        fenced: Callable[[], AbstractContextManager[None]],
        executor: Executor,
    ) -> None:
        self._service = service
        self._person_of = person_of
        self._fenced = fenced
        self._executor = executor

    @staticmethod
    def namespace(*labels: str) -> tuple[str, ...]:
        """Return the labels as LangGraph takes them: what it refuses in one is escaped."""
        return tuple(escaped(each) for each in labels)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out the operations: reads see what was there before; writes are one transaction, the last
        of each key alone.
        """
        asked = list(ops)
        results: list[Result] = [None if isinstance(op, PutOp) else self._read(op) for op in asked]
        puts = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        if puts:
            self._write(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        # In the context of the run, whose turn the writes depend on.
        return await run_in_executor(self._executor, partial(copy_context().run, self.batch, list(ops)))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._item(op)
            case SearchOp():
                return cast("Result", self._search(op))
            case ListNamespacesOp():
                return self._namespaces(op)
        raise InvalidInput(f"{type(op).__name__} is no operation of a store")

    def _item(self, op: GetOp) -> Item | None:
        location = located(op.namespace, self._person_of)
        with self._service.database.read() as connection:
            found = self._held(connection, location, op.key)
        return None if found is None else items.item_of(found, op.namespace)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        fitting = self._fitting(op)[op.offset : op.offset + op.limit]
        return [items.search_item_of(each, score) for each, score in fitting]

    def _fitting(self, op: SearchOp) -> list[tuple[Memory, float | None]]:
        prefix, owners = self._wanted(op.namespace_prefix)
        found: list[tuple[Memory, float | None]] = []
        for owner in owners:
            held = {
                each.id: each
                for each in self._all_of(owner)
                if spelled(Location(owner, items.place_of(each)[0]))[: len(prefix)] == prefix
                and items.matches(items.value_of(each), op.filter)
            }
            scores = self._scores(owner, op.query) if op.query and held else {}
            found += [(each, scores.get(each.id)) for each in held.values()]
        found.sort(key=lambda each: (each[1] or 0.0, each[0].updated_at), reverse=True)
        return found

    def _scores(self, owner: OwnerKey, query: str) -> dict[str, float]:
        found = self._service.search(owner, query, limit=_ALL, min_relevance=0.0)
        return {each.memory.id: each.similarity for each in found}

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        named = [located(each.path, self._person_of) for each in conditions]
        owners = {each.owner for each in named if each.owner != APPLICATION} or set(self._owners())
        shapes = {spelled(Location(owner, items.place_of(each)[0])) for owner in owners for each in self._all_of(owner)}
        paths = [each._replace(path=spelled(place)) for each, place in zip(conditions, named, strict=True)]
        fitting = {each[: op.max_depth] for each in shapes if fits(each, paths)}
        return sorted(fitting)[op.offset : op.offset + op.limit]

    def _wanted(self, namespace_prefix: Sequence[str]) -> tuple[tuple[str, ...], list[OwnerKey]]:
        """Return the prefix as namespaces are spelled, and who may have something below it."""
        location = located(namespace_prefix, self._person_of)
        owners = self._owners() if location.owner == APPLICATION else [location.owner]
        return spelled(location), owners

    def _owners(self) -> list[OwnerKey]:
        with self._service.database.read() as connection:
            held = select(table.c.owner).where(table.c.status == "active").distinct()
            owners = connection.execute(held).scalars()
            return [each for each in owners if each == APPLICATION or not isinstance(each, ScopeKey)]

    def _all_of(self, owner: OwnerKey) -> list[Memory]:
        return self._service.list_memories(owner, limit=_ALL)

    def _held(self, connection: Connection, location: Location, key: str) -> Memory | None:
        service, owner = self._service, location.owner
        keyed = service.repository.keyed(connection, owner, valid_at=service.now(), key=items.key_of(location, key))
        by_id = [] if location.shape != MEMORIES else service.repository.by_ids(connection, owner, [key])
        there = (each for each in (*reversed(keyed), *by_id) if _is_there(each, service.now()))
        return next((each for each in there if items.place_of(each) == (location.shape, key)), None)

    def _write(self, puts: Sequence[PutOp]) -> None:
        service = self._service
        written = [op for op in puts if op.value is not None]
        values = [items.checked(op.value or {}) for op in written]
        texts = [items.text_of(op.key, op.value or {}, op.index) for op in written]
        embedded = iter(zip(values, texts, service.embedder.texts(texts), strict=True))
        places = [located(op.namespace, self._person_of) for op in puts]
        with self._fenced(), service.database.write() as connection:
            now = service.now()
            for owner in sorted({each.owner for each in places}):  # in one order: two writers would wait for each other
                begin_change(connection, owner)
            for op, location in zip(puts, places, strict=True):
                held = self._held(connection, location, op.key)
                if op.value is None:
                    if held is not None:
                        gone = {"status": "forgotten"}
                        service.repository.change(connection, location.owner, held.id, gone, now=now)
                    continue
                value, text, vector = next(embedded)
                mark = items.mark(location, op.key, value, text)
                if held is None:
                    new = NewMemory(text, vector, {"metadata": mark, "key": items.key_of(location, op.key)})
                    service.repository.create_memory(connection, location.owner, new, now=now)
                    service.retention.keep_within(connection, location.owner)
                else:
                    changes = {"text": text, "metadata": held.metadata | mark, "expires_at": None}
                    service.repository.change(connection, location.owner, held.id, changes, now=now, vector=vector)


def _is_there(memory: Memory, now: datetime) -> bool:
    return memory.status == "active" and not memory.has_expired(now)
