"""The same household assistant made with `create_agent`: the memory is one middleware."""

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.language_models import BaseChatModel
from langgraph.graph.state import CompiledStateGraph

from graphs.family_assistant import SYSTEM
from graphs.household import Household
from graphs.tools import Person, broken, household_tools
from langmem_plugin import PhoneMemory
from langmem_plugin.agent.models import chat_model


def build(
    memory: PhoneMemory,
    model: BaseChatModel | None = None,
    household: Household | None = None,
    *,
    own_checkpointer: bool = True,
) -> CompiledStateGraph[Any, Person, Any, Any]:
    """`own_checkpointer` is False for a LangGraph server, which attaches the one that langgraph.json names."""
    return create_agent(
        model or chat_model(),
        [*household_tools(household or Household(), memory.person.owner), *memory.tools()],
        system_prompt=SYSTEM,
        # Without retries this middleware only turns what a tool raises into a message.
        middleware=[memory.middleware(), ToolRetryMiddleware(max_retries=0, on_failure=broken)],
        context_schema=Person,
        checkpointer=memory.saver if own_checkpointer else None,
        name="family_agent",
    )
