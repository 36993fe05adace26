"""What silence does not take away: channels carried into the next session, what was written by hand, late answers."""

import asyncio
import operator
from base64 import b64encode
from contextlib import nullcontext
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import EmptyInputError
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langmem_plugin import ConversationSaver, PhoneMemory, SessionExpired, SessionManager, Settings
from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.conversation.media.media_store import Media
from tests.cases import for_each
from tests.conversation.conftest import Scripted

MOM, DAD = "+972501234567", "+972507654321"
DURABILITIES = ["sync", "async", "exit"]


def list_extended(items: list[str], writes: list[list[str]]) -> list[str]:
    return items + [each for more in writes for each in more]


class Shop(MessagesState):
    cart: Annotated[list[str], operator.add]
    note: str
    big: str


def of(phone=MOM, **more: Any) -> Any:
    return {"configurable": {"thread_id": phone, **more}}


def shop(saver, **reading):
    def answer(state: Shop):
        reading.setdefault("seen", []).append(list(state.get("cart") or []))
        return {"messages": AIMessage("Here.")}

    return StateGraph(Shop).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


def texts(state):
    return [each.text for each in state["messages"]]


@pytest.fixture
def carrying(fresh):
    return fresh(carry=("cart", "big"))


@pytest.mark.spec("C-3")
@for_each("durability", DURABILITIES)
def test_after_silence_the_carried_channels_are_there_and_nothing_else(carrying, fresh, clock, durability):
    graph = shop(carrying)
    first = {"messages": "soup", "cart": ["soup"], "note": "gone by then", "big": "x" * 5_000}
    graph.invoke(first, of(), durability=durability)
    for _ in range(2):
        clock.forward(minutes=30)
        state = graph.invoke({"messages": "bread"}, of(), durability=durability)
        assert texts(state) == ["bread", "Here."]
        assert (state["cart"], state["big"], state.get("note")) == (["soup"], "x" * 5_000, None)
        for saver in (carrying, fresh()):
            values = shop(saver).get_state(of()).values
            assert (values["cart"], values["big"], values.get("note")) == (["soup"], "x" * 5_000, None)
    state = graph.invoke({"messages": "more", "cart": ["bread"]}, of(), durability=durability)
    assert state["cart"] == ["soup", "bread"]
    clock.forward(minutes=30)
    assert graph.invoke({"messages": "last"}, of(), durability=durability)["cart"] == ["soup", "bread"]
    assert len(SessionManager(carrying).sessions(MOM)) == 4


@pytest.mark.spec("C-3")
def test_a_turn_and_asynchronous_code_carry_too(carrying, clock):
    graph = shop(carrying)

    async def talk(text):
        return await graph.ainvoke({"messages": text, "cart": [text]}, of())

    asyncio.run(talk("soup"))
    clock.forward(hours=1)
    with carrying.turn(MOM) as config:
        assert graph.invoke({"messages": "hello"}, config)["cart"] == ["soup"]
    clock.forward(hours=1)
    carrying.current_session(MOM)
    assert asyncio.run(talk("bread"))["cart"] == ["soup", "bread"]


@pytest.mark.spec("C-3")
def test_a_session_archived_in_the_background_hands_on_and_one_that_was_ended_does_not(carrying, clock):
    graph = shop(carrying)
    graph.invoke({"messages": "soup", "cart": ["soup"]}, of())
    clock.forward(hours=1)
    assert SessionManager(carrying, Settings(archive_days=1)).expire() == (1, 0)
    clock.forward(hours=1)
    assert graph.invoke({"messages": "hello"}, of())["cart"] == ["soup"]
    carrying.end_session(MOM)
    assert graph.invoke({"messages": "hello"}, of())["cart"] == []


@pytest.mark.spec("C-3", "C-1")
def test_nobody_gets_what_another_carries(carrying, clock):
    graph = shop(carrying)
    graph.invoke({"messages": "soup", "cart": ["soup"]}, of())
    graph.invoke({"messages": "hello"}, of(DAD))
    clock.forward(hours=1)
    assert graph.invoke({"messages": "hello"}, of(DAD))["cart"] == []


@pytest.mark.spec("C-3")
def test_a_channel_the_graph_no_longer_has_waits_until_it_is_back(carrying, clock):
    shop(carrying).invoke({"messages": "soup", "cart": ["soup"]}, of())
    plain = StateGraph(MessagesState).add_node("answer", lambda _: {"messages": AIMessage("Hm.")})
    plain = plain.add_edge(START, "answer").compile(checkpointer=carrying)
    for _ in range(2):
        clock.forward(hours=1)
        assert texts(plain.invoke({"messages": "hello"}, of())) == ["hello", "Hm."]
    assert "cart" not in plain.get_state(of()).values
    assert shop(carrying).invoke({"messages": "back"}, of())["cart"] == ["soup"]


@pytest.mark.spec("C-3")
def test_carried_values_can_be_looked_at_edited_gone_back_to_and_pruned(carrying, clock):
    graph = shop(carrying)
    graph.invoke({"messages": "soup", "cart": ["soup"]}, of())
    clock.forward(hours=1)
    graph.invoke({"messages": "hello"}, of())
    history = list(graph.get_state_history(of()))
    assert [each.values["cart"] for each in history] == [["soup"]] * 4
    assert history[-1].next == ()
    assert graph.invoke(None, history[1].config)["cart"] == ["soup"]
    graph.update_state(of(), {"note": "by hand"})
    assert graph.get_state(of()).values["cart"] == ["soup"]
    carrying.prune([MOM])
    assert graph.invoke({"messages": "on", "cart": ["bread"]}, of())["cart"] == ["soup", "bread"]


