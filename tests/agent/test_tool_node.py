"""A tool that was done is done, whatever the others of its step wait for, and however often its process ends."""

import asyncio
import os
import time
from types import SimpleNamespace
from typing import Annotated

import langgraph.types
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command, interrupt

from langmem_plugin import MemoryState
from tests.agent.test_exactly_once import die, killed
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.waiting import until

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"
CONFIG = {"configurable": {"thread_id": ERIN}}


def graph_with(memory, node, calls):
    def agent(state):
        if state["messages"][-1].type == "tool":
            return {"messages": AIMessage(", ".join(each.text for each in state["messages"] if each.type == "tool"))}
        return {"messages": AIMessage("", tool_calls=[{"name": name, "args": {}, "id": name} for name in calls])}

    graph = StateGraph(MemoryState).add_node("recall", memory.recall_node()).add_node("agent", agent)
    graph = graph.add_node("tools", node).add_node("write", memory.write_node())
    graph.add_edge(START, "recall").add_edge("recall", "agent").add_edge("tools", "agent")
    graph.add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "write"})
    return graph.compile(checkpointer=memory.saver)


def readme_graph(memory, tools, model):
    def agent(state):
        return {"messages": model.invoke(memory.prompt(state, "You order."))}

    return chat_graph(memory, agent, tools, handle_tool_errors=False)


def agent_of_langchain(memory, tools, model):
    return create_agent(model, tools, middleware=[memory.middleware()], checkpointer=memory.saver)


@pytest.fixture
def shop(tmp_path):
    """Tools that note what they have done, in a file, and three of which ask before."""
    done = tmp_path / "done"

    def note(text):
        with done.open("a") as file:
            file.write(f"{text}\n")

    @tool
    def order(state: Annotated[dict, InjectedState]) -> str:
        """Order it."""
        note(f"ordered after {len(state['messages'])}")
        return "ordered"

    @tool
    def slow() -> str:
        """Take a while."""
        time.sleep(0.3)
        note("slow")
        return "slow"

    def asking(name):
        def ask() -> str:
            note(f"{name} {interrupt(f'{name}?')}")
            return name

        return tool(name, description=f"{name} it.")(ask)

    return SimpleNamespace(
        order=order,
        slow=slow,
        asking=[asking(each) for each in ("pay", "ship", "wrap")],
        done=lambda: done.read_text().splitlines() if done.exists() else [],
        note=note,
    )


@pytest.mark.spec("C-21")
def test_what_is_done_beside_what_asks_is_done_once(memory, shop):
    tools = [*shop.asking, shop.order, shop.slow]
    graph = graph_with(memory, memory.tool_node(tools), [each.name for each in tools])

    told = [memory.reply(graph, ERIN, text, message_id=text) for text in ("all of it", "by card", "by sea", "in red")]

    assert told == ["pay?", "ship?", "wrap?", "pay, ship, wrap, ordered, slow"]
    assert sorted(shop.done()) == ["ordered after 2", "pay by card", "ship by sea", "slow", "wrap in red"]
    assert memory.check(graph) == []


@pytest.mark.spec("C-21")
def test_the_same_for_asynchronous_code_and_tools(memory, shop):
    @tool
    async def later() -> str:
        """Do it later."""
        await asyncio.sleep(0.01)
        shop.note("later")
        return "later"

    async def said():
        graph = graph_with(memory, memory.tool_node([later, *shop.asking[:2]]), ["later", "pay", "ship"])
        return [await memory.areply(graph, ERIN, text) for text in ("all of it", "yes", "no")]

    assert asyncio.run(said()) == ["pay?", "ship?", "later, pay, ship"]
    assert sorted(shop.done()) == ["later", "pay yes", "ship no"]


@pytest.mark.slow
@pytest.mark.spec("C-21")
def test_what_was_done_when_the_process_was_killed_is_not_done_again(memory, shop):
    config = {"configurable": {"thread_id": ERIN}}

    @tool
    def breaks() -> str:
        """Break."""
        if "DYING" in os.environ:
            until(lambda: "'ordered'" in str(memory.saver.get_tuple(config).pending_writes))
            die()
        return "whole"

    def graph():
        return graph_with(memory, memory.tool_node([shop.order, breaks]), ["order", "breaks"])

    def dying():
        os.environ["DYING"] = "1"
        memory.reply(graph(), ERIN, "order it", message_id="m1")

    killed(dying)
    assert memory.reply(graph(), ERIN, "order it", message_id="m1") == "ordered, whole"
    assert shop.done() == ["ordered after 2"]


