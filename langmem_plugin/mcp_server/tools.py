"""The tools of one person's memory: facts, past conversations, standing instructions. Docstrings are for the model."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import Field

from langmem_plugin.agent.commands.instructions import order_told
from langmem_plugin.agent.person_of_run import ServedPerson
from langmem_plugin.agent.write_permission import forbids
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.mcp_server.refusals import PlainTool
from langmem_plugin.mcp_server.results import (
    ExplainedFact,
    Fact,
    Facts,
    FoundFact,
    FoundFacts,
    PastMessage,
    PastMessages,
    RememberedFact,
    StandingInstruction,
    StandingInstructions,
    TakenInstruction,
)
from langmem_plugin.memory import Memory
from langmem_plugin.memory.find.recall_and_visibility import search_for
from langmem_plugin.memory.memory_types import Remembered, Status, storable
from langmem_plugin.plugin import PhoneMemory

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REPLACES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

_FORBIDDEN = "The person has forbidden to remember this. They can text it with /remember, or allow it by /privacy."
_SPEAKERS = {"user": "the person", "assistant": "the assistant"}
_STATES: dict[str, Status] = {"known": "active", "waiting": "pending", "archived": "archived"}

Text = Annotated[str, Field(max_length=4_000)]
_Query = Annotated[str, Field(max_length=2_000)]
FactId = Annotated[str, Field(max_length=200, description="the id of the fact, as recall_facts or list_facts gave it")]
InstructionId = Annotated[str, Field(max_length=200, description="the id, as list_instructions gave it")]

_Work = TypeVar("_Work", bound=Callable[..., Any])
_HINTS = "langmem_hints"


def tool(hints: ToolAnnotations) -> Callable[[_Work], _Work]:
    """Mark a method of MemoryTools as a tool that does no more than the hints say."""

    def marked(work: _Work) -> _Work:
        setattr(work, _HINTS, hints)
        return work

    return marked


class MemoryTools:
    """The tools for the person of a connection, who is fixed as it is made; nothing said over it changes that.

    `identifier` returns the person of the present call's connection; links and merges are followed at each call. Raises
    ConfigurationError if the memory is switched off: there is nothing to serve.
    """

    def __init__(self, memory: PhoneMemory, identifier: Callable[[], str]) -> None:
        if not memory.settings.remembers:
            raise ConfigurationError("the memory is switched off: switch it on (enable_memory_system), or serve none")
        self.memory = memory
        self._identifier = identifier
        self._served = ServedPerson(memory.settings, memory.people, memory.database)

    def owner(self) -> OwnerKey:
        """The key of the person. Raises StoreUnavailable."""
        return self.memory.people.resolve(self._identifier())

    def tools(self) -> list[Tool]:
        """All methods that are marked as tools, in their order."""
        marked = ((name, getattr(each, _HINTS, None)) for name, each in vars(type(self)).items())
        return [PlainTool.of(getattr(self, name), hints) for name, hints in marked if hints is not None]

    @tool(ADDS)
    def remember_fact(
        self,
        text: Annotated[Text, Field(description="the fact in one full sentence that can be understood by itself")],
        said_again: Annotated[
            bool,
            Field(description="true only where the person has just said anew what they had corrected or forgotten"),
        ] = False,
    ) -> RememberedFact:
        """Remember a lasting fact about this person for later conversations: a preference, a name, a debt, a date.

        Only when the person asks for it. What they told before and contradicts it is replaced by it, and kept as
        history.
        """
        service, owner = self.memory.service, self.owner()
        if forbids(self.memory.consent.of_owner(owner), text):  # nobody can tell here who asks for it
            raise ToolError(_FORBIDDEN)
        over = None if said_again else service.over(owner, storable(text))
        if over is not None:
            instead = service.instead_of(over)
            holds = "" if instead is None else f" What holds now: {instead.text}"
            raise ToolError(
                "The person has corrected this or asked to forget it. Remember it only when they say so anew "
                f"themselves, with said_again=true.{holds}"
            )
        return _remembered(service.remember(owner, storable(text), source_type="extracted_from_chat"), owner)

    @tool(REPLACES)
    def update_fact(
        self,
        fact_id: FactId,
        text: Annotated[Text, Field(description="what it says from now on, in one full sentence")],
    ) -> RememberedFact:
        """Change the words of a fact, as to mend a mistake. What has become otherwise is remembered anew instead."""
        owner = self.owner()
        return _remembered(self.memory.service.update(owner, fact_id, text=storable(text)), owner)

    @tool(REPLACES)
    def forget_fact(self, fact_id: FactId) -> Fact:
        """Forget a fact. Only when the person asks for it. restore_fact takes it back while its id is known."""
        return self._fact(self.memory.service.forget, fact_id)

    @tool(ADDS)
    def restore_fact(self, fact_id: FactId) -> Fact:
        """Make a fact known again that was forgotten, replaced or archived. Only when the person asks for it."""
        return self._fact(self.memory.service.restore, fact_id)

    @tool(READS)
    def recall_facts(
        self,
        query: Annotated[_Query, Field(description="what it is about, in a few words")],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> FoundFacts:
        """Look up what is known about this person. Do so before you answer what may depend on it."""
        owner = self.owner()
        found = search_for(self.memory.service, owner, self._served.role(owner), storable(query), limit=limit)
        return FoundFacts(found=[FoundFact.of(each, owner) for each in found])

    @tool(READS)
    def list_facts(
        self,
        state: Annotated[
            Literal["known", "waiting", "archived"],
            Field(description="waiting: for the person's word, by confirm_fact or decline_fact"),
        ] = "known",
        limit: Annotated[int, Field(ge=1, le=200)] = 50,
        offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0,
    ) -> Facts:
        """List what is known about this person, the newest first. To find something, recall_facts is better."""
        service, owner, statuses = self.memory.service, self.owner(), [_STATES[state]]
        listed = service.list_memories(owner, limit=limit, offset=offset, statuses=statuses)
        return Facts(facts=[Fact.of(each, owner) for each in listed], total=service.count(owner, statuses=statuses))

    @tool(READS)
    def explain_fact(self, fact_id: FactId) -> ExplainedFact:
        """Why something is known: what the person said and when, and what it replaced."""
        owner = self.owner()
        return ExplainedFact.of(self.memory.provenance.why(owner, fact_id), owner)

    @tool(ADDS)
    def confirm_fact(self, fact_id: FactId) -> Fact:
        """Keep a fact that waits for the person's word. Only when they have said that it is so."""
        return self._fact(self.memory.confirmations.confirm, fact_id)

    @tool(REPLACES)
    def decline_fact(self, fact_id: FactId) -> Fact:
        """Drop a fact that waits for the person's word. Only when they have said that it is not so."""
        return self._fact(self.memory.confirmations.decline, fact_id)

    @tool(READS)
    def search_conversations(
        self,
        query: Annotated[_Query, Field(description='in the person\'s words: "I" and "you" tell whose to look for')],
        limit: Annotated[int, Field(ge=1, le=50)] = 8,
    ) -> PastMessages:
        """Look up what was said in earlier conversations with this person, by them and by their assistant.

        For questions such as "what did I say about the boiler?".
        """
        owner = self.owner()
        zone = self.memory.people.time_zone(owner)
        found = self.memory.service.history.search(owner, storable(query), limit=limit, time_zone=zone)
        return PastMessages(
            messages=[
                PastMessage(
                    said_at=each.message.said_at.astimezone(zone),
                    by=_SPEAKERS.get(each.message.speaker, each.message.speaker),
                    text=each.message.text,
                    note=each.note,
                    session_id=each.message.session_id,
                )
                for each in found
            ]
        )

    @tool(READS)
    def list_instructions(self) -> StandingInstructions:
        """List what this person wants done from now on, also what is switched off."""
        held = self.memory.instructions.list_instructions(self.owner(), active_only=False)
        return StandingInstructions.model_validate({"instructions": held})

    @tool(ADDS)
    def add_instruction(
        self,
        text: Annotated[Text, Field(description='in the person\'s words, such as "always answer in Spanish"')],
        priority: Annotated[int, Field(ge=1, le=10, description="10 is the highest")] = 1,
    ) -> TakenInstruction:
        """Keep what this person wants done from now on. Only when they ask for it.

        "until Friday" ends it, "if …, then …" makes it conditional, and "stop …" takes back what is there.
        """
        owner, order = self.owner(), order_told(storable(text))
        at = self.memory.service.now().astimezone(self.memory.people.time_zone(owner))
        taken = self.memory.instructions.take(
            owner,
            order.text,
            condition=order.condition,
            priority=priority if priority > 1 else order.priority,
            expires_at=order.ends(at),
        )
        return TakenInstruction.model_validate(taken)

    @tool(REPLACES)
    def switch_instruction(self, instruction_id: InstructionId, on: bool) -> StandingInstruction:
        """Switch a standing instruction off, or on again. Only when the person asks for it."""
        changed = self.memory.instructions.update(self.owner(), instruction_id, active=on)
        return StandingInstruction.model_validate(changed)

    @tool(REPLACES)
    def remove_instruction(self, instruction_id: InstructionId) -> StandingInstruction:
        """Remove a standing instruction for good. Only when the person asks for it."""
        return StandingInstruction.model_validate(self.memory.instructions.remove(self.owner(), instruction_id))

    def _fact(self, verb: Callable[[OwnerKey, str], Memory], fact_id: str) -> Fact:
        owner = self.owner()
        return Fact.of(verb(owner, fact_id), owner)


def _remembered(made: Remembered, owner: OwnerKey) -> RememberedFact:
    return RememberedFact(outcome=made.outcome, fact=Fact.of(made.memory, owner), replaced=list(made.concerned))
