"""What a person is reminded of in a talk: of their own memories, and of the shared ones what their role may see."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from langmem_plugin.memory.models import EVERYTHING, Filter, Found, Memory, Mode
from langmem_plugin.memory.search.fact_search import Ask
from langmem_plugin.memory.service import MemoryService
from langmem_plugin.phones import ScopeKey
from langmem_plugin.settings import Role

SHARED = ScopeKey.named("shared")
FOR_CLIENTS = "for clients"  # the tag that shares a memory of that scope with clients
_TOGETHER = 0.9
_BEFORE = 0.7


@dataclass(frozen=True)
class Scope:
    """One owner whose memories may be read, and which of them."""

    owner: str
    where: Filter = EVERYTHING


def scopes_of(owner: str, role: Role) -> tuple[Scope, ...]:
    """The godfather sees all that is shared, a client only what is tagged for clients; nobody another person."""
    shared = EVERYTHING if role == "godfather" else Filter(tags=[FOR_CLIENTS])
    return (Scope(owner), Scope(SHARED, shared))


def recall_for(
    service: MemoryService,
    owner: str,
    role: Role,
    said: Sequence[str],
    *,
    limit: int = 5,
    min_similarity: float = 0.7,
) -> list[Found]:
    """What bears on a talk, in every scope of the person, best first; each memory once.

    `said` are the person's messages, oldest first. The last one is asked for by itself, together with the one
    before it, since "and for her brother?" means nothing alone, and the one before it a little less. So what
    is recalled follows the talk to a new subject and does not drop the old one at once.
    """
    asks = asks_about(service, owner, role, said, limit=limit, min_similarity=min_similarity)
    with service.database.read() as connection:
        return service.facts.best_of(connection, asks, limit)


def asks_about(
    service: MemoryService, owner: str, role: Role, said: Sequence[str], *, limit: int, min_similarity: float
) -> list[Ask]:
    """What `recall_for` asks, embedded: nothing is left but one read. Raises EmbeddingUnavailable."""
    return [
        service.ask(scope.owner, question, limit=limit, min_relevance=min_similarity, where=scope.where, weight=weight)
        for question, weight in _questions([text for text in said if text.strip()])
        for scope in scopes_of(owner, role)
    ]


def search_for(
    service: MemoryService,
    owner: str,
    role: Role,
    query: str,
    *,
    mode: Mode = "hybrid",
    limit: int = 10,
    min_relevance: float = 0.5,
) -> list[Found]:
    """What answers one query, in every scope of the person, best first."""
    found = [
        each
        for scope in scopes_of(owner, role)
        for each in service.search(
            scope.owner, query, mode=mode, limit=limit, min_relevance=min_relevance, where=scope.where
        )
    ]
    return sorted(found, key=lambda each: each.score, reverse=True)[:limit]


def _questions(said: Sequence[str]) -> list[tuple[str, float]]:
    """(question, how much its answers weigh)"""
    if len(said) < 2:  # noqa: PLR2004 - with one message there is nothing to join
        return [(text, 1.0) for text in said]
    before, last = said[-2:]
    return [(last, 1.0), (f"{before}\n{last}", _TOGETHER), (before, _BEFORE)]


def seen_by(
    service: MemoryService, connection: Connection, owner: str, role: Role, memory_ids: Sequence[str]
) -> list[Memory]:
    """What the person has, or may see of the shared scope, under these ids, in their order; expired ones too."""
    found: dict[str, Memory] = {}
    for scope in scopes_of(owner, role):
        missing = [each for each in memory_ids if each not in found]
        there = service.repository.by_ids(connection, scope.owner, missing) if missing else []
        wanted = set(scope.where.tags)
        found |= {each.id: each for each in there if each.status == "active" and wanted <= set(each.tags)}
    return [found[each] for each in dict.fromkeys(memory_ids) if each in found]


def share(service: MemoryService, text: str, *, with_clients: bool = False) -> Memory:
    """Stores `text` in the shared scope; clients see it only when told so."""
    return service.remember(SHARED, text, tags=[FOR_CLIENTS] if with_clients else [])