@pytest.mark.spec("C-21")
def test_a_tool_may_change_the_state_and_an_unknown_one_is_told_to_the_model(memory, shop):
    @tool
    def goes() -> Command:
        """Change the state."""
        return Command(update={"recalled": [("x", 0.5)], "messages": [ToolMessage("went", tool_call_id="goes")]})

    graph = graph_with(memory, memory.tool_node([shop.order, goes]), ["order", "goes", "fly"])

    assert memory.reply(graph, ERIN, "go").startswith("ordered, went, Error: fly is not a valid tool")
    assert shop.done() == ["ordered after 2"]


def asked_by_another():
    return langgraph.types.interrupt("Really?")


@tool
def asks_by_another() -> str:
    """Ask."""
    return asked_by_another()


@tool
def asks_nothing() -> str:
    """Nothing."""
    return len("interrupt")


@pytest.mark.spec("C-21", "C-13")
def test_check_says_where_tools_would_be_done_again(memory, shop):
    def advice(*tools):
        return memory.check(graph_with(memory, ToolNode(tools), []))

    assert "memory.tool_node(tools)" in advice(shop.order, *shop.asking)[0]
    assert "pay, ship, wrap" in advice(shop.order, *shop.asking)[0]
    assert "asks_by_another" in advice(asks_by_another)[0]
    assert advice(shop.order, asks_nothing) == []


@pytest.mark.spec("C-13")
def test_an_agent_of_langchain_sends_each_call_by_itself(memory, shop, scripted):
    agent = create_agent(
        scripted(), [shop.order, *shop.asking], middleware=[memory.middleware()], checkpointer=memory.saver
    )
    assert memory.check(agent) == []


@pytest.mark.spec("C-21", "C-19")
@for_each("build", [readme_graph, agent_of_langchain])
@for_each("asynchronous", [False, True])
def test_a_model_is_told_what_was_done_beside_a_tool_that_raised(memory, shop, scripted, build, asynchronous):
    @tool
    def breaks() -> str:
        """Break."""
        until(lambda: "'ordered'" in str(memory.saver.get_tuple(CONFIG).pending_writes))
        raise ConnectionError("no signal")

    def say(text):
        return asyncio.run(memory.areply(graph, ERIN, text)) if asynchronous else memory.reply(graph, ERIN, text)

    def called(messages):
        shown.append({each.tool_call_id: each.text for each in messages if isinstance(each, ToolMessage)})
        if "again" in messages[-1].text:
            return AIMessage("So the order stands.")
        return AIMessage("", tool_calls=[{"name": name, "args": {}, "id": name} for name in ("order", "breaks")])

    shown = []
    graph = build(memory, [shop.order, breaks], scripted(called))
    assert say("order it").startswith("Something went wrong")
    assert say("try again") == "So the order stands."
    assert shown[-1]["order"] == "ordered"
    assert "did not finish" in shown[-1]["breaks"]
    assert len(shop.done()) == 1


@pytest.mark.spec("C-19", "C-21")
@for_each("ids, told", [((None, None), "hello"), (("m1", "m2"), "pay?")])
def test_what_follows_an_apology_is_no_answer_to_what_a_tool_asked_beside_one_that_raised(
    memory, shop, scripted, ids, told
):
    @tool
    def breaks() -> str:
        """Break."""
        until(lambda: "'pay?'" in str(memory.saver.get_tuple(CONFIG).pending_writes))
        raise ConnectionError("no signal")

    def called(messages):
        if "buy" not in messages[-1].text:
            return AIMessage("hello")
        return AIMessage("", tool_calls=[{"name": name, "args": {}, "id": name} for name in ("pay", "breaks")])

    graph = agent_of_langchain(memory, [shop.asking[0], breaks], scripted(called))
    assert memory.reply(graph, ERIN, "buy it", message_id=ids[0]).startswith("Something went wrong")
    assert memory.reply(graph, ERIN, "hello?", message_id=ids[1]) == told
    assert shop.done() == []
