"""One memory in its place in the list: as it is, or as a form to change it there."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from langmem_plugin.errors import MemoryNotFound, StaleMemory
from langmem_plugin.web.console.memories import TYPES
from langmem_plugin.web.console.one_memory import CHANGED, Changed, form_of, newest, put
from langmem_plugin.web.console.shell import Shell


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(prefix="/people/{ref}/memories/{memory_id}"), shell.memory

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

    return router
