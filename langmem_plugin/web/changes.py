"""Changes of a person's memories: several forgotten at once, and the recent ones that can be undone."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter

from sqlalchemy import select

from langmem_plugin.database.memory_tables import memory
from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import Memory, MemoryService

_RECENT, _LOOKED_AT, _SHOWN = timedelta(days=30), 200, 40


def forget_each(service: MemoryService, owner: OwnerKey, ids: Sequence[str]) -> None:
    """Forget the memories that are still there."""
    for each in dict.fromkeys(ids):
        with contextlib.suppress(MemoryNotFound):
            service.forget(owner, each)


@dataclass(frozen=True)
class Recent:
    """Memories that were forgotten, and those that were replaced, each with its replacement, the last first."""

    forgotten: list[Memory]
    replaced: list[tuple[Memory, Memory | None]]


def recent_of_all(service: MemoryService) -> list[tuple[OwnerKey, Memory, Memory | None]]:
    """The latest changes of the last thirty days of everybody, the last first: what was forgotten, or replaced by what.

    Each can be undone. What is damaged is left out.
    """
    latest = (
        select(memory.c.owner, memory.c.memory_id)
        .where(memory.c.status.in_(("forgotten", "superseded")), memory.c.updated_at > service.now() - _RECENT)
        .order_by(memory.c.updated_at.desc())
        .limit(_SHOWN)
    )
    with service.database.read() as connection:
        rows = list(connection.execute(latest))
        found = [(row.owner, service.repository.by_id(connection, row.owner, row.memory_id)) for row in rows]
    return [(OwnerKey(owner), held, service.instead_of(held)) for owner, held in found if held is not None]


def recent(service: MemoryService, owner: OwnerKey, *, forgotten_within: timedelta) -> Recent:
    """The changes of the last thirty days that can be undone, and the memories forgotten within a shorter time."""
    now = service.now()
    with service.database.read() as connection:
        forgotten = service.repository.forgotten_since(connection, owner, now - forgotten_within)
    over = service.list_memories(owner, limit=_LOOKED_AT, statuses=["superseded"])
    late = sorted((each for each in over if now - each.updated_at < _RECENT), key=attrgetter("updated_at"))
    return Recent(forgotten, [(each, service.instead_of(each)) for each in late[::-1][:_SHOWN]])
