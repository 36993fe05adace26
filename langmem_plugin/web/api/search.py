"""Searches memories by words, by meaning or both, and says what found each."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from langmem_plugin.facts import FactType
from langmem_plugin.memory.find.question import matched_spans
from langmem_plugin.memory.models import Filter, MatchType, Mode
from langmem_plugin.web.api.calls import Called
from langmem_plugin.web.api.categories import spelled
from langmem_plugin.web.api.facts import Fact
from langmem_plugin.web.api.fields import ANY_WORD, Instant, NamesInQuery, Words
from langmem_plugin.web.api.routing import Routes

routes = Routes("search")


class Result(BaseModel):
    memory: Fact
    relevance_score: float = Field(description="how surely it is about the query, from 0 to 1")
    match_type: MatchType = Field(description="what found it: its words (exact), its meaning, or both (hybrid)")
    signals: dict[str, float] = Field(description="the parts of its place in the list")
    matches: list[tuple[int, int]] = Field(description="where in its text the words of the query are: [start, end)")


class Results(BaseModel):
    results: list[Result] = Field(description="the best first")


@routes.get("/api/memory/search")
def search_memories(
    call: Called,
    *,
    query: Annotated[Words, Query(examples=["what is Leo allergic to?"])],
    search_type: Mode = "hybrid",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    min_relevance: Annotated[float, Query(ge=0, le=1)] = 0.5,
    category: NamesInQuery = None,
    fact_type: Annotated[list[FactType] | None, Query(max_length=20)] = None,
    tag: NamesInQuery = None,
    created_from: Annotated[Instant | None, Query(alias="from")] = None,
    created_to: Annotated[Instant | None, Query(alias="to", description="not included")] = None,
) -> Results:
    """Search the memories that are active; "phrases" and prefix* are understood."""
    owner = call.reads("search")
    categories = spelled(call, owner, category) if category else ()
    where = Filter(
        fact_types=fact_type or (),
        categories=categories,
        tags=tag or (),
        created_after=created_from,
        created_before=created_to,
    )
    found = call.service.search(
        owner,
        query,
        mode=search_type,
        limit=limit,
        min_relevance=max(min_relevance, ANY_WORD) if search_type == "text" else min_relevance,
        where=where,
        operators=search_type != "semantic",
    )
    return Results.model_construct(
        results=[
            Result.model_construct(
                memory=Fact.of(each.memory),
                relevance_score=float(each.similarity),
                match_type=each.match_type,
                signals={name: float(value) for name, value in each.signals.items()},
                matches=[] if search_type == "semantic" else matched_spans(query, each.memory.text),
            )
            for each in found
        ]
    )
