"""The memories that wait for a person's word: an operator may give it for them, knowing better."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from langmem_plugin.web.console.shell import Shell, as_operator


def routes(shell: Shell) -> APIRouter:
    router, memory = APIRouter(prefix="/people/{ref}/waiting"), shell.memory

    def back(request: Request, ref: str) -> Response:
        return shell.go(request, f"people/{ref}/waiting")

    @router.get("")
    def show(request: Request, ref: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "pending")
        zone = memory.people.time_zone(person)
        return shell.page(
            request,
            "waiting.html",
            person=person,
            found=memory.confirmations.waiting(person),
            rate=memory.confirmations.approval_rate(person),
            zone=zone,
        )

    @router.post("/{memory_id}/confirm")
    def confirm(request: Request, ref: str, memory_id: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            memory.confirmations.confirm(person, memory_id)
        return back(request, ref)

    @router.post("/{memory_id}/decline")
    def decline(request: Request, ref: str, memory_id: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            memory.confirmations.decline(person, memory_id)
        return back(request, ref)

    return router
