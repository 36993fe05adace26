"""A graph that is put together wrongly is noticed, and what is said tells what to add."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from typing_extensions import TypedDict

from langmem_plugin import ConfigurationError, MemoryState, ReportedState
from tests.cases import for_each
from tests.chat_graph import chat_graph

ERIN = "+972501234567"


def agent(_state):
    return {"messages": AIMessage("hello")}


def look_up(what: str) -> str:
    """Look it up."""
    return what


@pytest.mark.spec("U-1")
def test_a_graph_that_is_right_gets_no_advice(memory, scripted):
    assert memory.check(chat_graph(memory, agent)) == []
    assert memory.check(create_agent(scripted(), [], middleware=[memory.middleware()], checkpointer=memory.saver)) == []
    guarded = (
        StateGraph(MemoryState)
        .add_node("guard", lambda _: {})
        .add_node("recall", memory.recall_node())
        .add_node("agent", agent)
        .add_edge(START, "guard")
        .add_edge("guard", "recall")
        .add_edge("recall", "agent")
    )
    assert memory.check(guarded.compile(checkpointer=memory.saver)) == []


@pytest.mark.spec("U-1")
def test_a_graph_that_cannot_remember_is_refused(memory):
    class Other(TypedDict):
        text: str

    for graph, advice in (
        (StateGraph(MessagesState).add_node(agent).add_edge(START, "agent").compile(), "memory.saver"),
        (
            StateGraph(MessagesState).add_node(agent).add_edge(START, "agent").compile(checkpointer=InMemorySaver()),
            "InMemorySaver",
        ),
        (
            StateGraph(Other)
            .add_node("agent", lambda _: {})
            .add_edge(START, "agent")
            .compile(checkpointer=memory.saver),
            "MemoryState",
        ),
    ):
        with pytest.raises(ConfigurationError, match=advice):
            memory.check(graph)
        with pytest.raises(ConfigurationError, match=advice):
            memory.reply(graph, ERIN, "hello")


@pytest.mark.spec("U-1")
def test_advice_says_what_to_add(memory):
    plain = StateGraph(MessagesState).add_node(agent).add_edge(START, "agent").compile(checkpointer=memory.saver)
    lost = (
        StateGraph(MessagesState)
        .add_node("recall", memory.recall_node())
        .add_node(agent)
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .compile(checkpointer=memory.saver)
    )
    late = (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node())
        .add_node(agent)
        .add_edge(START, "agent")
        .add_edge("agent", "recall")
        .compile(checkpointer=memory.saver)
    )
    later = (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node())
        .add_node(agent)
        .add_node("tools", ToolNode([look_up]))
        .add_node("write", memory.write_node())
        .add_edge(START, "agent")
        .add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "recall"})
        .add_edge("tools", "agent")
        .add_edge("recall", "write")
        .compile(checkpointer=memory.saver)
    )

    assert ["memory.recall_node()" in each for each in memory.check(plain)] == [True]
    assert ["MemoryState" in each for each in memory.check(lost)] == [True]
    for graph in (late, later):
        assert ["comes after the agent" in each for each in memory.check(graph)] == [True]


@pytest.mark.spec("U-1")
def test_an_agent_that_recalls_inside_another_graph_needs_no_advice(memory, scripted):
    model = scripted()
    inner = create_agent(model, middleware=[memory.middleware()])
    within = StateGraph(MessagesState).add_node("agent", inner).add_edge(START, "agent").compile()
    outer = (
        StateGraph(MessagesState).add_node("team", within).add_edge(START, "team").compile(checkpointer=memory.saver)
    )
    memory.reply(outer, ERIN, "/remember I am vegan")
    memory.reply(outer, ERIN, "what may I eat?")

    assert "I am vegan" in model.stated
    assert memory.check(outer) == []


@pytest.mark.spec("U-1")
def test_the_first_reply_logs_the_advice_once_and_readably(memory, caplog):
    plain = StateGraph(MessagesState).add_node(agent).add_edge(START, "agent").compile(checkpointer=memory.saver)
    for _ in range(3):
        memory.reply(plain, ERIN, "hello")

    assert [each.getMessage() for each in caplog.records if "wiring" in each.getMessage()] == [
        "graph.wiring graph=LangGraph advice=" + memory.check(plain)[0]
    ]


@pytest.mark.spec("U-1")
@for_each(("last", "told"), [(["write", "debug"], 0), (["debug", "write"], 1), (["debug"], 0)])
def test_a_debug_node_comes_last(memory, last, told):
    nodes = {"recall": memory.recall_node(), "agent": agent, "write": memory.write_node(), "debug": memory.debug_node()}
    names = ["recall", "agent", *last]
    graph = StateGraph(ReportedState).add_sequence([(name, nodes[name]) for name in names]).add_edge(START, "recall")
    advice = memory.check(graph.compile(checkpointer=memory.saver))
    assert ["put it last" in each for each in advice] == [True] * told
