"""The household assistant as a graph of nodes: chat commands, recall, the model and its tools, write."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import tools_condition

from graphs.household import Household
from graphs.tools import Person, broken, household_tools
from langmem_plugin import MemoryState, PhoneMemory, ReportedState
from langmem_plugin.agent.models import chat_model

SYSTEM = (
    "You are Mom Bot, the assistant of one family, texting with one of its members. Do what they ask with your tools;"
    " never invent recipes, dates or amounts. Answer in a few short lines; number what they may choose from."
)


def build(
    memory: PhoneMemory,
    model: BaseChatModel | None = None,
    household: Household | None = None,
    *,
    own_checkpointer: bool = True,
) -> CompiledStateGraph[ReportedState, Person, Any, Any]:
    """`own_checkpointer` is False for a LangGraph server, which attaches the one that langgraph.json names. There the
    last step says why the turn went as it did, for Studio.
    """
    tools = [*household_tools(household or Household(), memory.person.owner), *memory.tools()]
    thinking = (model or chat_model()).bind_tools(tools)

    def agent(state: MemoryState) -> dict[str, Any]:
        return {"messages": thinking.invoke(memory.prompt(state, SYSTEM))}

    graph = (
        StateGraph(ReportedState, context_schema=Person)
        .add_node(
            "commands",
            memory.context.commands_node(then="recall"),
            destinations=("recall", END),
            trace_policy=memory.trace_policy,
        )
        .add_node("recall", memory.recall_node(), trace_policy=memory.trace_policy)
        .add_node("agent", agent)
        .add_node("tools", memory.tool_node(tools, handle_tool_errors=broken))
        .add_node("write", memory.write_node(), trace_policy=memory.trace_policy)
        .add_edge(START, "commands")
        .add_edge("recall", "agent")
        .add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "write"})
        .add_edge("tools", "agent")
    )
    if not own_checkpointer:
        graph.add_node("debug", memory.debug_node(), trace_policy=memory.trace_policy).add_edge("write", "debug")
    return graph.compile(checkpointer=memory.saver if own_checkpointer else None, name="family_assistant")
