"""A person's memories: looked for as one types, filtered, told, and changed many at once."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import Annotated, Literal, get_args
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.errors import DamagedMemory, InvalidInput, LangMemError, StaleMemory
from langmem_plugin.facts import FactType
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.tags import retag
from langmem_plugin.memory.models import OPERATOR, Filter, Found, Memory, SourceType, Status
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.console.shell import Shell, as_operator

TYPES, SOURCES, STATUSES = get_args(FactType), get_args(SourceType), get_args(Status)
_PAGE, _MOST_FOUND, _MOST_CHOSEN = 50, 50, 200


class Wanted(BaseModel):
    """What the form above the list asks for; what is empty asks for nothing."""

    q: str = Field(default="", max_length=1_000)
    mode: Literal["hybrid", "text", "semantic"] = "hybrid"
    type: FactType | Literal[""] = ""
    category: str = Field(default="", max_length=200)
    tag: str = Field(default="", max_length=200)
    source: SourceType | Literal[""] = ""
    status: Status | Literal["all"] = "active"
    private: Literal["", "yes", "no"] = ""
    since: str = Field(default="", max_length=10, alias="from")
    until: str = Field(default="", max_length=10, alias="to")
    view: Literal["list", "grid"] = "list"
    page: int = Field(default=0, ge=0, le=100_000)

    def filter(self, zone: ZoneInfo) -> Filter:
        """Days begin and end where the person lives."""
        return Filter(
            fact_types=[self.type] if self.type else (),
            categories=[self.category] if self.category else (),
            tags=[self.tag] if self.tag else (),
            sources=[self.source] if self.source else (),
            private={"": None, "yes": True, "no": False}[self.private],
            created_after=beginning_of(self.since, zone),
            created_before=end_of(self.until, zone),
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


class Told(BaseModel):
    """A memory that the operator types in."""

    text: str = Field(default="", max_length=20_000)
    fact_type: FactType = "fact"
    category: str = Field(default="", max_length=200)
    tags: str = Field(default="", max_length=1_000)
    private: bool = False


class Chosen(BaseModel):
    """Memories that were ticked, and what is done with them."""

    ids: list[str] = Field(default_factory=list, max_length=_MOST_CHOSEN)
    action: Literal["forget", "restore", "tag", "categorise", "private", "public"] = "tag"
    value: str = Field(default="", max_length=200)


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(prefix="/people/{ref}/memories"), shell.memory

    @router.get("")
    def show(request: Request, ref: str, wanted: Annotated[Wanted, Query()]) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "memories")
        return _page(request, shell, person, wanted)

    @router.post("")
    def tell(request: Request, ref: str, told: Annotated[Told, Form()]) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            stored = memory.service.remember(
                person,
                told.text,
                fact_type=told.fact_type,
                category=told.category.strip() or None,
                tags=tags_in(told.tags),
                private=told.private,
                source_id=f"{OPERATOR}{caller.token_id}",
            )
        return shell.go(request, f"people/{ref}/memories/{stored.id}?did={stored.outcome}")

    @router.post("/chosen")
    def change_many(
        request: Request, ref: str, chosen: Annotated[Chosen, Form()], wanted: Annotated[Wanted, Query()]
    ) -> Response:
        """The list is shown again as it was."""
        caller, person = shell.operator(request), shell.person(ref)
        if not chosen.ids:
            raise InvalidInput("tick at least one memory: nothing was changed")
        if chosen.action in {"tag", "categorise"} and not chosen.value.strip():
            raise InvalidInput("type the tag or the category: nothing was changed")
        with as_operator(caller):
            changed = _each(chosen.ids, _change(memory, person, chosen))
        shell.note(caller, person, "memories")
        return _page(request, shell, person, wanted, chosen=chosen, changed=changed)

    return router


def _page(
    request: Request,
    shell: Shell,
    person: OwnerKey,
    wanted: Wanted,
    *,
    chosen: Chosen | None = None,
    changed: Sequence[str] = (),
) -> Response:
    memory = shell.memory
    zone = memory.people.time_zone(person)
    rows, total = _found(memory, person, wanted, zone)
    return shell.page(
        request,
        "memories.html",
        person=person,
        wanted=wanted,
        rows=rows,
        total=total,
        more=not wanted.q.strip() and total > (wanted.page + 1) * _PAGE,
        categories=memory.service.categories.list_categories(person),
        types=TYPES,
        sources=SOURCES,
        statuses=STATUSES,
        zone=zone,
        done=None if chosen is None else len(changed),
        failed=0 if chosen is None else len(set(chosen.ids)) - len(changed),
        forgotten=changed if chosen is not None and chosen.action == "forget" else (),
    )


def _found(
    memory: PhoneMemory, person: OwnerKey, wanted: Wanted, zone: ZoneInfo
) -> tuple[list[tuple[Memory, Found | None]], int]:
    """Searched among what is recalled; without a question listed, newest first."""
    service, where = memory.service, wanted.filter(zone)
    if wanted.q.strip():
        found = service.search(person, wanted.q, mode=wanted.mode, limit=_MOST_FOUND, min_relevance=0.3, where=where)
        return [(each.memory, each) for each in found], len(found)
    listed = service.list_memories(
        person,
        limit=_PAGE,
        offset=wanted.page * _PAGE,
        where=where,
        statuses=wanted.statuses,
        include_expired=wanted.status == "all",
    )
    total = service.count(person, where=where, statuses=wanted.statuses, include_expired=wanted.status == "all")
    return [(each, None) for each in listed], total


def _change(memory: PhoneMemory, person: OwnerKey, chosen: Chosen) -> Callable[[str], object]:
    service, value = memory.service, chosen.value.strip()

    return {
        "forget": lambda memory_id: service.forget(person, memory_id),
        "restore": lambda memory_id: service.restore(person, memory_id),
        "tag": lambda memory_id: retag(service, person, memory_id, more=[value]),
        "categorise": lambda memory_id: service.update(person, memory_id, category=value),
        "private": lambda memory_id: service.update(person, memory_id, private=True),
        "public": lambda memory_id: service.update(person, memory_id, private=False),
    }[chosen.action]


def _each(memory_ids: Sequence[str], change: Callable[[str], object]) -> list[str]:
    """Those that were changed; others are gone meanwhile, or damaged."""
    changed = []
    for each in dict.fromkeys(memory_ids):
        try:
            change(each)
        except (LookupError, InvalidInput, StaleMemory, DamagedMemory) as error:
            if not isinstance(error, LangMemError):
                raise
        else:
            changed.append(each)
    return changed


def tags_in(typed: str) -> list[str]:
    return [each for each in (part.strip() for part in typed.split(",")) if each]


def beginning_of(day: str, zone: ZoneInfo) -> datetime | None:
    """The beginning of a day; None for an empty text. Raises InvalidInput for what is no day."""
    return _midnight(day, zone, after=0)


def end_of(day: str, zone: ZoneInfo) -> datetime | None:
    """The end of a day; else as `beginning_of`."""
    return _midnight(day, zone, after=1)


def _midnight(day: str, zone: ZoneInfo, *, after: int) -> datetime | None:
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day) + timedelta(days=after), time(), zone)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{day!r} is no day: give one as 2026-11-23") from error
