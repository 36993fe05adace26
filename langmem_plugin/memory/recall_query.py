"""What a talk asks the memory: its last two messages, alone and together, in every scope the person may see."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict, Unpack

from langmem_plugin.memory.explanation import Candidate
from langmem_plugin.memory.models import EVERYTHING, Filter, Found, Mode
from langmem_plugin.memory.search.fact_ranking import MOST_CONSIDERED
from langmem_plugin.memory.search.fact_search import Ask
from langmem_plugin.memory.service import MemoryService
from langmem_plugin.memory.visibility import Scope, scopes_of
from langmem_plugin.settings import Role


class Bounds(TypedDict):
    """How many memories are recalled, and how sure they have to be."""

    limit: int
    min_similarity: float


_OF_A_SCOPE = (None, "below the bound", "beyond the limit")
_TOGETHER = 0.9
_BEFORE = 0.7


def recall_for(
    service: MemoryService,
    owner: str,
    role: Role,
    messages: Sequence[str],
    *,
    limit: int = 5,
    min_similarity: float = 0.7,
) -> list[Found]:
    """What bears on a talk, in every scope of the person, best first; each memory once.

    `messages` are the person's messages, oldest first. The last one is asked for by itself, together with the one
    before it, since "and for her brother?" means nothing alone, and the one before it a little less. So what
    is recalled follows the talk to a new subject and does not drop the old one at once.
    """
    asks = asks_about(service, scopes_of(owner, role), messages, limit=limit, min_similarity=min_similarity)
    with service.database.read() as connection:
        return service.facts.best_of(connection, asks, limit)


def asks_about(
    service: MemoryService, scopes: Sequence[Scope], messages: Sequence[str], **bounds: Unpack[Bounds]
) -> list[Ask]:
    """What `recall_for` asks in these scopes, embedded: nothing is left but one read. Raises EmbeddingUnavailable."""
    return [
        service.ask(
            scope.owner,
            question,
            limit=bounds["limit"],
            min_relevance=bounds["min_similarity"],
            where=scope.where,
            weight=weight,
        )
        for question, weight in _questions([text for text in messages if text.strip()])
        for scope in scopes
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
    where: Filter = EVERYTHING,
) -> list[Found]:
    """What answers one query, in every scope of the person, best first."""
    found = [
        each
        for scope in scopes_of(owner, role)
        for each in service.search(
            scope.owner, query, mode=mode, limit=limit, min_relevance=min_relevance, where=narrowed(where, scope)
        )
    ]
    return sorted(found, key=lambda each: each.score, reverse=True)[:limit]


def explain_for(
    service: MemoryService,
    owner: str,
    role: Role,
    query: str,
    *,
    limit: int = 10,
    min_relevance: float = 0.5,
    most: int = MOST_CONSIDERED,
) -> list[Candidate]:
    """What `search_for` gives, in every scope of the person, and behind it what was not kept, with the reason why."""
    found = [
        each
        for scope in scopes_of(owner, role)
        for each in service.explain(
            scope.owner, query, limit=limit, min_relevance=min_relevance, where=scope.where, most=most
        )
        # What is not for this person to see is no candidate of theirs.
        if each.left in _OF_A_SCOPE or scope.where == EVERYTHING
    ]
    found.sort(key=lambda each: (not each.kept, -each.score))
    return [
        each if place < limit or not each.kept else replace(each, left="beyond the limit")
        for place, each in enumerate(found)
    ][: max(most, 0)]


def narrowed(where: Filter, scope: Scope) -> Filter:
    """What is asked for, of what may be seen in a scope."""
    return replace(where, tags=(*where.tags, *scope.where.tags))


def _questions(messages: Sequence[str]) -> list[tuple[str, float]]:
    """(question, how much its answers weigh)"""
    if len(messages) < 2:  # noqa: PLR2004 - with one message there is nothing to join
        return [(text, 1.0) for text in messages]
    before, last = messages[-2:]
    return [(last, 1.0), (f"{before}\n{last}", _TOGETHER), (before, _BEFORE)]