class Logbook(MessagesState):
    log: Annotated[list[str], DeltaChannel(list_extended, snapshot_frequency=1)]


@pytest.mark.spec("C-3")
@for_each("durability", DURABILITIES)
def test_a_delta_channel_begins_empty_also_where_others_are_carried(fresh, clock, durability):
    saver = fresh(carry=("log", "messages"))

    def note(state: Logbook):
        return {"log": [state["messages"][-1].text]}

    graph = StateGraph(Logbook).add_node(note).add_edge(START, "note").compile(checkpointer=saver)
    for text in ("one", "two"):
        graph.invoke({"messages": text}, of(), durability=durability)
    assert graph.get_state(of()).values["log"] == ["one", "two"]
    clock.forward(hours=1)
    for expected in (["three"], ["three", "three"]):
        state = graph.invoke({"messages": "three"}, of(), durability=durability)
        assert state["log"] == graph.get_state(of()).values["log"] == expected
    assert texts(state) == ["one", "two", "three", "three"]


@pytest.mark.spec("C-3", "C-2")
def test_what_is_put_without_a_version_is_not_taken_for_carried(carrying):
    config = {"configurable": {"thread_id": MOM, "checkpoint_ns": ""}}
    for values in ({"cart": ["soup"]}, {}):
        checkpoint = {**empty_checkpoint(), "id": str(uuid6()), "channel_values": values}
        config = carrying.put(config, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})
    assert carrying.get_tuple(of()).checkpoint["channel_values"] == {}


@pytest.mark.spec("C-3")
def test_a_subgraphs_own_state_is_not_carried(carrying, clock):
    def count(state: Shop):
        return {"note": (state.get("note") or "") + "|", "cart": ["counted"]}

    inner = StateGraph(Shop).add_node(count).add_edge(START, "count").compile(checkpointer=True)
    graph = StateGraph(Shop).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=carrying)
    graph.invoke({"messages": "one", "cart": ["soup"]}, of())
    clock.forward(hours=1)
    assert graph.invoke({"messages": "two"}, of())["note"] == "|"


class Cart(AgentState):
    cart: NotRequired[Annotated[list[str], operator.add]]


class Shopping(AgentMiddleware):
    state_schema = Cart


@pytest.mark.spec("C-3", "C-19")
@for_each("durability", DURABILITIES)
def test_an_agent_carries_what_the_application_names(database_url, offline_model, clock, durability):
    with PhoneMemory(database_url, carry=("cart",), embeddings=offline_model, now=clock) as memory:
        model = Scripted(lines=[AIMessage("Here you are.")])
        agent = create_agent(model, [], middleware=[memory.middleware(), Shopping()], checkpointer=memory.saver)
        agent.invoke({"messages": "soup", "cart": ["soup"]}, of(), durability=durability)
        clock.forward(hours=1)
        state = agent.invoke({"messages": "bread", "cart": ["bread"]}, of(), durability=durability)
        assert state["cart"] == ["soup", "bread"]
        assert texts(state) == ["bread", "Here you are."]
        clock.forward(hours=1)
        with pytest.raises(SessionExpired):
            agent.invoke(Command(resume="yes"), of(), durability=durability)


@pytest.mark.spec("C-3", "C-8")
def test_a_picture_that_is_carried_stays_with_the_session_it_is_carried_into(fresh, clock, tmp_path):
    picture = b"\x89PNG\r\n\x1a\n" + b"\x00" * 16
    saver = fresh(carry=("note",), media=Media(tmp_path / "photos"))
    graph = shop(saver)
    data = f"data:image/png;base64,{b64encode(picture).decode()}"
    graph.invoke({"messages": "look", "note": {"role": "user", "content": data}}, of())
    old = saver.current_session(MOM).session_id
    clock.forward(hours=1)
    graph.invoke({"messages": "hello"}, of())
    SessionManager(saver).purge(old)
    [reference] = references_in(saver.get_tuple(of()).checkpoint["channel_values"]["note"])
    assert saver.load_media(MOM, reference) == picture


# What is written by hand


@pytest.mark.spec("C-3")
@for_each("archived", [False, True], ids=["silent", "archived by then"])
def test_what_is_written_by_hand_after_silence_is_seen_by_the_next_run(saver, clock, archived):
    graph = shop(saver)
    graph.invoke({"messages": "soup", "note": "old"}, of())
    clock.forward(hours=1)
    if archived:
        saver.sessions.end_silent()
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
@for_each("carry", [(), ("messages",)], ids=["", "carrying"])
def test_an_answer_that_comes_too_late_is_refused_and_leaves_nothing(
    fresh, clock, durability, asynchronous, in_turn, carry
):
    saver, done, entered = fresh(carry=carry), [], []
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
    heard = ["buy", "again"] if carry else ["again"]
    assert texts(graph.invoke({"messages": "again"}, of())) == heard
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
def test_to_go_on_with_nothing_too_late_is_an_error(carrying, clock):
    graph = shop(carrying)
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


@pytest.mark.spec("C-3")
def test_a_saver_on_its_own_carries_in_the_next_process_too(database_url, clock):
    with ConversationSaver(database_url, now=clock, carry=["cart"]) as saver:
        shop(saver).invoke({"messages": "soup", "cart": ["soup"]}, of())
    clock.forward(hours=1)
    with ConversationSaver(database_url, now=clock, carry=["cart"]) as saver:
        assert shop(saver).invoke({"messages": "hello"}, of())["cart"] == ["soup"]
