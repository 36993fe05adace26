"""What a role may see: a person their own memories, and of the shared ones those that are meant for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from langmem_plugin.identifiers import OwnerKey, ScopeKey
from langmem_plugin.memory.models import EVERYTHING, Filter, Memory
from langmem_plugin.memory.service import MemoryService
from langmem_plugin.settings import Role

SHARED = ScopeKey.named("shared")
FOR_CLIENTS = "for clients"  # the tag that shares a memory of that scope with clients


@dataclass(frozen=True)
class Scope:
    """One owner whose memories may be read, and which of them."""

    owner: OwnerKey
    where: Filter = EVERYTHING


def scopes_of(owner: OwnerKey, role: Role, beside: OwnerKey | None = None) -> tuple[Scope, ...]:
    """The godfather sees all that is shared, a client only what is tagged for clients; nobody another person.

    `beside` is whose memories are shown beside the owner's: in a group, those of the godfather who asks there.
    """
    shared = EVERYTHING if role == "godfather" else Filter(tags=[FOR_CLIENTS])
    own = (Scope(owner),) if beside is None else (Scope(owner), Scope(beside))
    return (*own, Scope(SHARED, shared))


def seen_by(
    service: MemoryService, connection: Connection, scopes: Sequence[Scope], memory_ids: Sequence[str]
) -> list[Memory]:
    """What may be seen in these scopes under these ids, in their order; expired ones too."""
    found: dict[str, Memory] = {}
    for scope in scopes:
        missing = [each for each in memory_ids if each not in found]
        there = service.repository.by_ids(connection, scope.owner, missing) if missing else []
        wanted = set(scope.where.tags)
        found |= {each.id: each for each in there if each.status == "active" and wanted <= set(each.tags)}
    return [found[each] for each in dict.fromkeys(memory_ids) if each in found]


def share(service: MemoryService, text: str, *, with_clients: bool = False) -> Memory:
    """Stores `text` in the shared scope; clients see it only when told so."""
    return service.remember(SHARED, text, tags=[FOR_CLIENTS] if with_clients else [])
