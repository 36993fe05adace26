"""The standing instructions that have room in a prompt."""

from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage, SystemMessage

from langmem_plugin.memory.instructions.standing_instructions import Instruction
from langmem_plugin.text_sanitizing import one_line

INSTRUCTION_TOKENS = 1_000
"""The number of tokens in every prompt that standing instructions may take."""


class InstructionChoice:
    """The choice of instructions, the same for the prompt and for the list that people see. An instruction that holds
    only at times always takes its room, so that the choice does not change with each message.
    """

    def __init__(self, count_tokens: Callable[[BaseMessage], int]) -> None:
        self._count_tokens = count_tokens

    def of(self, in_force: Sequence[Instruction]) -> list[Instruction]:
        """Choose among `in_force`, in overriding order. An instruction that has no room keeps out none after it."""
        given: list[Instruction] = []
        left = INSTRUCTION_TOKENS
        for each in in_force:
            cost = self._count_tokens(SystemMessage(f"200. {one_line(each.as_told)}"))
            if cost <= left:
                left -= cost
                given.append(each)
        return given
