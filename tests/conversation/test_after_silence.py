"""What is written by hand after silence, and answers that come too late."""

import asyncio
import operator
from contextlib import nullcontext
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import EmptyInputError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langmem_plugin import SessionExpired
from tests.cases import for_each

MOM, DAD = "+972501234567", "+972507654321"


class Shop(MessagesState):
    cart: Annotated[list[str], operator.add]
    note: str


def of(phone=MOM, **more: Any) -> Any:
    return {"configurable": {"thread_id": phone, **more}}


def shop(saver, **reading):
    def answer(state: Shop):
        reading.setdefault("seen", []).append(list(state.get("cart") or []))
        return {"messages": AIMessage("Here.")}

    return StateGraph(Shop).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


def texts(state):
    return [each.text for each in state["messages"]]


# What is written by hand


@pytest.mark.spec("C-3")
@for_each("archived", [False, True], ids=["silent", "archived by then"])
def test_what_is_written_by_hand_after_silence_is_seen_by_the_next_run(saver, clock, archived):
    graph = shop(saver)
    graph.invoke({"messages": "soup", "note": "old"}, of())
    clock.forward(hours=1)
    if archived:
        sum(saver.sessions.silent_ended())
    graph.update_state(of(), {"note": "by hand"})
    clock.forward(minutes=29)
    state = graph.invoke({"messages": "hello"}, of())
    assert (state["note"], texts(state)) == ("by hand", ["soup", "Here.", "hello", "Here."])


@pytest.mark.spec("C-3")
def test_what_is_written_by_hand_neither_brings_back_what_was_ended_nor_what_is_long_past(saver, clock):
    graph = shop(saver)
    graph.invoke({"messages": "first"}, of())
    past = saver.current_session(MOM).session_id
    clock.forward(hours=1)
    graph.invoke({"messages": "second"}, of())
    graph.update_state(of(langmem_session=past), {"note": "into the archive"})
    assert texts(graph.invoke({"messages": "third"}, of()))[0] == "second"
    saver.end_session(MOM)
    graph.update_state(of(), {"note": "too late"})
    clock.forward(hours=1)
    graph.update_state(of(), {"note": "far too late"})
    assert texts(graph.invoke({"messages": "fourth"}, of())) == ["fourth", "Here."]


# Answers that come too late


def asking(saver, done, entered=None):
    def ask(state: MessagesState):
        if entered is not None:
            entered.append(len(state["messages"]))
        answer = interrupt("sure?")
        done.append(answer)
        return {"messages": AIMessage(f"So: {answer}.")}

    return StateGraph(MessagesState).add_node(ask).add_edge(START, "ask").compile(checkpointer=saver)


@pytest.mark.spec("C-3", "C-19")
@for_each("durability", ["sync", "async"])
@for_each("asynchronous", [False, True], ids=["sync", "async"])
@for_each("in_turn", [False, True], ids=["alone", "in a turn"])
def test_an_answer_that_comes_too_late_is_refused_and_leaves_nothing(fresh, clock, durability, asynchronous, in_turn):
    saver, done, entered = fresh(), [], []
    graph = asking(saver, done, entered)
    graph.invoke({"messages": "buy"}, of())
    clock.forward(hours=24)

    def answer(config):
        if asynchronous:
            asyncio.run(graph.ainvoke(Command(resume="yes"), config, durability=durability))
        else:
            graph.invoke(Command(resume="yes"), config, durability=durability)

    for _ in range(2):
        with pytest.raises(SessionExpired), saver.turn(MOM) if in_turn else nullcontext(of()) as config:
            answer(config)
    if durability == "sync" and not asynchronous:
        assert entered == [1]  # no node of a run that is refused has run
    assert texts(graph.invoke({"messages": "again"}, of())) == ["again"]
    graph.invoke(Command(resume="yes"), of())
    assert done == ["yes"]


@pytest.mark.spec("C-3")
def test_an_answer_by_the_questions_id_is_refused_too_late_as_well(saver, clock):
    graph = asking(saver, [])
    asked = graph.invoke({"messages": "buy"}, of())["__interrupt__"][0]
    clock.forward(hours=24)
    with pytest.raises(SessionExpired):
        graph.invoke(Command(resume={asked.id: "yes"}), of())


@pytest.mark.spec("C-3")
def test_to_go_on_with_nothing_too_late_is_an_error(saver, clock):
    graph = shop(saver)
    graph.invoke({"messages": "soup", "cart": ["soup"]}, of())
    clock.forward(hours=1)
    with pytest.raises(EmptyInputError):
        graph.invoke(None, of())


@pytest.mark.spec("C-3")
def test_an_answer_in_a_thread_that_never_was_is_what_it_is_with_a_stock_saver(saver):
    found = []
    for each in (saver, InMemorySaver()):
        done: list[str] = []
        graph = asking(each, done)
        state = graph.invoke(Command(resume="yes"), of(DAD))
        found.append((state.get("messages"), done, graph.get_state(of(DAD)).next))
    assert found[0] == found[1]
