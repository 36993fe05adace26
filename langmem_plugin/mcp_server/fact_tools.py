"""The tools by which an assistant remembers, recalls and forgets facts. Their docstrings are written for the model."""

from typing import Annotated, Literal

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.mcp_server.refusals import PlainTool
from langmem_plugin.mcp_server.results import ExplainedFact, Fact, Facts, FoundFact, FoundFacts, RememberedFact
from langmem_plugin.mcp_server.served_connection import ServedConnection
from langmem_plugin.memory import Memory
from langmem_plugin.memory.find.recall import search_for
from langmem_plugin.memory.models import Remembered, Status, storable

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REPLACES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

LONGEST_TEXT, LONGEST_QUERY = 4_000, 2_000
_STATES: dict[str, Status] = {"known": "active", "waiting": "pending", "archived": "archived"}

Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
FactId = Annotated[str, Field(max_length=200, description="the id of the fact, as recall_facts or list_facts gave it")]


def fact_tools(connection: ServedConnection) -> list[PlainTool]:
    """Each works for the person of the connection and for nobody else."""
    return [*_writing(connection), *_reading(connection), *_deciding(connection)]


def _writing(connection: ServedConnection) -> list[PlainTool]:
    service, consent = connection.memory.service, connection.memory.consent

    def remember_fact(
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
        owner = connection.owner()
        if not consent.allowed(owner, explicit=True):
            raise ToolError("The person has not agreed to be remembered. Remember nothing.")
        over = None if said_again else service.over(owner, storable(text))
        if over is not None:
            instead = service.instead_of(over)
            holds = "" if instead is None else f" What holds now: {instead.text}"
            raise ToolError(
                "The person has corrected this or asked to forget it. Remember it only when they say so anew "
                f"themselves, with said_again=true.{holds}"
            )
        return _remembered(service.remember(owner, storable(text), source_type="extracted_from_chat"), owner)

    def update_fact(
        fact_id: FactId,
        text: Annotated[Text, Field(description="what it says from now on, in one full sentence")],
    ) -> RememberedFact:
        """Change the words of a fact, as to mend a mistake. What has become otherwise is remembered anew instead."""
        owner = connection.owner()
        return _remembered(service.correct(owner, fact_id, text=storable(text)), owner)

    def forget_fact(fact_id: FactId) -> Fact:
        """Forget a fact. Only when the person asks for it. restore_fact takes it back while its id is known."""
        owner = connection.owner()
        return Fact.of(service.forget(owner, fact_id), owner)

    def restore_fact(fact_id: FactId) -> Fact:
        """Make a fact known again that was forgotten, replaced or archived. Only when the person asks for it."""
        owner = connection.owner()
        return Fact.of(service.restore(owner, fact_id), owner)

    return [
        PlainTool.of(remember_fact, ADDS),
        PlainTool.of(update_fact, REPLACES),
        PlainTool.of(forget_fact, REPLACES),
        PlainTool.of(restore_fact, ADDS),
    ]


def _reading(connection: ServedConnection) -> list[PlainTool]:
    memory, service = connection.memory, connection.memory.service

    def recall_facts(
        query: Annotated[str, Field(max_length=LONGEST_QUERY, description="what it is about, in a few words")],
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> FoundFacts:
        """Look up what is known about this person. Do so before you answer what may depend on it."""
        owner = connection.owner()
        found = search_for(service, owner, connection.role(owner), storable(query), limit=limit)
        return FoundFacts(found=[FoundFact.of(each, owner) for each in found])

    def list_facts(
        state: Annotated[
            Literal["known", "waiting", "archived"],
            Field(description="waiting: for the person's word, by confirm_fact or decline_fact"),
        ] = "known",
        limit: Annotated[int, Field(ge=1, le=200)] = 50,
        offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0,
    ) -> Facts:
        """List what is known about this person, the newest first. To find something, recall_facts is better."""
        owner, statuses = connection.owner(), [_STATES[state]]
        listed = service.list_memories(owner, limit=limit, offset=offset, statuses=statuses)
        return Facts(facts=[Fact.of(each, owner) for each in listed], total=service.count(owner, statuses=statuses))

    def explain_fact(fact_id: FactId) -> ExplainedFact:
        """Why something is known: what the person said and when, and what it replaced."""
        owner = connection.owner()
        return ExplainedFact.of(memory.provenance.why(owner, fact_id), owner)

    return [
        PlainTool.of(recall_facts, READS),
        PlainTool.of(list_facts, READS),
        PlainTool.of(explain_fact, READS),
    ]


def _deciding(connection: ServedConnection) -> list[PlainTool]:
    memory = connection.memory

    def confirm_fact(fact_id: FactId) -> Fact:
        """Keep a fact that waits for the person's word. Only when they have said that it is so."""
        owner = connection.owner()
        return Fact.of(memory.confirmations.confirm(owner, fact_id), owner)

    def decline_fact(fact_id: FactId) -> Fact:
        """Drop a fact that waits for the person's word. Only when they have said that it is not so."""
        owner = connection.owner()
        return Fact.of(memory.confirmations.decline(owner, fact_id), owner)

    return [
        PlainTool.of(confirm_fact, ADDS),
        PlainTool.of(decline_fact, REPLACES),
    ]


def _remembered(made: Remembered, owner: OwnerKey) -> RememberedFact:
    memory: Memory = made.memory
    return RememberedFact(outcome=made.outcome, fact=Fact.of(memory, owner), replaced=list(made.concerned))
