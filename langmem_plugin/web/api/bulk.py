"""One change to many memories: each is done or not by itself, and the answer names what became of each."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from langmem_plugin.errors import DamagedMemory, MemoryNotFound, StaleMemory
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.keep.tags import retag
from langmem_plugin.web.api.calls import Called
from langmem_plugin.web.api.fields import Body, IdInBody, Name, Tags
from langmem_plugin.web.api.routing import Routes

routes = Routes("memories")
MOST_AT_ONCE = 200

_Ids = Annotated[list[IdInBody], Field(min_length=1, max_length=MOST_AT_ONCE)]


class Deletion(Body):
    action: Literal["delete"]
    ids: _Ids


class Tagging(Body):
    action: Literal["tag", "untag"]
    ids: _Ids
    tags: Annotated[Tags, Field(min_length=1)]


class Categorising(Body):
    action: Literal["categorise"]
    ids: _Ids
    category: Name | None = Field(description="null: none")


class Privacy(Body):
    action: Literal["private"]
    ids: _Ids
    is_private: bool


class Became(BaseModel):
    id: str
    outcome: Literal["done", "not_found", "changed_meanwhile", "damaged"]


class AllBecame(BaseModel):
    results: list[Became]
    done: int


@routes.post("/api/memory/bulk")
def change_many(
    call: Called,
    wanted: Annotated[Deletion | Tagging | Categorising | Privacy, Field(discriminator="action")],
) -> AllBecame:
    """Delete, tag, untag, categorise or make private up to 200 memories at once.

    What cannot be done for one does not keep the others: each is answered by itself.
    """
    service, owner = call.service, call.person()
    change = _change(service, owner, wanted)
    results = [Became(id=each, outcome=_became(change, each)) for each in dict.fromkeys(wanted.ids)]
    return AllBecame(results=results, done=sum(each.outcome == "done" for each in results))


def _change(
    service: MemoryService, owner: OwnerKey, wanted: Deletion | Tagging | Categorising | Privacy
) -> Callable[[str], object]:
    if isinstance(wanted, Deletion):
        return lambda memory_id: service.forget(owner, memory_id)
    if isinstance(wanted, Tagging):
        more, less = (wanted.tags, ()) if wanted.action == "tag" else ((), wanted.tags)
        return lambda memory_id: retag(service, owner, memory_id, more=more, less=less)
    changes: dict[str, Any] = (
        {"category": wanted.category} if isinstance(wanted, Categorising) else {"private": wanted.is_private}
    )
    return lambda memory_id: service.update(owner, memory_id, **changes)


def _became(
    change: Callable[[str], object], memory_id: str
) -> Literal["done", "not_found", "changed_meanwhile", "damaged"]:
    try:
        change(memory_id)
    except MemoryNotFound:
        return "not_found"
    except StaleMemory:
        return "changed_meanwhile"
    except DamagedMemory:
        return "damaged"
    return "done"
