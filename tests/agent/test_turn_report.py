"""The debug node: which memories, which items, which instructions, and no remembered text in any checkpoint."""

import json

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langmem_plugin import ReportedState

ERIN = "+972501234567"
SECRET = "Grandma's boiler is serviced by Ezra in Haifa"


def find_plumbers() -> list[dict]:
    """Find plumbers."""
    return [{"id": "p-1", "name": "Dana"}, {"id": "p-2", "name": "Ezra"}]


@pytest.fixture
def graph(memory, scripted):
    calls = [{"name": "find_plumbers", "args": {}, "id": "1"}]
    said = iter([AIMessage("", tool_calls=calls), AIMessage("1. Dana\n2. Ezra"), AIMessage("ok"), AIMessage("ok")])
    model = scripted(lambda _: next(said))
    built = (
        StateGraph(ReportedState)
        .add_node("recall", memory.recall_node())
        .add_node("agent", lambda state: {"messages": model.invoke(memory.prompt(state, "You are Mom Bot."))})
        .add_node("tools", ToolNode([find_plumbers]))
        .add_node("write", memory.write_node())
        .add_node("debug", memory.debug_node())
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_conditional_edges("agent", tools_condition, {"tools": "tools", END: "write"})
        .add_edge("tools", "agent")
        .add_edge("write", "debug")
    )
    return built.compile(checkpointer=memory.saver)


@pytest.mark.spec("U-6", "P-9")
def test_it_says_what_was_recalled_and_meant_and_holds_no_remembered_text(memory, graph):
    made = memory.service.remember(ERIN, SECRET)
    instruction = memory.instructions.add(ERIN, "Answer in one line")
    memory.reply(graph, ERIN, "find plumbers for the boiler")
    with memory.turn(ERIN) as config:
        events = list(graph.stream({"messages": "call number 2"}, config, stream_mode="custom"))
        state = graph.get_state(config).values
    report = state["memory_report"]
    assert events == [{"langmem": report}]
    [recalled] = report["recalled"]
    assert recalled["id"] == made.id
    assert recalled["score"] > 0.5
    [referred] = report["referred"]
    assert (referred["words"], referred["numbers"]) == ("number 2", [2])
    assert report["instructions"] == [instruction.id]
    assert (report["unresolved"], report["asks"]) == ([], False)
    for checkpoint in graph.get_state_history(config):
        assert "Grandma" not in json.dumps(checkpoint.values, default=str)


@pytest.mark.spec("U-6")
def test_it_names_what_the_newest_message_made_the_agent_remember(memory, graph_of, scripted):
    calls = [{"name": "remember_fact", "args": {"text": "Erin drinks mint tea"}, "id": "1"}]
    said = iter([AIMessage("", tool_calls=calls), AIMessage("done")])
    tools = memory.tools()
    model = scripted(lambda _: next(said))
    graph = (
        StateGraph(ReportedState)
        .add_node("agent", lambda state: {"messages": model.invoke(state["messages"])})
        .add_node("tools", ToolNode(tools))
        .add_node("debug", memory.debug_node())
        .add_edge(START, "agent")
        .add_conditional_edges("agent", tools_condition, {"tools": "tools", END: "debug"})
        .add_edge("tools", "agent")
        .compile(checkpointer=memory.saver)
    )
    with memory.turn(ERIN) as config:
        report = graph.invoke({"messages": "remember that I drink mint tea"}, config)["memory_report"]
    [made] = memory.service.list_memories(ERIN)
    assert report["written"] == [made.id]
