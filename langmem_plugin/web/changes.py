"""Changes of a person's memories: many at once, and the recent ones that can be undone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from typing import Literal

from langmem_plugin.errors import DamagedMemory, MemoryNotFound, StaleMemory
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import Memory, MemoryService

Outcome = Literal["done", "not_found", "changed_meanwhile", "damaged"]
_RECENT, _LOOKED_AT, _SHOWN = timedelta(days=30), 200, 40


def each_by_itself(ids: Sequence[str], change: Callable[[str], object]) -> dict[str, Outcome]:
    """Change each memory and return the outcomes by id; one that cannot be changed does not stop the others."""
    return {each: _became(change, each) for each in dict.fromkeys(ids)}


def _became(change: Callable[[str], object], memory_id: str) -> Outcome:
    try:
        change(memory_id)
    except MemoryNotFound:
        return "not_found"
    except StaleMemory:
        return "changed_meanwhile"
    except DamagedMemory:
        return "damaged"
    return "done"


@dataclass(frozen=True)
class Recent:
    """Memories that were forgotten, and those that were replaced, each with its replacement, the last first."""

    forgotten: list[Memory]
    replaced: list[tuple[Memory, Memory | None]]


def recent(service: MemoryService, owner: OwnerKey, *, forgotten_within: timedelta) -> Recent:
    """The changes of the last thirty days that can be undone, and the memories forgotten within a shorter time."""
    now = service.now()
    with service.database.read() as connection:
        forgotten = service.repository.forgotten_since(connection, owner, now - forgotten_within)
    over = service.list_memories(owner, limit=_LOOKED_AT, statuses=["superseded"])
    late = sorted((each for each in over if now - each.updated_at < _RECENT), key=attrgetter("updated_at"))
    return Recent(forgotten, [(each, service.instead_of(each)) for each in late[::-1][:_SHOWN]])
