"""Standing instructions: what a person wants done from now on."""

import hashlib
import json
from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from langmem_plugin.errors import StaleMemory
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.instructions.standing_instructions import Instruction, content_of
from langmem_plugin.web.api.fields import Body, Id, Instant, Text, Told
from langmem_plugin.web.api.idempotency import IdempotencyKey, once
from langmem_plugin.web.api.request_context import Call, Called, IfMatch
from langmem_plugin.web.api.routing_and_envelope import TAGGED, answer, gives, routes_of

routes = routes_of("instructions")
PATH = "/api/instructions"
_Priority = Annotated[int, Field(ge=1, le=10, description="10 is the highest")]
_PriorityInQuery = Annotated[int, Query(ge=1, le=10)]


class StandingInstruction(Told):
    id: str
    instruction: str = Field(validation_alias="text")
    priority: int
    condition_expression: str | None = Field(validation_alias="condition")
    expires_at: datetime | None
    is_active: bool = Field(validation_alias="active")
    usage_count: int
    last_used: datetime | None
    created_at: datetime
    updated_at: datetime


class NewInstruction(Body):
    text: Text = Field(alias="instruction", examples=["Always answer in Spanish"])
    priority: _Priority = 1
    condition: Text | None = Field(default=None, alias="condition_expression", examples=["day is monday"])
    expires_at: Instant | None = None


class ChangedInstruction(Body):
    """The changes; all that is not named stays as it is."""

    text: Text | None = Field(default=None, alias="instruction")
    priority: _Priority | None = None
    condition: Text | None = Field(default=None, alias="condition_expression")
    expires_at: Instant | None = None
    active: bool | None = Field(default=None, alias="is_active")


@routes.get(PATH, response_model=answer(instructions=list[StandingInstruction]))
def list_instructions(
    call: Called, active_only: bool = True, priority_min: _PriorityInQuery = 1, priority_max: _PriorityInQuery = 10
) -> Any:
    """List standing instructions, the highest priority first: of two that contradict each other the first holds."""
    held = call.service.instructions.list_instructions(
        call.reads("instructions"), active_only=active_only, priority_min=priority_min, priority_max=priority_max
    )
    return {"instructions": held}


@routes.post(
    PATH,
    response_model=answer(instruction=StandingInstruction),
    status_code=201,
    responses={201: gives("ETag", "Location")},
)
def create_instruction(call: Called, new: NewInstruction, key: IdempotencyKey = "") -> Any:
    """Add a standing instruction."""

    def make() -> Any:
        made = call.service.instructions.add(call.person(), **new.model_dump())
        call.made_at(f"{PATH}/{made.id}")
        return _one(call, made)

    return once(call, key, new, make)


@routes.get(PATH + "/{instruction_id}", response_model=answer(instruction=StandingInstruction), responses=TAGGED)
def read_instruction(call: Called, instruction_id: Id) -> Any:
    """Read one standing instruction."""
    return _one(call, call.service.instructions.get(call.reads(instruction_id), instruction_id))


@routes.patch(PATH + "/{instruction_id}", response_model=answer(instruction=StandingInstruction), responses=TAGGED)
def change_instruction(call: Called, instruction_id: Id, changed: ChangedInstruction, if_match: IfMatch) -> Any:
    """Change what is named of a standing instruction, or switch it off or on.

    With If-Match, the ETag that the change was decided upon, only if it has not changed since, else 412.
    """
    owner, changes = call.person(), changed.changes("condition", "expires_at")
    before = _asked_for(call, owner, instruction_id, if_match)
    return _one(call, call.service.instructions.update(owner, instruction_id, if_still=before, **changes))


@routes.delete(PATH + "/{instruction_id}", response_model=answer(deleted_id=str))
def delete_instruction(call: Called, instruction_id: Id, if_match: IfMatch) -> Any:
    """Remove a standing instruction for good."""
    owner = call.person()
    before = _asked_for(call, owner, instruction_id, if_match)
    call.service.instructions.remove(owner, instruction_id, if_still=before)
    return {"deleted_id": instruction_id}


def _asked_for(call: Call, owner: OwnerKey, instruction_id: str, if_match: str | None) -> Instruction | None:
    """The instruction that If-Match names; None if it names none. Raises StaleMemory if it has changed since."""
    if if_match is None:
        return None
    held = call.service.instructions.get(owner, instruction_id)
    if if_match != _tag(held):
        raise StaleMemory(f"instruction {instruction_id} has changed since: read it again")
    return held


def _one(call: Call, held: Instruction) -> Any:
    call.tagged(_tag(held))
    return {"instruction": held}


def _tag(held: Instruction) -> str:
    return hashlib.sha256(json.dumps(content_of(held), default=str, sort_keys=True).encode()).hexdigest()[:16]
