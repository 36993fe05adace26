"""Whose memories a person sees: their own, and of the shared scope what their role may."""

from dataclasses import dataclass
from typing import Literal

from langmem_plugin.memory.models import EVERYTHING, Filter, Found, Memory
from langmem_plugin.memory.service import MemoryService

Role = Literal["client", "godfather"]

SHARED = "shared"  # the owner of what belongs to nobody alone
FOR_CLIENTS = "for clients"  # the tag that shares a memory of that scope with clients


@dataclass(frozen=True)
class Scope:
    """One owner whose memories may be read, and which of them."""

    owner: str
    where: Filter = EVERYTHING


def scopes_of(owner: str, role: Role) -> tuple[Scope, ...]:
    """The godfather sees all that is shared, a client only what is tagged for clients; nobody another person."""
    shared = EVERYTHING if role == "godfather" else Filter(tags=[FOR_CLIENTS])
    return (Scope(owner), Scope(SHARED, shared))


def recall_as(
    service: MemoryService,
    owner: str,
    role: Role,
    query: str,
    *,
    limit: int = 5,
    min_similarity: float = 0.7,
) -> list[Found]:
    """What `recall` finds in every scope of the person, the surest first."""
    found = [
        each
        for scope in scopes_of(owner, role)
        for each in service.recall(scope.owner, query, limit=limit, min_similarity=min_similarity, where=scope.where)
    ]
    return sorted(found, key=lambda each: each.similarity, reverse=True)[:limit]


def share(service: MemoryService, text: str, *, with_clients: bool = False) -> Memory:
    """Stores `text` in the shared scope; clients see it only when told so."""
    return service.remember(SHARED, text, tags=[FOR_CLIENTS] if with_clients else [])
