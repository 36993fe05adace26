"""A person's memories: searched as one types, filtered, shown, corrected by a form, and forgotten many at once."""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.errors import InvalidInput, StaleMemory
from langmem_plugin.facts import FactType
from langmem_plugin.memory import Memory
from langmem_plugin.memory.memory_types import Filter, Found, SourceType, Status
from langmem_plugin.web.bulk_forget_and_recent import forget_each, recent
from langmem_plugin.web.console.operator_request import AboutPerson, PersonDesk

router = APIRouter(prefix="/people/{ref}")

TYPES, SOURCES, STATUSES = get_args(FactType), get_args(SourceType), get_args(Status)
_PAGE, _MOST_FOUND = 50, 50
_CHANGED = 409
_INSTANT = timedelta(microseconds=1)
_Category = Annotated[str, Field(max_length=200)]


class Wanted(BaseModel):
    """The form above the list; an empty field filters nothing."""

    q: str = Field(default="", max_length=1_000)
    mode: Literal["hybrid", "text", "semantic"] = "hybrid"
    type: FactType | Literal[""] = ""
    category: _Category = ""
    tag: str = Field(default="", max_length=200)
    source: SourceType | Literal[""] = ""
    status: Status | Literal["all"] = "active"
    private: Literal["", "yes", "no"] = ""
    since: str = Field(default="", max_length=10, alias="from")
    until: str = Field(default="", max_length=10, alias="to")
    view: Literal["list", "grid"] = "list"
    page: int = Field(default=0, ge=0, le=100_000)

    def filter(self, zone: ZoneInfo) -> Filter:
        """The filter for the memories; days begin and end in the person's time zone."""
        return Filter(
            fact_types=[self.type] if self.type else (),
            categories=[self.category] if self.category else (),
            tags=[self.tag] if self.tag else (),
            sources=[self.source] if self.source else (),
            private={"": None, "yes": True, "no": False}[self.private],
            created_after=_midnight(self.since, zone),
            created_before=_midnight(self.until, zone, after=1),
        )

    def query(self, page: int) -> str:
        """The query in the address of another page of the same list."""
        asked = self.model_dump(by_alias=True, exclude_defaults=True, exclude={"page"})
        return urlencode({**asked, "page": page})

    @property
    def is_narrowed(self) -> bool:
        return bool(self.model_dump(exclude_defaults=True, exclude={"view", "mode", "page"}))

    @property
    def statuses(self) -> Sequence[Status]:
        return STATUSES if self.status == "all" else (self.status,)


class Typed(BaseModel):
    """A memory as an operator types it in."""

    text: str = Field(default="", max_length=20_000)
    fact_type: FactType = "fact"
    category: _Category = ""
    tags: str = Field(default="", max_length=1_000)
    private: bool = False

    def fields(self) -> dict[str, Any]:
        """The fields of the memory, apart from its text."""
        tags = [each.strip() for each in self.tags.split(",") if each.strip()]
        category = self.category.strip() or None
        return {"fact_type": self.fact_type, "category": category, "tags": tags, "private": self.private}


class Changed(Typed):
    """The form of a memory as it is sent; `revision` is that of the memory that it showed."""

    revision: int
    expires_at: str = Field(default="", max_length=10)


@router.get("/memories")
def list_memories(at: AboutPerson, wanted: Annotated[Wanted, Query()]) -> Response:
    rows, total = _found(at, wanted)
    return at.page(
        "memories.html",
        noted="memories",
        wanted=wanted,
        rows=rows,
        total=total,
        step=_PAGE,
        last=0 if wanted.q.strip() else max(0, total - 1) // _PAGE,
        categories=at.memory.service.categories.list_categories(at.person),
        types=TYPES,
        sources=SOURCES,
        statuses=STATUSES,
    )


@router.post("/memories")
def tell(at: AboutPerson, told: Annotated[Typed, Form()]) -> Response:
    stored = at.memory.service.remember(at.person, told.text, source_id=at.caller.writer, **told.fields())
    return at.go(f"memories/{stored.id}?did={stored.outcome}")


@router.post("/memories/forget")
def forget_several(at: AboutPerson, ids: Annotated[list[str] | None, Form(max_length=_PAGE)] = None) -> Response:
    """Forget the ticked memories and show what changed lately, where each can be brought back."""
    if not ids:
        raise InvalidInput("tick at least one memory: nothing was changed")
    forget_each(at.memory.service, at.person, ids)
    return at.go("recent")


