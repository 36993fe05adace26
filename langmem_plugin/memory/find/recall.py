"""The questions that a talk asks the memory: its last two messages, in every allowed scope."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from langmem_plugin.identifiers import OwnerKey, ScopeKey
from langmem_plugin.memory.find.fact_ranking import Query
from langmem_plugin.memory.find.fact_search import Ask
from langmem_plugin.memory.models import EVERYTHING, Filter, Found, Memory, Mode, storable
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
    """Return the scopes of a person: the godfather sees all that is shared, a client only what is tagged for clients.

    Nobody sees another person's. `beside` is whose memories are shown beside the owner's: in a group, those of the
    godfather who asks there.
    """
    shared = EVERYTHING if role == "godfather" else Filter(tags=[FOR_CLIENTS])
    own = (Scope(owner),) if beside is None else (Scope(owner), Scope(beside))
    return (*own, Scope(SHARED, shared))


def seen_by(
    service: MemoryService, connection: Connection, scopes: Sequence[Scope], memory_ids: Sequence[str]
) -> list[Memory]:
    """Return the memories with these ids that may be seen in these scopes, in the order of the ids;
    expired ones too.
    """
    found: dict[str, Memory] = {}
    for scope in scopes:
        missing = [each for each in memory_ids if each not in found]
        there = service.repository.by_ids(connection, scope.owner, missing) if missing else []
        wanted = set(scope.where.tags)
        found |= {each.id: each for each in there if each.status == "active" and wanted <= set(each.tags)}
    return [found[each] for each in dict.fromkeys(memory_ids) if each in found]


def share(service: MemoryService, text: str, *, with_clients: bool = False) -> Memory:
    """Store `text` in the shared scope; clients see it only when told so."""
    return service.remember(SHARED, text, tags=[FOR_CLIENTS] if with_clients else [])


RELEVANT = 0.7
"""The certainty, from 0 to 1, at which a memory is recalled for a talk."""

_BEFORE = 0.7  # the weight of what answers the message before the last


def asks_about(
    service: MemoryService, scopes: Sequence[Scope], messages: Sequence[str], *, limit: int, min_similarity: float
) -> list[Ask]:
    """Build the embedded questions of a talk: only one read is left to do. Raises EmbeddingUnavailable.

    `messages` are the person's messages, oldest first. The last one is asked, and the one before it a little less,
    since "and for her brother?" means little alone. So what is recalled follows the talk to a new subject and does not
    drop the old one at once.
    """
    last_first = [storable(text) for text in reversed(messages) if text.strip()]
    asks = []
    for text, weight in zip(last_first, (1.0, _BEFORE), strict=False):
        query = Query.of(service.embedder, text, "hybrid", limit=limit, min_relevance=min_similarity, now=service.now())
        asks += [
            service.facts.ask(scope.owner, replace(query, where=scope.where, apart=True), weight=weight)
            for scope in scopes
        ]
    return asks


def search_for(
    service: MemoryService,
    owner: OwnerKey,
    role: Role,
    query: str,
    *,
    mode: Mode = "hybrid",
    limit: int = 10,
    min_relevance: float = 0.5,
    where: Filter = EVERYTHING,
) -> list[Found]:
    """Return the answers to one query, in every scope of the person, best first."""
    if not query.strip():
        return []
    asks = [
        service.ask(scope.owner, query, mode, limit=limit, min_relevance=min_relevance, where=narrowed(where, scope))
        for scope in scopes_of(owner, role)
    ]
    with service.database.read() as connection:
        return service.facts.best_of(connection, asks, limit)


def narrowed(where: Filter, scope: Scope) -> Filter:
    """Narrow a filter to the memories that may be seen in a scope."""
    return replace(where, tags=(*where.tags, *scope.where.tags))
