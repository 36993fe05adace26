"""Which of a person's standing instructions a prompt is given: those that win, as many as fit their own budget."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage, SystemMessage

from langmem_plugin.foreign_text import one_line
from langmem_plugin.lru import LruCache
from langmem_plugin.memory.instructions.conflicts import overruled
from langmem_plugin.memory.instructions.instructions import Instruction

TOKENS = 1_000
"""How many tokens of every prompt standing instructions may take."""
_CACHE_BYTES, _BYTES_BESIDE = 2**20, 200
_LONGEST_NUMBER = "200. "


@dataclass(frozen=True)
class Chosen:
    """`given` is in the order in which they override one another; `overruled` has the winner's id by the loser's."""

    given: list[Instruction]
    overruled: Mapping[str, str]
    left_out: list[Instruction]
    """There is no room for these."""


class InstructionChoice:
    """Chooses the same instructions for the prompt and for the list that people see. An instruction that holds only at
    times always takes its room, so that the choice does not change with each message.
    """

    def __init__(self, count_tokens: Callable[[BaseMessage], int]) -> None:
        self._count_tokens = count_tokens
        self._costs: LruCache[str, int] = LruCache(_CACHE_BYTES)

    def of(self, in_force: Sequence[Instruction]) -> Chosen:
        """`in_force` in the order in which they override one another; one that is too long keeps out none after it."""
        lost = overruled(in_force)
        given: list[Instruction] = []
        left_out: list[Instruction] = []
        left = TOKENS
        for each in in_force:
            if each.id in lost:
                continue
            cost = self._cost(each.text)
            if cost <= left:
                left -= cost
                given.append(each)
            else:
                left_out.append(each)
        return Chosen(given, lost, left_out)

    def _cost(self, text: str) -> int:
        if (known := self._costs.get(text)) is not None:
            return known
        cost = self._count_tokens(SystemMessage(_LONGEST_NUMBER + one_line(text)))
        self._costs.put(text, cost, sys.getsizeof(text) + _BYTES_BESIDE)
        return cost
