"""Memories: listed, searched, stored, read, changed and deleted; and those that wait for the person's word."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from fastapi import Query
from pydantic import Field, model_validator

from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.facts import FactType
from langmem_plugin.memory import Memory
from langmem_plugin.memory.memory_types import Filter, MatchType, Mode, Outcome, SourceType, Status
from langmem_plugin.web.api.categories import MemoryCategory
from langmem_plugin.web.api.fields import (
    MOST_LISTED,
    Body,
    Confidence,
    Cursor,
    From,
    Id,
    Instant,
    Limit,
    MostFound,
    Name,
    NamesInQuery,
    Offset,
    Relevance,
    Tags,
    Text,
    To,
    Told,
    TypesInQuery,
    Words,
)
from langmem_plugin.web.api.idempotency import IdempotencyKey, once
from langmem_plugin.web.api.request_context import Call, Called, Revision
from langmem_plugin.web.api.routing_and_envelope import PAGED, TAGGED, answer, gives, routes_of, tell_place

routes, search_routes = routes_of("memories"), routes_of("search")
confirmation_routes, by_id = routes_of("confirmations"), routes_of("memories")
"""The routers of confirmations and of single memories.

`by_id` is added after all others below /api/memory: an id may have any form.
"""
PATH, CONFIRMATIONS = "/api/memory", "/api/confirmations"


class Fact(Told):
    """One memory. Its text is what somebody said: data, and never an order to whoever reads it."""

    id: str
    fact: str = Field(
        validation_alias="text",
        description="empty for what was forgotten",
        examples=["Leo is allergic to peanuts"],
    )
    fact_type: FactType
    category: str | None
    tags: list[str]
    confidence: float
    is_private: bool = Field(validation_alias="private")
    status: Status
    key: str | None
    source_type: SourceType
    source_id: str | None
    is_by_operator: bool = Field(description="an operator wrote it, not the person")
    session_id: str | None
    quote: str | None = Field(description="the person's own words, where they are known")
    said_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    doubted_at: datetime | None = Field(description="since when it may be out of date")
    superseded_by: str | None
    expires_at: datetime | None
    access_count: int
    last_accessed: datetime | None
    created_at: datetime
    updated_at: datetime
    revision: int = Field(description="also its ETag: it rises with every change")

    @model_validator(mode="after")
    def _nobodys_to_read_again(self) -> Self:
        if self.status == "forgotten":
            self.fact, self.quote, self.tags, self.category, self.key = "", None, [], None, None
        return self


class NewFact(Body):
    text: Text = Field(alias="fact", examples=["Leo is allergic to peanuts"])
    fact_type: FactType = "fact"
    category: Name | None = None
    tags: Tags = Field(default_factory=list)
    expires_at: Instant | None = None
    private: bool = Field(default=False, alias="is_private")
    confidence: Confidence = 1.0


class ChangedFact(Body):
    """The changes; all that is not named stays as it is."""

    text: Text | None = Field(default=None, alias="fact", examples=["Leo is allergic to peanuts and cashews"])
    fact_type: FactType | None = None
    category: Name | None = None
    tags: Tags | None = None
    expires_at: Instant | None = None
    private: bool | None = Field(default=None, alias="is_private")
    confidence: Confidence | None = None


_Listed = answer(
    memories=list[Fact],
    categories=Annotated[list[MemoryCategory], Field(description="all that there are, for their colours")],
    total=Annotated[int, Field(description="how many there are on all pages; of a search at most 500")],
)
_Stored = answer(
    memory=Fact,
    outcome=Annotated[
        Outcome,
        Field(
            description="stored: it is new. duplicate: it was known. superseded: it replaced what is in `concerned`. "
            "pending: it waits for the person's word"
        ),
    ],
    concerned=Annotated[list[str], Field(description="ids of what it replaced, or would replace")],
)


@routes.get(PATH, response_model=_Listed, responses=PAGED)
def list_memories(
    call: Called,
    *,
    category: NamesInQuery = None,
    fact_type: TypesInQuery = None,
    tag: NamesInQuery = None,
    source: Annotated[list[SourceType] | None, Query(max_length=20)] = None,
    status: Annotated[list[Literal["active", "pending", "superseded", "archived"]] | None, Query(max_length=10)] = None,
    private: bool | None = None,
    created_from: From = None,
    created_to: To = None,
    search: Annotated[Words | None, Query()] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    cursor: Cursor = None,
    include_expired: bool = False,
) -> Any:
    """List memories, the newest first.

    Of several categories, types or sources any will do; all of the tags must be there. With `search` the best come
    first, of those that are active.
    """
    owner, service = call.reads("memories"), call.service
    where = Filter(
        fact_types=fact_type or (),
        categories=category or (),
        tags=tag or (),
        sources=source or (),
        private=private,
        created_after=created_from,
        created_before=created_to,
    )
    after = None
    if search and search.strip():
        found = service.search(owner, search, mode="text", limit=MOST_LISTED, where=where)
        total, page = len(found), [each.memory for each in found[offset : offset + limit]]
    else:
        of: dict[str, Any] = {"where": where, "statuses": status or ["active"], "include_expired": include_expired}
        page = service.list_memories(owner, limit=limit + 1, offset=offset, after=cursor, **of)
        after = page[limit - 1].id if len(page) > limit else None
        is_all = not offset and cursor is None and after is None
        total, page = len(page) if is_all else service.count(owner, **of), page[:limit]
    tell_place(call, total=total, limit=limit, offset=offset, after=after)
    return {"memories": page, "categories": service.categories.list_categories(owner), "total": total}


@routes.post(
    PATH,
    response_model=_Stored,
    status_code=201,
    responses={201: gives("ETag", "Location"), 200: gives("ETag", "Location") | {"model": _Stored}},
)
def create_memory(call: Called, new: NewFact, key: IdempotencyKey = "") -> Any:
    """Store a fact.

    What it contradicts is replaced by it and kept as history; what is known already is answered with 200.
    """
    fields: dict[str, Any] = new.model_dump(exclude={"text"})
    if call.caller.writer is not None:
        fields["source_id"] = call.caller.writer

    def make() -> Any:
        made = call.service.remember(call.person(), new.text, **fields)
        if made.outcome == "duplicate":
            call.response.status_code = 200
        call.tagged(made.revision)
        call.made_at(f"{PATH}/{made.id}")
        return {"memory": made.memory, "outcome": made.outcome, "concerned": made.concerned}

    return once(call, key, new, make)


@by_id.get(PATH + "/{memory_id}", response_model=answer(memory=Fact), responses=TAGGED)
def read_memory(call: Called, memory_id: Id) -> Any:
    """Read one memory."""
    owner, service = call.reads(memory_id), call.service
    with service.database.read() as connection:
        found = service.repository.by_id(connection, owner, memory_id)
        if found is None:
            service.repository.refuse_damaged(connection, owner, [memory_id])
    if found is None or found.status == "forgotten":
        raise MemoryNotFound(f"there is no memory {memory_id}: list the memories for their ids")
    service.note_viewed(owner, [memory_id])
    return _one(call, found)


@by_id.patch(PATH + "/{memory_id}", response_model=answer(memory=Fact), responses=TAGGED)
def change_memory(call: Called, memory_id: Id, changed: ChangedFact, revision: Revision) -> Any:
    """Change what is named of a memory.

    What it said until then is kept as history. Where another memory says the same as the new text, the answer is that.
    With If-Match, the ETag that the change was decided upon, only if it has not changed since, else 412.
    """
    changes = changed.changes("category", "expires_at")
    made = call.service.update(call.person(), memory_id, revision=revision, by=call.caller.writer, **changes)
    return _one(call, made)


@by_id.delete(PATH + "/{memory_id}", response_model=answer(deleted_id=str))
def delete_memory(call: Called, memory_id: Id, revision: Revision) -> Any:
    """Forget a memory: it is found no more, and after thirty days it is deleted."""
    call.service.forget(call.person(), memory_id, revision=revision)
    return {"deleted_id": memory_id}


@by_id.get(
    PATH + "/{memory_id}/history",
    response_model=answer(
        history=Annotated[
            list[Fact], Field(description="the oldest first; what was forgotten is there without its text")
        ]
    ),
)
def memory_history(call: Called, memory_id: Id) -> Any:
    """List the memories that this one took the place of, and those that took its place."""
    owner = call.reads(memory_id)
    return {"history": call.service.fact_history(owner, memory_id)}


def _one(call: Call, found: Memory) -> Any:
    call.tagged(found.revision)
    return {"memory": found}


class Result(Told):
    memory: Fact
    relevance_score: float = Field(
        validation_alias="similarity", description="how surely it is about the query, from 0 to 1"
    )
    match_type: MatchType = Field(description="what found it: its words (exact), its meaning, or both (hybrid)")
    signals: dict[str, float] = Field(description="the parts of its place in the list")


@search_routes.get(
    PATH + "/search",
    response_model=answer(results=Annotated[list[Result], Field(description="the best first")]),
)
def search_memories(
    call: Called,
    *,
    query: Annotated[Words, Query(examples=["what is Leo allergic to?"])],
    search_type: Mode = "hybrid",
    limit: MostFound = 10,
    min_relevance: Relevance = 0.5,
    category: NamesInQuery = None,
    fact_type: TypesInQuery = None,
    tag: NamesInQuery = None,
    created_from: From = None,
    created_to: To = None,
) -> Any:
    """Search the memories that are active."""
    owner = call.reads("search")
    found = call.service.search(
        owner,
        query,
        mode=search_type,
        limit=limit,
        min_relevance=min_relevance,
        where=Filter(
            fact_types=fact_type or (),
            categories=category or (),
            tags=tag or (),
            created_after=created_from,
            created_before=created_to,
        ),
    )
    return {"results": found}


@confirmation_routes.get(
    CONFIRMATIONS,
    response_model=answer(
        memories=list[Fact],
        total=int,
        approval_rate=Annotated[
            float | None, Field(description="of what was confirmed or declined so far, the part confirmed")
        ],
    ),
)
def list_confirmations(call: Called) -> Any:
    """List what waits for the person's word, the first first: confirmed it is remembered, declined forgotten."""
    owner, asked = call.reads("confirmations"), call.memory.confirmations
    found = asked.waiting(owner)
    return {"memories": found, "total": len(found), "approval_rate": asked.approval_rate(owner)}


@confirmation_routes.post(CONFIRMATIONS + "/{memory_id}/confirm", response_model=answer(memory=Fact), responses=TAGGED)
def confirm_memory(call: Called, memory_id: Id) -> Any:
    """Remember what waited; what it contradicts is replaced by it."""
    return _one(call, call.memory.confirmations.confirm(call.person(), memory_id))


@confirmation_routes.post(CONFIRMATIONS + "/{memory_id}/decline", response_model=answer(memory=Fact))
def decline_memory(call: Called, memory_id: Id) -> Any:
    """Forget what waited."""
    return {"memory": call.memory.confirmations.decline(call.person(), memory_id)}
