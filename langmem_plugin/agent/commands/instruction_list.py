"""/instructions: lists standing instructions by number, adds one, switches one off and on, removes one."""

import re

from langmem_plugin.agent.commands.lines import PAGE, one_line, page_number, pages_of, typed_in
from langmem_plugin.agent.replies import Replies
from langmem_plugin.errors import InstructionNotFound, TooManyInstructions
from langmem_plugin.memory.instructions import Instruction, StandingInstructions
from langmem_plugin.memory.models import plain

_SWITCH = re.compile(
    r"(?:(?P<off>off|stop|כבה|כבי|apagar|desactivar)|(?P<on>on|הפעל|הפעילי|activar)|"
    r"(?P<remove>remove|delete|forget|מחק|מחקי|הסר|הסירי|quitar|eliminar|borrar))(?:\s+#?(?P<number>\d{1,4}))?",
    re.IGNORECASE,
)


class InstructionList:
    def __init__(self, instructions: StandingInstructions) -> None:
        self._instructions = instructions

    def answer(self, owner: str, rest: str, replies: Replies) -> str:
        if (page := page_number(rest)) is not None:
            return self._listed(owner, page, replies)
        if switch := _SWITCH.fullmatch(rest):
            number = int(switch["number"] or 0)
            if switch["remove"]:
                return self._removed(owner, number, replies)
            return self._switched(owner, number, replies, on=switch["on"] is not None)
        return self._added(owner, rest, replies)

    def _all(self, owner: str) -> list[Instruction]:
        """The oldest first, those that are off too, so that a number stays one instruction's."""
        found = self._instructions.list_instructions(owner, active_only=False)
        return sorted(found, key=lambda each: (each.created_at, each.id))

    def _listed(self, owner: str, page: int, replies: Replies) -> str:
        found = self._all(owner)
        if not found:
            return replies.no_instructions
        pages = pages_of(len(found))
        if not 1 <= page <= pages:
            return replies.no_such_page.format(pages=pages)
        lines = [
            (replies.instruction_on if each.active else replies.instruction_off).format(
                number=number, text=_told(each, replies)
            )
            for number, each in list(enumerate(found, 1))[(page - 1) * PAGE : page * PAGE]
        ]
        more = replies.next_page.format(page=page, pages=pages, next=typed_in(replies, "/instructions", page + 1))
        return "\n".join([replies.instructions, *lines, *([more] if page < pages else [])])

    def _added(self, owner: str, text: str, replies: Replies) -> str:
        same = next((each for each in self._all(owner) if plain(_whole(each)) == plain(text)), None)
        try:
            if same is None:
                same = self._instructions.add(owner, text)
            elif not same.active:
                same = self._instructions.update(owner, same.id, active=True)
        except TooManyInstructions:
            return replies.instructions_full
        return replies.instruction_added.format(text=_told(same, replies))

    def _removed(self, owner: str, number: int, replies: Replies) -> str:
        found = self._all(owner)
        if not 1 <= number <= len(found):
            return replies.instruction_unknown.format(number=number)
        try:
            self._instructions.remove(owner, found[number - 1].id)
        except InstructionNotFound:  # by another process, meanwhile
            return replies.instruction_unknown.format(number=number)
        return replies.forgotten.format(fact=_told(found[number - 1], replies))

    def _switched(self, owner: str, number: int, replies: Replies, *, on: bool) -> str:
        found = self._all(owner)
        if not 1 <= number <= len(found):
            return replies.instruction_unknown.format(number=number)
        try:
            changed = self._instructions.update(owner, found[number - 1].id, active=on)
        except InstructionNotFound:  # removed by another process, meanwhile
            return replies.instruction_unknown.format(number=number)
        told = replies.instruction_switched_on if on else replies.instruction_switched_off
        return told.format(text=_told(changed, replies))


def _told(instruction: Instruction, replies: Replies) -> str:
    text = one_line(instruction.text)
    return (
        text
        if instruction.condition is None
        else replies.instruction_if.format(condition=instruction.condition, text=text)
    )


def _whole(instruction: Instruction) -> str:
    """As it would be written to add it."""
    return instruction.text if instruction.condition is None else f"if {instruction.condition} then {instruction.text}"
