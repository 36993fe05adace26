"""The report of a turn, why it went as it did, for LangGraph Studio and tests: ids, scores and reasons, no remembered
text.

A report is stored in a checkpoint, which lives as long as the conversation: it must not hold a memory that is forgotten
meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

from langmem_plugin.agent.graph_state import MemoryState, Recalled
from langmem_plugin.agent.model_input import references_of
from langmem_plugin.agent.parts_protocol import AgentParts
from langmem_plugin.agent.recall_and_write_steps import TurnContext
from langmem_plugin.agent.write_permission import message_of_run
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.memory_types import LIVE


class RecalledMemory(TypedDict):
    """A recalled memory."""

    id: str
    score: float


class Referred(TypedDict):
    """A reference. `words` are the person's own; `numbers` the places of the items in what they were shown."""

    words: str
    tool: str
    numbers: list[int | None]
    reason: str


class TurnReport(TypedDict):
    """The report of one turn. `instructions` and `written` are ids: of the standing instructions in force, and of what
    the newest message has made the agent remember.
    """

    recalled: list[RecalledMemory]
    referred: list[Referred]
    unresolved: list[str]
    asks: bool
    instructions: list[str]
    written: list[str]


class ReportedState(MemoryState):
    """A state that keeps the report of its last turn: give it to the graph that has a `debug_node`."""

    memory_report: NotRequired[TurnReport]


@dataclass(eq=False)
class TurnReports:
    """The maker of the current run's report."""

    parts: AgentParts
    context: TurnContext

    def of(self, messages: Sequence[BaseMessage], recalled: Recalled) -> TurnReport:
        """Make the report. Raises StoreUnavailable: no answer depends on a report."""
        owner, shown = self.parts.person.owner(), self.context.shown
        meaning = references_of(messages)
        told = shown.told(owner, recalled, messages, as_last=True)
        return {
            "recalled": [{"id": memory_id, "score": score} for memory_id, score in recalled],
            "referred": [
                {"words": each.words, "tool": each.tool, "numbers": list(each.numbers), "reason": each.reason}
                for each in meaning.references
            ],
            "unresolved": list(meaning.unresolved),
            "asks": meaning.question is not None,
            "instructions": [each.id for each in shown.instructions(owner, messages, told)],
            "written": self._written(owner, messages),
        }

    def _written(self, owner: OwnerKey, messages: Sequence[BaseMessage]) -> list[str]:
        said = message_of_run(messages)
        if said is None or said.id is None:
            return []
        return [each.id for each in self.parts.service.list_memories(owner, statuses=LIVE) if each.source_id == said.id]
