"""The standing instructions that have room in a prompt."""

from collections.abc import Callable, Sequence

from langchain_core.messages import BaseMessage, SystemMessage

from langmem_plugin.memory.instructions.standing_instructions import Instruction
from langmem_plugin.text_sanitizing import one_line

INSTRUCTION_TOKENS = 1_000
"""The number of tokens in every prompt that standing instructions may take."""


def with_room(in_force: Sequence[Instruction], count_tokens: Callable[[BaseMessage], int]) -> list[Instruction]:
    """Choose among `in_force`, in overriding order, for the prompt and for the list that people see alike.

    An instruction that has no room keeps out none after it. One that holds only at times always takes its room, so that
    the choice does not change with each message.
    """
    given: list[Instruction] = []
    left = INSTRUCTION_TOKENS
    for each in in_force:
        cost = count_tokens(SystemMessage(f"200. {one_line(each.as_told)}"))
        if cost <= left:
            left -= cost
            given.append(each)
    return given
