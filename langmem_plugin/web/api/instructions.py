"""Standing instructions: what a person wants done from now on."""

import hashlib
import json
from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import Query
from pydantic import BaseModel, Field

from langmem_plugin.errors import StaleMemory
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.instructions.instructions import Instruction, InstructionChanges, content_of
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.fields import Body, Id, Instant, Text
from langmem_plugin.web.api.routing import Answered, Routes
from langmem_plugin.web.served import root_of

routes = Routes("instructions")
PATH = "/api/instructions"
Priority = Annotated[int, Field(ge=1, le=10, description="10 is the highest")]

_FIELDS = {
    "instruction": "text", "priority": "priority", "condition_expression": "condition", "expires_at": "expires_at",
    "is_active": "active",
}  # fmt: skip


class StandingInstruction(BaseModel):
    id: str
    instruction: str
    priority: int
    condition_expression: str | None
    expires_at: datetime | None
    is_active: bool
    usage_count: int
    last_used: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, held: Instruction) -> Self:
        renamed = {name: getattr(held, ours) for name, ours in _FIELDS.items()}
        same = {each: getattr(held, each) for each in ("id", "usage_count", "last_used", "created_at", "updated_at")}
        return cls(**renamed, **same)


class Instructions(BaseModel):
    instructions: list[StandingInstruction]


class OneInstruction(BaseModel):
    instruction: StandingInstruction


class NewInstruction(Body):
    instruction: Text = Field(examples=["Always answer in Spanish"])
    priority: Priority = 1
    condition_expression: Text | None = Field(default=None, examples=["day is monday"])
    expires_at: Instant | None = None


class ChangedInstruction(Body):
    """What is not named stays as it is."""

    instruction: Text | None = None
    priority: Priority | None = None
    condition_expression: Text | None = None
    expires_at: Instant | None = None
    is_active: bool | None = None


class DeletedInstruction(BaseModel):
    deleted_id: str


@routes.get(PATH)
def list_instructions(
    call: Called,
    active_only: bool = True,
    priority_min: Annotated[int, Query(ge=1, le=10)] = 1,
    priority_max: Annotated[int, Query(ge=1, le=10)] = 10,
) -> Instructions:
    """List standing instructions, the highest priority first: of two that contradict each other the first holds."""
    owner = call.reads("instructions")
    held = call.service.instructions.list_instructions(
        owner, active_only=active_only, priority_min=priority_min, priority_max=priority_max
    )
    return Instructions(instructions=[StandingInstruction.of(each) for each in held])


@routes.post(PATH, statuses=(201,), gives=("ETag", "Location"))
def create_instruction(call: Called, new: NewInstruction) -> Answered[OneInstruction]:
    """Add a standing instruction."""
    made = call.service.instructions.add(
        call.person(),
        new.instruction,
        priority=new.priority,
        condition=new.condition_expression,
        expires_at=new.expires_at,
    )
    answered = _one(made)
    answered.status = 201
    answered.headers["location"] = f"{root_of(call.request)}{PATH}/{made.id}"
    return answered


@routes.get(PATH + "/{instruction_id}", gives=("ETag",))
def read_instruction(call: Called, instruction_id: Id) -> Answered[OneInstruction]:
    """Read one standing instruction."""
    return _one(call.service.instructions.get(call.reads(instruction_id), instruction_id))


@routes.patch(PATH + "/{instruction_id}", gives=("ETag",), if_match=True)
def change_instruction(call: Called, instruction_id: Id, changed: ChangedInstruction) -> Answered[OneInstruction]:
    """Change what is named of a standing instruction, or switch it off or on.

    With If-Match, the ETag that the change was decided upon, only if it has not changed since: else 412.
    """
    named: dict[str, Any] = {
        _FIELDS[name]: getattr(changed, name)
        for name in changed.model_fields_set
        if getattr(changed, name) is not None or name in {"condition_expression", "expires_at"}
    }
    changes: InstructionChanges = named  # type: ignore[assignment] # by the names of its fields
    owner = call.person()
    before = _asked_for(call, owner, instruction_id)
    return _one(call.service.instructions.update(owner, instruction_id, if_still=before, **changes))


@routes.delete(PATH + "/{instruction_id}", if_match=True)
def delete_instruction(call: Called, instruction_id: Id) -> DeletedInstruction:
    """Remove a standing instruction for good."""
    owner = call.person()
    call.service.instructions.remove(owner, instruction_id, if_still=_asked_for(call, owner, instruction_id))
    return DeletedInstruction(deleted_id=instruction_id)


def _asked_for(call: Call, owner: OwnerKey, instruction_id: str) -> Instruction | None:
    """The instruction that If-Match names; None where it names none. Raises StaleMemory where it is another by now."""
    asked = call.if_match()
    if asked is None:
        return None
    held = call.service.instructions.get(owner, instruction_id)
    if asked != _tag(held):
        raise StaleMemory(f"instruction {instruction_id} has changed since: read it again")
    return held


def _one(held: Instruction) -> Answered[OneInstruction]:
    return Answered(OneInstruction(instruction=StandingInstruction.of(held)), tag=_tag(held))


def _tag(held: Instruction) -> str:
    return hashlib.sha256(json.dumps(content_of(held), default=str, sort_keys=True).encode()).hexdigest()[:16]
