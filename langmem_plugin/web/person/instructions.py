"""The person's standing instructions: added in their words, switched, ranked, deleted."""

from typing import Annotated, Unpack

from fastapi import APIRouter, Form
from starlette.responses import Response

from langmem_plugin.agent.commands.instructions import order_told
from langmem_plugin.errors import InstructionNotFound, InvalidInput, StaleMemory, TooManyInstructions
from langmem_plugin.memory.instructions.standing_instructions import MOST_INSTRUCTIONS, Instruction, InstructionChanges
from langmem_plugin.memory.memory_types import storable
from langmem_plugin.web.person.person_request import Here, Visit

router = APIRouter(prefix="/instructions")

_LONGEST = 1_000  # letters
_LOWEST, _HIGHEST = 1, 10

_Text = Annotated[str, Form()]


@router.get("")
def listed(visit: Here, done: str = "", of: str = "") -> Response:
    return _list(visit, done=done, of=of)


@router.post("")
def add(visit: Here, text: _Text = "") -> Response:
    """Add an instruction as the chat does: "stop …" takes one back, and one that exists already is not added twice."""
    if not text.strip():
        return _list(visit, status=422, typed=text, done="empty")
    if len(text) > _LONGEST:
        return _list(visit, status=422, typed=text, done="too_long")
    order = order_told(storable(text.strip()))
    at = visit.memory.service.now().astimezone(visit.zone)
    try:
        taken = visit.memory.instructions.take(
            visit.owner, order.text, condition=order.condition, priority=order.priority, expires_at=order.ends(at)
        )
    except TooManyInstructions:
        return _list(visit, status=422, typed=text, done="too_many")
    except InvalidInput:
        return _list(visit, status=422, typed=text, done="unusable")
    return visit.go(f"instructions?done={taken.outcome}&of={taken.instruction.id}")


@router.post("/{instruction_id}/switch")
def switch(visit: Here, instruction_id: str, seen: _Text, on: _Text) -> Response:
    return _changed(visit, instruction_id, seen, done="on" if on == "yes" else "off", active=on == "yes")


@router.post("/{instruction_id}/change")
def change(visit: Here, instruction_id: str, seen: _Text, text: _Text = "") -> Response:
    if not text.strip() or len(text) > _LONGEST or storable(text) != text:
        return _list(visit, status=422, done="empty" if not text.strip() else "unusable")
    return _changed(visit, instruction_id, seen, done="changed_text", text=text.strip())


@router.post("/{instruction_id}/rank")
def rank(visit: Here, instruction_id: str, seen: _Text, priority: Annotated[int, Form()]) -> Response:
    wanted = min(max(priority, _LOWEST), _HIGHEST)
    return _changed(visit, instruction_id, seen, done="ranked", priority=wanted)


@router.post("/{instruction_id}/delete")
def remove(visit: Here, instruction_id: str, seen: _Text) -> Response:
    try:
        held = _as_seen(visit, instruction_id, seen)
        visit.memory.instructions.remove(visit.owner, instruction_id, if_still=held)
    except (StaleMemory, InstructionNotFound):
        return _list(visit, status=409, done="changed")
    return visit.go("instructions?done=deleted")


def _changed(
    visit: Visit, instruction_id: str, seen: str, *, done: str, **changes: Unpack[InstructionChanges]
) -> Response:
    try:
        held = _as_seen(visit, instruction_id, seen)
        visit.memory.instructions.update(visit.owner, instruction_id, if_still=held, **changes)
    except (StaleMemory, InstructionNotFound):
        return _list(visit, status=409, done="changed")
    return visit.go(f"instructions?done={done}&of={instruction_id}")


def _as_seen(visit: Visit, instruction_id: str, seen: str) -> Instruction:
    """The instruction, still as the page showed it. Raises StaleMemory if it has changed since."""
    held = visit.memory.instructions.get(visit.owner, instruction_id)
    if seen != held.updated_at.isoformat():
        raise StaleMemory(f"instruction {instruction_id} has changed since: read it again")
    return held


def _list(visit: Visit, *, status: int = 200, typed: str = "", done: str = "", of: str = "") -> Response:
    instructions, now = visit.memory.instructions, visit.memory.service.now()
    found = instructions.list_instructions(visit.owner, active_only=False)
    return visit.page(
        "instructions.html",
        status=status,
        at="instructions",
        # In force first, in the order in which they override one another.
        instructions=sorted(found, key=lambda each: not each.is_in_force(now)),
        is_over=lambda each: each.expires_at is not None and each.expires_at <= now,
        typed=typed,
        done=done,
        held=next((each for each in found if each.id == of), None),
        most=MOST_INSTRUCTIONS,
        longest=_LONGEST,
        highest=_HIGHEST,
    )