def _found(at: PersonDesk, wanted: Wanted) -> tuple[list[tuple[Memory, Found | None]], int]:
    """The memories to show and their number: those that the question finds, or without one a list, newest first."""
    service, where = at.memory.service, wanted.filter(at.zone)
    if wanted.q.strip():
        found = service.search(at.person, wanted.q, mode=wanted.mode, limit=_MOST_FOUND, min_relevance=0.3, where=where)
        return [(each.memory, each) for each in found], len(found)
    of: dict[str, Any] = {"where": where, "statuses": wanted.statuses, "include_expired": wanted.status == "all"}
    listed = service.list_memories(at.person, limit=_PAGE, offset=wanted.page * _PAGE, **of)
    return [(each, None) for each in listed], service.count(at.person, **of)


@router.get("/recent")
def show_recent(at: AboutPerson) -> Response:
    """Show the latest changes, each of which can be undone: a forgotten memory until it is deleted."""
    return at.page("recent.html", noted="recent", changes=recent(at.memory.service, at.person))


@router.get("/memories/{memory_id}")
def show(at: AboutPerson, memory_id: str, did: Annotated[str, Query(max_length=20)] = "") -> Response:
    return _one(at, memory_id, did=did)


@router.post("/memories/{memory_id}")
def change(at: AboutPerson, memory_id: str, changed: Annotated[Changed, Form()]) -> Response:
    try:
        made = _put(at, memory_id, changed)
    except StaleMemory:  # keep what was typed, beside the present text
        return _one(at, _newest(at, memory_id).id, typed=changed, status=_CHANGED)
    return at.go(f"memories/{made.id}?did=changed")


@router.post("/memories/{memory_id}/forget")
def forget(at: AboutPerson, memory_id: str, revision: Annotated[int | None, Form()] = None) -> Response:
    at.memory.service.forget(at.person, memory_id, revision=revision)
    return at.go(f"memories/{memory_id}?did=forgotten")


@router.post("/memories/{memory_id}/restore")
def restore(at: AboutPerson, memory_id: str) -> Response:
    at.memory.service.restore(at.person, memory_id)
    return at.go(f"memories/{memory_id}?did=restored")


def _one(at: PersonDesk, memory_id: str, *, did: str = "", typed: Changed | None = None, status: int = 200) -> Response:
    """Show a memory with its text and source, and the memories that it replaced."""
    chain = at.memory.service.fact_history(at.person, memory_id)
    held = next(each for each in chain if each.id == memory_id)
    return at.page(
        "one_memory.html",
        noted=memory_id,
        status=status,
        memory=held,
        chain=chain,
        why=None if held.status == "forgotten" else at.memory.provenance.why(at.person, memory_id),
        typed=typed or _form_of(held, at.zone),
        stale=typed is not None,
        types=TYPES,
        did=did,
    )


def _put(at: PersonDesk, memory_id: str, changed: Changed) -> Memory:
    """Change only what the form changed. Raises StaleMemory if the memory was changed after it was shown."""
    shown = _form_of(_held(at, memory_id), at.zone)
    values = changed.fields() | {"text": changed.text, "expires_at": _midnight(changed.expires_at, at.zone, after=1)}
    given = {name: value for name, value in values.items() if getattr(changed, name) != getattr(shown, name)}
    return at.memory.service.update(at.person, memory_id, revision=changed.revision, by=at.caller.writer, **given)


def _newest(at: PersonDesk, memory_id: str) -> Memory:
    """The memory, or the one that replaced it."""
    held = _held(at, memory_id)
    return at.memory.service.instead_of(held) or held


def _held(at: PersonDesk, memory_id: str) -> Memory:
    return next(each for each in at.memory.service.fact_history(at.person, memory_id) if each.id == memory_id)


def _form_of(held: Memory, zone: ZoneInfo) -> Changed:
    """The form of a memory; its fact expires with the end of the day that the form shows."""
    return Changed(
        revision=held.revision,
        text=held.text,
        fact_type=held.fact_type,
        category=held.category or "",
        tags=", ".join(held.tags),
        expires_at=(held.expires_at - _INSTANT).astimezone(zone).date().isoformat() if held.expires_at else "",
        private=held.private,
    )


def _midnight(day: str, zone: ZoneInfo, *, after: int = 0) -> datetime | None:
    """The beginning of a day, or of `after` days later; None for an empty text. Raises InvalidInput for no date."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day) + timedelta(days=after), time(), zone)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{day!r} is no day: give one as 2026-11-23") from error
