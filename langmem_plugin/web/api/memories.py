"""Memories: listed by what they are, stored, read, changed and deleted, and what each took the place of."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.facts import FactType
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.fact_history import fact_history
from langmem_plugin.memory.models import Filter, Found, Memory, MemoryChanges, MemoryFields, Outcome, SourceType, Status
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.categories import MemoryCategory, spelled
from langmem_plugin.web.api.facts import Fact, Facts, OneFact, State
from langmem_plugin.web.api.fields import (
    ANY_WORD,
    MOST_LISTED,
    Body,
    Confidence,
    Id,
    Instant,
    Limit,
    Name,
    NamesInQuery,
    Offset,
    Tags,
    Text,
    Words,
)
from langmem_plugin.web.api.paging import PAGED, Cursor, links
from langmem_plugin.web.api.routing import Answered, Routes
from langmem_plugin.web.served import root_of

routes = Routes("memories")
PATH = "/api/memory"

_FIELDS = {
    "fact": "text", "fact_type": "fact_type", "category": "category", "tags": "tags", "expires_at": "expires_at",
    "is_private": "private", "confidence": "confidence",
}  # fmt: skip


class NewFact(Body):
    fact: Text = Field(examples=["Leo is allergic to peanuts"])
    fact_type: FactType = "fact"
    category: Name | None = None
    tags: Tags = Field(default_factory=list)
    expires_at: Instant | None = None
    is_private: bool = False
    confidence: Confidence = 1.0


class ChangedFact(Body):
    """What is not named stays as it is."""

    fact: Text | None = Field(default=None, examples=["Leo is allergic to peanuts and cashews"])
    fact_type: FactType | None = None
    category: Name | None = None
    tags: Tags | None = None
    expires_at: Instant | None = None
    is_private: bool | None = None
    confidence: Confidence | None = None


class Listed(Facts):
    categories: list[MemoryCategory] = Field(description="all that there are, for their colours")
    total: int = Field(description="how many there are on all pages; of a search at most 500")


class Stored(OneFact):
    outcome: Outcome = Field(
        description="stored: it is new. duplicate: it was known. superseded: it replaced what is in `concerned`. "
        "pending: it waits for the person's word"
    )
    concerned: list[str] = Field(description="ids of what it replaced, or would replace")


class Deleted(BaseModel):
    deleted_id: str


class History(BaseModel):
    history: list[Fact] = Field(description="the oldest first; what was forgotten is there without its text")


@routes.get(PATH, gives=PAGED)
def list_memories(
    call: Called,
    *,
    category: NamesInQuery = None,
    fact_type: Annotated[list[FactType] | None, Query(max_length=20)] = None,
    tag: NamesInQuery = None,
    source: Annotated[list[SourceType] | None, Query(max_length=20)] = None,
    status: Annotated[list[State] | None, Query(max_length=10)] = None,
    private: bool | None = None,
    created_from: Annotated[Instant | None, Query(alias="from")] = None,
    created_to: Annotated[Instant | None, Query(alias="to", description="not included")] = None,
    search: Annotated[Words | None, Query()] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    cursor: Cursor = None,
    include_expired: bool = False,
) -> Answered[Listed]:
    """List memories, the newest first.

    Of several categories, types or sources any will do; all of the tags must be there. With `search` the best come
    first, of those that are active.
    """
    owner = call.reads("memories")
    where = Filter(
        fact_types=fact_type or (),
        categories=spelled(call, owner, category) if category else (),
        tags=tag or (),
        sources=source or (),
        private=private,
        created_after=created_from,
        created_before=created_to,
    )
    if search and search.strip():
        found, after = _searched(call, owner, search, where), None
        total, page = len(found), [each.memory for each in found[offset : offset + limit]]
    else:
        statuses: list[Status] = [*(status or ["active"])]
        service = call.service
        page = service.list_memories(
            owner,
            limit=limit + 1,
            offset=offset,
            after=cursor,
            where=where,
            statuses=statuses,
            include_expired=include_expired,
        )
        after = page[limit - 1].id if len(page) > limit else None
        is_all = not offset and cursor is None and len(page) <= limit
        page = page[:limit]
        total = (
            len(page)
            if is_all
            else service.count(owner, where=where, statuses=statuses, include_expired=include_expired)
        )
    headers = links(call, total=total, limit=limit, offset=offset, after=after)
    listed = Listed.model_construct(
        memories=[Fact.of(each) for each in page],
        categories=[MemoryCategory.of(each) for each in call.service.categories.list_categories(owner)],
        total=total,
    )
    return Answered(listed, headers=headers)


@routes.post(PATH, statuses=(201, 200), gives=("ETag", "Location"))
def create_memory(call: Called, new: NewFact) -> Answered[Stored]:
    """Store a fact.

    What it contradicts is replaced by it and kept as history; what is known already is answered with 200.
    """
    fields: MemoryFields = {
        "fact_type": new.fact_type,
        "category": new.category,
        "tags": new.tags,
        "expires_at": new.expires_at,
        "private": new.is_private,
        "confidence": new.confidence,
    }
    if call.writer is not None:
        fields["source_id"] = call.writer
    made = call.service.remember(call.person(), new.fact, **fields)
    return Answered(
        Stored(memory=Fact.of(made), outcome=made.outcome, concerned=list(made.concerned)),
        status=200 if made.outcome == "duplicate" else 201,
        tag=str(made.revision),
        headers={"location": f"{root_of(call.request)}{PATH}/{made.id}"},
    )


def read_memory(call: Called, memory_id: Id) -> Answered[OneFact]:
    """Read one memory."""
    owner = call.reads(memory_id)
    service = call.service
    with service.database.read() as connection:
        found = service.repository.by_id(connection, owner, memory_id)
        if found is None:
            service.repository.refuse_damaged(connection, owner, [memory_id])
    if found is None or found.status == "forgotten":
        raise MemoryNotFound(f"there is no memory {memory_id}: list the memories for their ids")
    service.note_viewed(owner, [memory_id])
    return _one(found)


def change_memory(call: Called, memory_id: Id, changed: ChangedFact) -> Answered[OneFact]:
    """Change what is named of a memory.

    What it said until then is kept as history. Where another memory says the same as the new text, the answer is that.
    With If-Match, the ETag that the change was decided upon, only if it has not changed since: else 412.
    """
    named: dict[str, Any] = {
        _FIELDS[name]: getattr(changed, name)
        for name in changed.model_fields_set
        if getattr(changed, name) is not None or name in {"category", "expires_at"}
    }
    changes: MemoryChanges = named  # type: ignore[assignment] # by the names of its fields
    made = call.service.correct(call.person(), memory_id, revision=call.revision(), by=call.writer, **changes)
    return _one(made)


def delete_memory(call: Called, memory_id: Id) -> Deleted:
    """Forget a memory: it is found no more, and after thirty days it is deleted."""
    call.service.forget(call.person(), memory_id, revision=call.revision())
    return Deleted(deleted_id=memory_id)


def memory_history(call: Called, memory_id: Id) -> History:
    """What a memory took the place of, and what took its place."""
    owner = call.reads(memory_id)
    return History(history=[Fact.of(each) for each in fact_history(call.service, owner, memory_id)])


def add_routes_by_id() -> Routes:
    """After all others below /api/memory: an id may have any form."""
    by_id = Routes("memories")
    by_id.get(PATH + "/{memory_id}", gives=("ETag",))(read_memory)
    by_id.patch(PATH + "/{memory_id}", gives=("ETag",), if_match=True)(change_memory)
    by_id.delete(PATH + "/{memory_id}", if_match=True)(delete_memory)
    by_id.get(PATH + "/{memory_id}/history")(memory_history)
    return by_id


def _one(found: Memory) -> Answered[OneFact]:
    return Answered(OneFact.model_construct(memory=Fact.of(found)), tag=str(found.revision))


def _searched(call: Call, owner: OwnerKey, search: str, where: Filter) -> list[Found]:
    return call.service.search(owner, search, mode="text", limit=MOST_LISTED, min_relevance=ANY_WORD, where=where)
