"""/instructions: lists standing instructions by number, adds one, switches one off and on, ranks one, removes one."""

import re
from datetime import timedelta

from langmem_plugin.agent.commands.lines import PAGE, instruction_told, page_number, pages_of, typed_in
from langmem_plugin.agent.prompt.instruction_choice import InstructionChoice
from langmem_plugin.agent.replying.replies import Replies
from langmem_plugin.errors import InstructionNotFound, TooManyInstructions
from langmem_plugin.facts.standing_orders import Spoken, order_of
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.instructions.instructions import Instruction, split
from langmem_plugin.people.person_settings import PersonSettings

NEWEST = "last"
"""Stands in place of a number, for the instruction given last, if there is no doubt which that is."""

_LATELY = timedelta(hours=1)
_OFF = "off|כבה|כבי|apagar|desactivar"
_ON = "on|הפעל|הפעילי|activar"
_REMOVE = "remove|delete|forget|מחק|מחקי|הסר|הסירי|quitar|eliminar|borrar"
_RANK = "priority|עדיפות|prioridad"
_CHANGE = re.compile(
    rf"(?:(?P<off>stop|{_OFF})|(?P<on>{_ON})|(?P<remove>{_REMOVE})|(?P<rank>{_RANK}))"
    r"(?:\s+#?(?P<number>\d{1,4}|last))?(?:\s+(?P<priority>\d{1,4}))?",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(rf"(?:{_OFF}|{_ON}|{_REMOVE}|{_RANK})(?:\s+\S+)?|[^\W\d]+\s+#?\d{{1,4}}", re.IGNORECASE)
"""Texts that are no instruction: a change whose number is missing, or whose word is misspelt."""
_ADD = re.compile(r"(?:add|new|הוסף|הוסיפי|añadir|agregar)\s+(?P<text>.+)", re.IGNORECASE | re.DOTALL)


class InstructionList:
    def __init__(self, service: MemoryService, person_settings: PersonSettings, choice: InstructionChoice) -> None:
        self._instructions = service.instructions
        self._now = service.now
        self._person_settings = person_settings
        self._choice = choice

    def answer(self, owner: OwnerKey, rest: str, replies: Replies) -> str:
        if (page := page_number(rest)) is not None:
            return self._listed(owner, page, replies)
        change = _CHANGE.fullmatch(rest)
        if change is None or (change["priority"] and not change["rank"]):
            if _UNFINISHED.fullmatch(rest):
                return self._which(owner, replies)
            added = _ADD.fullmatch(rest)
            return self._added(owner, added["text"].strip() if added else rest, replies)
        return self._changed(owner, change, replies)

    def _changed(self, owner: OwnerKey, change: re.Match[str], replies: Replies) -> str:
        if change["number"] is None:
            return self._which(owner, replies)
        if change["rank"]:
            return self._ranked(owner, change["number"], change["priority"], replies)
        if change["remove"]:
            return self._removed(owner, change["number"], replies)
        return self._switched(owner, change["number"], replies, on=change["on"] is not None)

    def _all(self, owner: OwnerKey) -> list[Instruction]:
        """The oldest first, those that are off too, so that a number stays one instruction's."""
        found = self._instructions.list_instructions(owner, active_only=False)
        return sorted(found, key=lambda each: (each.created_at, each.id))

    def _listed(self, owner: OwnerKey, page: int, replies: Replies) -> str:
        found = self._all(owner)
        if not found:
            return replies.no_instructions
        pages = pages_of(len(found))
        if not 1 <= page <= pages:
            return replies.no_such_page.format(pages=pages)
        chosen = self._choice.of(self._instructions.list_instructions(owner))
        numbers = {each.id: number for number, each in enumerate(found, 1)}
        given, no_room = {each.id for each in chosen.given}, {each.id for each in chosen.left_out}
        lines, shown = [], found[(page - 1) * PAGE : page * PAGE]
        self._person_settings.note_shown(owner, "instructions", {numbers[each.id]: each.id for each in shown})
        for each in shown:
            if not each.active:
                line = replies.instruction_off
            elif each.id in chosen.overruled:
                line = replies.instruction_overruled
            elif each.id in no_room:
                line = replies.instruction_no_room
            else:
                line = replies.instruction_on if each.id in given else replies.instruction_over
            by = numbers.get(chosen.overruled.get(each.id, ""), "")
            lines.append(line.format(number=numbers[each.id], by=by, text=self._told(owner, each, replies)))
        more = replies.next_page.format(page=page, pages=pages, next=typed_in(replies, "/instructions", page + 1))
        return "\n".join([replies.instructions, *lines, *([more] if page < pages else [])])

    def _added(self, owner: OwnerKey, text: str, replies: Replies) -> str:
        order = order_told(text)
        at = self._now().astimezone(self._person_settings.time_zone(owner))
        try:
            taken = self._instructions.take(
                owner,
                order.text,
                condition=order.condition,
                priority=order.priority,
                expires_at=order.ends(at),
            )
        except TooManyInstructions:
            return replies.instructions_full
        reply = replies.instruction_switched_off if taken.outcome == "withdrawn" else replies.instruction_added
        return reply.format(text=self._told(owner, taken.instruction, replies))

    def _ranked(self, owner: OwnerKey, number: str, priority: str | None, replies: Replies) -> str:
        one = self._numbered(owner, number)
        if one is None:
            return replies.instruction_unknown.format(number=number)
        if priority is None or not 1 <= int(priority) <= 10:  # noqa: PLR2004 - as an Instruction has it
            return replies.instruction_priority_wrong
        try:
            changed = self._instructions.update(owner, one.id, priority=int(priority))
        except InstructionNotFound:  # removed by another process, meanwhile
            return replies.instruction_unknown.format(number=number)
        text = self._told(owner, changed.model_copy(update={"priority": 1}), replies)
        return replies.instruction_priority_set.format(text=text, priority=changed.priority)

    def _removed(self, owner: OwnerKey, number: str, replies: Replies) -> str:
        one = self._numbered(owner, number)
        if one is None and number == NEWEST:
            return self._which(owner, replies)
        if one is None:
            return replies.instruction_unknown.format(number=number)
        try:
            self._instructions.remove(owner, one.id)
        except InstructionNotFound:  # by another process, meanwhile
            return replies.instruction_unknown.format(number=number)
        return replies.forgotten.format(fact=self._told(owner, one, replies))

    def _switched(self, owner: OwnerKey, number: str, replies: Replies, *, on: bool) -> str:
        one = self._numbered(owner, number)
        if one is None:
            return replies.instruction_unknown.format(number=number)
        try:
            changed = self._instructions.update(owner, one.id, active=on)
        except InstructionNotFound:  # removed by another process, meanwhile
            return replies.instruction_unknown.format(number=number)
        told = replies.instruction_switched_on if on else replies.instruction_switched_off
        return told.format(text=self._told(owner, changed, replies))

    def _which(self, owner: OwnerKey, replies: Replies) -> str:
        listed = self._listed(owner, 1, replies)
        return listed if listed == replies.no_instructions else f"{listed}\n{replies.instruction_which}"

    def _numbered(self, owner: OwnerKey, number: str) -> Instruction | None:
        found = self._all(owner)
        if number == NEWEST:
            lately = [each for each in found if self._now() - each.created_at < _LATELY]
            sure = found if len(found) == 1 else lately if len(lately) == 1 else []
            return sure[0] if sure else None
        numbered = self._person_settings.shown(owner, "instructions") or {
            place: each.id for place, each in enumerate(found, 1)
        }
        return next((each for each in found if each.id == numbered.get(int(number))), None)

    def _told(self, owner: OwnerKey, instruction: Instruction, replies: Replies) -> str:
        return instruction_told(instruction, self._person_settings.time_zone(owner), replies)


def order_told(text: str) -> Spoken:
    """Read as a condition of ours, else in plain words; what cannot be read is left in the text, for the model."""
    wanted, condition = split(text)
    if condition is not None:
        return Spoken(wanted, text, condition)
    return order_of(text) or Spoken(text, text)
