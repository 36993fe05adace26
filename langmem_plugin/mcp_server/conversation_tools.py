"""The tools for past conversations and standing instructions. Their docstrings are written for the model."""

from typing import Annotated

from pydantic import Field

from langmem_plugin.agent.commands.instruction_list import order_told
from langmem_plugin.mcp_server.fact_tools import ADDS, LONGEST_QUERY, READS, REPLACES, Text
from langmem_plugin.mcp_server.refusals import PlainTool
from langmem_plugin.mcp_server.results import (
    NearbyMessage,
    PastMessage,
    PastMessages,
    StandingInstruction,
    StandingInstructions,
    TakenInstruction,
)
from langmem_plugin.mcp_server.served_connection import ServedConnection
from langmem_plugin.memory.find.past_messages import Shown, nearest_words
from langmem_plugin.memory.models import storable

_SPEAKERS = {"user": "the person", "assistant": "the assistant"}
_NEIGHBOURS = 2  # of each message
_LONGEST_BESIDE = 200  # letters of them

InstructionId = Annotated[str, Field(max_length=200, description="the id, as list_instructions gave it")]


def conversation_tools(connection: ServedConnection) -> list[PlainTool]:
    """Each works for the person of the connection and for nobody else."""
    memory = connection.memory
    instructions = memory.instructions

    def search_conversations(
        query: Annotated[
            str,
            Field(max_length=LONGEST_QUERY, description='in the person\'s words: "I" and "you" tell whose to look for'),
        ],
        limit: Annotated[int, Field(ge=1, le=50)] = 8,
    ) -> PastMessages:
        """Look up what was said in earlier conversations with this person, by them and by their assistant.

        For questions such as "what did I say about the boiler?". memory://sessions/{session_id} is the whole talk.
        """
        owner = connection.owner()
        zone = connection.time_zone(owner)
        found = memory.service.history.search(
            owner, storable(query), limit=limit, time_zone=zone, neighbours=_NEIGHBOURS
        )
        return PastMessages(
            messages=[
                PastMessage(
                    said_at=each.message.said_at.astimezone(zone),
                    by=_speaker(each.message.speaker),
                    text=each.message.text,
                    note=each.note,
                    session_id=each.message.session_id,
                    before=[_nearby(shown, before=True) for shown in each.before],
                    after=[_nearby(shown, before=False) for shown in each.after],
                )
                for each in found
            ]
        )

    def list_instructions() -> StandingInstructions:
        """List what this person wants done from now on, also what is switched off."""
        held = instructions.list_instructions(connection.owner(), active_only=False)
        return StandingInstructions(instructions=[StandingInstruction.of(each) for each in held])

    def add_instruction(
        text: Annotated[Text, Field(description='in the person\'s words, such as "always answer in Spanish"')],
        priority: Annotated[int, Field(ge=1, le=10, description="10 is the highest")] = 1,
    ) -> TakenInstruction:
        """Keep what this person wants done from now on. Only when they ask for it.

        "until Friday" ends it, "if …, then …" makes it conditional, and "stop …" takes back what is there.
        """
        owner = connection.owner()
        order = order_told(storable(text))
        at = memory.service.now().astimezone(connection.time_zone(owner))
        taken = instructions.take(
            owner,
            order.text,
            condition=order.condition,
            priority=priority if priority > 1 else order.priority,
            expires_at=order.ends(at),
        )
        return TakenInstruction(outcome=taken.outcome, instruction=StandingInstruction.of(taken.instruction))

    def switch_instruction(instruction_id: InstructionId, on: bool) -> StandingInstruction:
        """Switch a standing instruction off, or on again. Only when the person asks for it."""
        return StandingInstruction.of(instructions.update(connection.owner(), instruction_id, active=on))

    def remove_instruction(instruction_id: InstructionId) -> StandingInstruction:
        """Remove a standing instruction for good. Only when the person asks for it."""
        return StandingInstruction.of(instructions.remove(connection.owner(), instruction_id))

    return [
        PlainTool.of(search_conversations, READS),
        PlainTool.of(list_instructions, READS),
        PlainTool.of(add_instruction, ADDS),
        PlainTool.of(switch_instruction, REPLACES),
        PlainTool.of(remove_instruction, REPLACES),
    ]


def _nearby(shown: Shown, *, before: bool) -> NearbyMessage:
    words = nearest_words(shown.message.text, _LONGEST_BESIDE, before=before)
    return NearbyMessage(by=_speaker(shown.message.speaker), text=words, note=shown.note)


def _speaker(name: str) -> str:
    return _SPEAKERS.get(name, name)
