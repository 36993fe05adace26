"""One memory: what it says and from where, what it took the place of, and how to put it right."""

from datetime import timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.errors import MemoryNotFound, StaleMemory
from langmem_plugin.facts import FactType
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.fact_history import fact_history
from langmem_plugin.memory.models import OPERATOR, Memory, MemoryChanges
from langmem_plugin.plugin import PhoneMemory
from langmem_plugin.web.access import Caller
from langmem_plugin.web.console.memories import TYPES, end_of, tags_in
from langmem_plugin.web.console.shell import Shell, as_operator

CHANGED = 409
_INSTANT = timedelta(microseconds=1)


class Changed(BaseModel):
    """The form as it is sent; `revision` is of the memory that it showed."""

    revision: int
    text: str = Field(default="", max_length=20_000)
    fact_type: FactType = "fact"
    category: str = Field(default="", max_length=200)
    tags: str = Field(default="", max_length=1_000)
    expires_at: str = Field(default="", max_length=10)
    private: bool = False


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(prefix="/people/{ref}/memories/{memory_id}"), shell.memory

    def back(request: Request, ref: str, memory_id: str, did: str) -> Response:
        return shell.go(request, f"people/{ref}/memories/{memory_id}?did={did}")

    def page(
        request: Request,
        person: OwnerKey,
        memory_id: str,
        *,
        did: str = "",
        typed: Changed | None = None,
        status: int = 200,
    ) -> Response:
        chain = fact_history(memory.service, person, memory_id)
        held = next(each for each in chain if each.id == memory_id)
        return shell.page(
            request,
            "one_memory.html",
            status=status,
            person=person,
            memory=held,
            chain=chain,
            why=None if held.status == "forgotten" else memory.provenance.why(person, memory_id),
            typed=typed or form_of(held, memory.people.time_zone(person)),
            stale=typed is not None,
            types=TYPES,
            did=did,
            zone=memory.people.time_zone(person),
        )

    @router.get("")
    def show(request: Request, ref: str, memory_id: str, did: Annotated[str, Query(max_length=20)] = "") -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, memory_id)
        return page(request, person, memory_id, did=did)

    @router.post("")
    def change(request: Request, ref: str, memory_id: str, changed: Annotated[Changed, Form()]) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        try:
            made = put(memory, caller, person, memory_id, changed)
        except StaleMemory:  # what was typed is kept, beside what is there now
            now = newest(memory, person, memory_id)
            return page(request, person, now.id, typed=changed, status=CHANGED)
        return back(request, ref, made.id, "changed")

    @router.post("/forget")
    def forget(request: Request, ref: str, memory_id: str, revision: Annotated[int | None, Form()] = None) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            memory.service.forget(person, memory_id, revision=revision)
        return back(request, ref, memory_id, "forgotten")

    @router.post("/restore")
    def restore(request: Request, ref: str, memory_id: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            memory.service.restore(person, memory_id)
        return back(request, ref, memory_id, "restored")

    _in_its_list(shell, router)
    return router


def put(memory: PhoneMemory, caller: Caller, person: OwnerKey, memory_id: str, changed: Changed) -> Memory:
    """Changes what the form changed and nothing else. Raises StaleMemory where it was changed after it was shown."""
    zone = memory.people.time_zone(person)
    [held] = [each for each in fact_history(memory.service, person, memory_id) if each.id == memory_id]
    shown = form_of(held, zone)
    values = {
        "text": changed.text,
        "fact_type": changed.fact_type,
        "category": changed.category.strip() or None,
        "tags": tags_in(changed.tags),
        "expires_at": end_of(changed.expires_at, zone),
        "private": changed.private,
    }
    given: MemoryChanges = {  # type: ignore[assignment] # of these names
        name: value for name, value in values.items() if getattr(changed, name) != getattr(shown, name)
    }
    with as_operator(caller):
        return memory.service.correct(
            person, memory_id, revision=changed.revision, by=f"{OPERATOR}{caller.token_id}", **given
        )


def newest(memory: PhoneMemory, person: OwnerKey, memory_id: str) -> Memory:
    """The memory, or what is in its place now."""
    [held] = [each for each in fact_history(memory.service, person, memory_id) if each.id == memory_id]
    return memory.service.instead_of(held) or held


def form_of(held: Memory, zone: ZoneInfo) -> Changed:
    """A fact expires with the end of the day that the form shows."""
    return Changed(
        revision=held.revision,
        text=held.text,
        fact_type=held.fact_type,
        category=held.category or "",
        tags=", ".join(held.tags),
        expires_at=(held.expires_at - _INSTANT).astimezone(zone).date().isoformat() if held.expires_at else "",
        private=held.private,
    )


def _in_its_list(shell: Shell, router: APIRouter) -> None:
    """One memory in its place in the list: as it is, or as a form to change it there."""
    memory = shell.memory

    def row(
        request: Request, person: str, memory_id: str, card: bool, typed: Changed | None = None, *, stale: bool = False
    ) -> Response:
        """By itself, as it stands in the list."""
        found = memory.service.get(person, [memory_id])
        if not found:
            raise MemoryNotFound("this memory is not there any more: load the list again")
        return shell.page(
            request,
            "memory_row.html",
            status=CHANGED if stale else 200,
            person=person,
            memory=found[0],
            typed=typed,
            stale=stale,
            card=card,
            types=TYPES,
            categories=memory.service.categories.list_categories(person),
            zone=memory.people.time_zone(person),
        )

    @router.get("/row")
    def show_row(request: Request, ref: str, memory_id: str, form: bool = False, card: bool = False) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, memory_id)
        held = memory.service.get(person, [memory_id]) if form else []
        return row(
            request, person, memory_id, card, form_of(held[0], memory.people.time_zone(person)) if held else None
        )

    @router.post("/row")
    def change_row(
        request: Request, ref: str, memory_id: str, changed: Annotated[Changed, Form()], card: bool = False
    ) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        try:
            made = put(memory, caller, person, memory_id, changed)
        except StaleMemory:
            now = newest(memory, person, memory_id)
            return row(request, person, now.id, card, changed, stale=True)
        return row(request, person, made.id, card)
