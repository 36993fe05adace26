"""A person's standing instructions: what is done from now on, in which order, and which loses to which."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from langmem_plugin.web.console.shell import Shell, as_operator


class InstructionForm(BaseModel):
    """What the page sends; a box that is not ticked is not sent."""

    text: str = Field(default="", max_length=5_000)
    priority: int = Field(default=1, ge=1, le=10)
    condition: str = Field(default="", max_length=5_000)
    active: bool = False


def routes(shell: Shell) -> APIRouter:
    router = APIRouter(prefix="/people/{ref}/instructions")
    instructions = shell.memory.instructions

    def back(request: Request, ref: str) -> Response:
        return shell.go(request, f"people/{ref}/instructions")

    @router.get("")
    def list_instructions(request: Request, ref: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        shell.note(caller, person, "instructions")
        return shell.page(
            request,
            "instructions.html",
            person=person,
            found=instructions.list_instructions(person, active_only=False),
            overruled={each.loser.id: each.winner for each in instructions.conflicts(person)},
        )

    @router.post("")
    def add(request: Request, ref: str, form: Annotated[InstructionForm, Form()]) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        wanted = form.condition.strip() or None
        with as_operator(caller):
            instructions.add(person, form.text, priority=form.priority, condition=wanted)
        return back(request, ref)

    @router.post("/{instruction_id}")
    def change(request: Request, ref: str, instruction_id: str, form: Annotated[InstructionForm, Form()]) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        changes = form.model_dump() | {"condition": form.condition.strip() or None}
        with as_operator(caller):
            instructions.update(person, instruction_id, **changes)
        return back(request, ref)

    @router.post("/{instruction_id}/switch")
    def switch(request: Request, ref: str, instruction_id: str, active: Annotated[bool, Form()] = False) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            instructions.update(person, instruction_id, active=active)
        return back(request, ref)

    @router.post("/{instruction_id}/remove")
    def remove(request: Request, ref: str, instruction_id: str) -> Response:
        caller, person = shell.operator(request), shell.person(ref)
        with as_operator(caller):
            instructions.remove(person, instruction_id)
        return back(request, ref)

    return router
