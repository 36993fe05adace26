"""The history of a fact: all the memories that one is linked with by corrections."""

from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.models import Memory
from langmem_plugin.memory.service import MemoryService


def fact_history(service: MemoryService, owner: OwnerKey, memory_id: str) -> list[Memory]:
    """Each once, the oldest first, in whatever state. Raises MemoryNotFound or DamagedMemory."""
    repository = service.repository
    with service.database.read() as connection:
        found: dict[str, Memory] = {}
        looking = [memory_id]
        while looking:
            these = repository.by_ids(connection, owner, looking)
            found |= {each.id: each for each in these}
            linked = [
                *(each.superseded_by for each in these if each.superseded_by),
                *(older.id for each in these for older in repository.replaced_by(connection, owner, each.id)),
            ]
            looking = [each for each in dict.fromkeys(linked) if each not in found]
            if not these:
                break
        repository.refuse_damaged(connection, owner, [] if found else [memory_id])
    if not found:
        raise MemoryNotFound(f"there is no memory {memory_id}: list the memories for their ids")
    return sorted(found.values(), key=lambda each: (each.told_at, each.created_at, each.superseded_by is None))
