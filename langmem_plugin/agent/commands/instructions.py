"""/instructions: list standing instructions by number, add one, switch one off and on, rank one, remove one."""

import re
from contextlib import suppress

from langmem_plugin.agent.commands.command_call_and_paging import (
    PAGE,
    CommandCall,
    instruction_told,
    keep_order,
    page_number,
    pages_of,
)
from langmem_plugin.agent.prompt_texts import with_room
from langmem_plugin.agent.replying.reply_texts import words_for
from langmem_plugin.errors import InstructionNotFound, TooManyInstructions
from langmem_plugin.facts.instruction_recognition import Spoken, order_of
from langmem_plugin.memory.instructions.standing_instructions import Instruction, split

_OFF, _ON, _REMOVE, _RANK, _NEW = (
    "|".join(words_for(f"instruction_{name}")) for name in ("off", "on", "remove", "rank", "add")
)
_CHANGE = re.compile(
    rf"(?:(?P<off>stop|{_OFF})|(?P<on>{_ON})|(?P<remove>{_REMOVE})|(?P<rank>{_RANK}))"
    r"(?:\s+#?(?P<number>\d{1,4}))?(?:\s+(?P<priority>\d{1,4}))?",
    re.IGNORECASE,
)
_NUMBER_FIRST = re.compile(r"\A(#?\d{1,4})\s+([^\W\d]+)")  # "2 off" is "off 2"
_UNFINISHED = re.compile(rf"(?:{_OFF}|{_ON}|{_REMOVE}|{_RANK})(?:\s+\S+)?|[^\W\d]+\s+#?\d{{1,4}}", re.IGNORECASE)
"""Texts that are no instruction: a change whose number is missing, or whose word is misspelt."""
_ADD = re.compile(rf"(?:{_NEW})\s+(?P<text>.+)", re.IGNORECASE | re.DOTALL)


def instructions(call: CommandCall) -> str:
    if (page := page_number(call.rest)) is not None:
        return _listed(call, page)
    change = _CHANGE.fullmatch(_NUMBER_FIRST.sub(r"\2 \1", call.rest))
    if change is not None and not (change["priority"] and not change["rank"]):
        return _changed(call, change)
    if _UNFINISHED.fullmatch(call.rest):
        return _which(call)
    added = _ADD.fullmatch(call.rest)
    return _added(call, added["text"].strip() if added else call.rest)


def _all(call: CommandCall) -> list[Instruction]:
    """Return all instructions, the oldest first. Those that are off are among them, so that each keeps its number."""
    found = call.service.instructions.list_instructions(call.owner, active_only=False)
    return sorted(found, key=lambda each: (each.created_at, each.id))


def _listed(call: CommandCall, page: int) -> str:
    replies, found = call.replies, _all(call)
    if not found:
        return replies.no_instructions
    pages = pages_of(len(found))
    if not 1 <= page <= pages:
        return replies.no_such_page.format(pages=pages)
    in_force = call.service.instructions.list_instructions(call.owner)
    numbers = {each.id: number for number, each in enumerate(found, 1)}
    given = {each.id for each in with_room(in_force, call.parts.count_tokens)}
    no_room = {each.id for each in in_force} - given
    lines, shown = [], found[(page - 1) * PAGE : page * PAGE]
    call.parts.person_settings.note_shown(call.owner, "instructions", {numbers[each.id]: each.id for each in shown})
    for each in shown:
        if not each.active:
            line = replies.instruction_off
        elif each.id in no_room:
            line = replies.instruction_no_room
        else:
            line = replies.instruction_on if each.id in given else replies.instruction_over
        lines.append(line.format(number=numbers[each.id], text=_told(call, each)))
    return "\n".join([replies.instructions, *lines, *call.page(page, pages, "/instructions")])


def _added(call: CommandCall, text: str) -> str:
    try:
        taken = keep_order(call.parts, call.owner, order_told(text), call.zone)
    except TooManyInstructions:
        return call.replies.instructions_full
    replies = call.replies
    told = replies.instruction_switched_off if taken.outcome == "withdrawn" else replies.instruction_added
    return told.format(text=_told(call, taken.instruction))


def _changed(call: CommandCall, change: re.Match[str]) -> str:
    """Rank or remove the instruction with this number, or switch it off or on."""
    if (number := change["number"]) is None:
        return _which(call)
    with suppress(InstructionNotFound):  # another process removed it meanwhile
        if (one := _numbered(call, number)) is not None:
            return _change(call, one, change)
    return call.replies.instruction_unknown.format(number=number)


def _change(call: CommandCall, one: Instruction, change: re.Match[str]) -> str:
    replies, held, priority = call.replies, call.service.instructions, change["priority"]
    if change["rank"]:
        if priority is None or not 1 <= int(priority) <= 10:  # noqa: PLR2004 - as an Instruction has it
            return replies.instruction_priority_wrong
        ranked = held.update(call.owner, one.id, priority=int(priority))
        text = _told(call, ranked.model_copy(update={"priority": 1}))
        return replies.instruction_priority_set.format(text=text, priority=ranked.priority)
    if change["remove"]:
        held.remove(call.owner, one.id)
        return replies.instruction_removed.format(text=_told(call, one))
    switched = held.update(call.owner, one.id, active=change["on"] is not None)
    told = replies.instruction_switched_on if switched.active else replies.instruction_switched_off
    return told.format(text=_told(call, switched))


def _which(call: CommandCall) -> str:
    listed = _listed(call, 1)
    return listed if listed == call.replies.no_instructions else f"{listed}\n{call.replies.instruction_which}"


def _numbered(call: CommandCall, number: str) -> Instruction | None:
    found = _all(call)
    numbered = call.parts.person_settings.shown(call.owner, "instructions")
    numbered = numbered or {place: each.id for place, each in enumerate(found, 1)}
    return next((each for each in found if each.id == numbered.get(int(number))), None)


def _told(call: CommandCall, instruction: Instruction) -> str:
    return instruction_told(instruction, call.zone, call.replies)


def order_told(text: str) -> Spoken:
    """Read a condition known here, else one in plain words. What cannot be read stays in the text, for the model."""
    wanted, condition = split(text)
    if condition is not None:
        return Spoken(wanted, text, condition)
    return order_of(text) or Spoken(text, text)
