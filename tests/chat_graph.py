"""The graph of the README, recall → agent (⇄ tools) → write, around whatever an agent node does."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import tools_condition

from langmem_plugin import MemoryState, PhoneMemory


def chat_graph(
    memory: PhoneMemory,
    agent: Callable[[Any], dict[str, Any]],
    tools: Sequence[BaseTool | Callable[..., Any]] = (),
    *,
    context_schema: type | None = None,
    own_checkpointer: bool = True,
    handle_tool_errors: bool = True,
) -> Any:
    """`own_checkpointer` is False where a server brings its own, as `langgraph dev` does."""
    return (
        StateGraph(MemoryState, context_schema=context_schema)
        .add_node("recall", memory.recall_node())
        .add_node("agent", agent)
        .add_node("tools", memory.tool_node(list(tools), handle_tool_errors=handle_tool_errors))
        .add_node("write", memory.write_node())
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "write"})
        .add_edge("tools", "agent")
        .compile(checkpointer=memory.saver if own_checkpointer else None)
    )
