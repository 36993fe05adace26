"""When a conversation ends: at the start of a run after silence, and at no other moment."""

import asyncio
import operator
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from langmem_plugin import ConversationSaver, MemoryState, PhoneMemory, SessionExpired
from langmem_plugin.conversation.sessions.session_timeout import Silence
from langmem_plugin.errors import UnknownSession
from tests.cases import for_each
from tests.conversation.conftest import Scripted

MOM, DAD = "+972501234567", "+972507654321"


def of(phone: str, **more: Any) -> Any:
    return {"configurable": {"thread_id": phone, **more}}


def echo(saver, during=lambda: None):
    def answer(state: MessagesState):
        during()
        return {"messages": AIMessage(f"You said {state['messages'][-1].text}.")}

    return StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


def asking(saver):
    def ask(state: MessagesState):
        return {"messages": AIMessage(f"So: {interrupt('sure?')}.")}

    return StateGraph(MessagesState).add_node(ask).add_edge(START, "ask").compile(checkpointer=saver)


def say(graph, text, config=None, **options):
    return texts(graph.invoke({"messages": [HumanMessage(text)]}, config or of(MOM), **options))


def texts(state: Any) -> list[str]:
    return [each.text for each in state.get("messages", ())]


def session(graph, config=None) -> str | None:
    return graph.checkpointer.session_of(graph.get_state(config or of(MOM)).config)


@pytest.mark.spec("C-3")
@for_each(("seconds", "heard"), [(30 * 60 - 0.000001, 4), (30 * 60, 2), (30 * 60 + 1, 2)])
def test_a_conversation_ends_exactly_when_its_time_is_up(saver, clock, seconds, heard):
    graph = echo(saver)
    say(graph, "first")
    clock.forward(seconds=seconds)
    assert len(say(graph, "second")) == heard


@pytest.mark.spec("C-3")
def test_the_time_is_what_was_configured_and_every_message_begins_it_anew(fresh, clock):
    graph = echo(fresh(silence=Silence(timeout=timedelta(hours=24))))
    for _ in range(3):
        heard = say(graph, "hello")
        clock.forward(hours=23)
    assert len(heard) == 6
    clock.forward(hours=1)
    assert len(say(graph, "hello")) == 2


@pytest.mark.spec("C-3")
@for_each("durability", ["sync", "async", "exit"])
def test_a_run_that_takes_longer_than_the_silence_ends_in_the_session_it_began_in(saver, clock, durability):
    graph = echo(saver, during=lambda: clock.forward(hours=2))
    say(graph, "first", durability=durability)
    first = session(graph)
    assert texts(graph.get_state(of(MOM)).values) == ["first", "You said first."]
    assert len(say(echo(saver), "at once", durability=durability)) == 4
    assert session(graph) == first


@pytest.mark.spec("C-3")
def test_the_silence_after_a_long_run_counts_from_its_end(saver, clock):
    say(echo(saver, during=lambda: clock.forward(hours=2)), "first")
    clock.forward(minutes=29)
    assert len(say(echo(saver), "second")) == 4


@pytest.mark.spec("C-3", "C-4")
def test_looking_at_a_silent_conversation_neither_ends_nor_prolongs_it(saver, clock):
    graph = echo(saver)
    say(graph, "first")
    clock.forward(minutes=29)
    before = session(graph)
    assert len(list(graph.get_state_history(of(MOM)))) == 3
    clock.forward(minutes=1)
    assert texts(graph.get_state(of(MOM)).values) == ["first", "You said first."]
    assert session(graph) == before
    say(graph, "second")
    assert session(graph) != before


@pytest.mark.spec("C-3")
def test_update_state_keeps_no_conversation_alive_and_begins_none(saver, clock):
    graph = echo(saver)
    say(graph, "first")
    before = session(graph)
    clock.forward(minutes=29)
    graph.update_state(of(MOM), {"messages": [HumanMessage("by hand")]})
    assert session(graph) == before
    clock.forward(minutes=1)
    assert say(graph, "second") == ["second", "You said second."]


@pytest.mark.spec("C-3", "C-4")
def test_time_travel_stays_in_its_session_however_long_ago_it_was(saver, clock):
    graph = echo(saver)
    say(graph, "first")
    before, history = session(graph), list(graph.get_state_history(of(MOM)))
    clock.forward(hours=5)
    bare = of(MOM, checkpoint_id=history[1].config["configurable"]["checkpoint_id"], checkpoint_ns="")
    for config in (bare, history[1].config):
        assert texts(graph.invoke(None, config)) == ["first", "You said first."]
        assert session(graph) == before
    assert len(list(graph.get_state_history(of(MOM)))) > len(history)


@pytest.mark.spec("C-4")
def test_an_archived_session_is_read_and_replayed_by_its_id_and_stays_archived(saver, clock):
    graph = echo(saver)
    say(graph, "old")
    old = session(graph)
    clock.forward(hours=1)
    say(graph, "new")
    new = session(graph)

    archived = of(MOM, langmem_session=old)
    assert texts(graph.get_state(archived).values) == ["old", "You said old."]
    history = list(graph.get_state_history(archived))
    assert [texts(state.values) for state in history] == [["old", "You said old."], ["old"], []]
    graph.invoke(None, history[1].config)

    assert session(graph) == new
    assert say(graph, "newer")[0] == "new"
    assert len(list(graph.get_state_history(archived))) > len(history)


@pytest.mark.spec("C-1")
def test_a_session_of_another_phone_cannot_be_named(saver):
    graph = echo(saver)
    say(graph, "secret")
    with pytest.raises(UnknownSession):
        graph.get_state(of(DAD, langmem_session=session(graph)))
    with pytest.raises(UnknownSession):
        say(graph, "hello", of(DAD, langmem_session=session(graph)))


@pytest.mark.spec("C-1")
def test_a_checkpoint_of_another_phone_cannot_be_named(saver):
    graph = echo(saver)
    say(graph, "secret")
    stolen = graph.get_state(of(MOM)).config["configurable"]["checkpoint_id"]
    assert texts(graph.get_state(of(DAD, checkpoint_id=stolen)).values) == []
    say(graph, "mine", of(DAD))
    assert texts(graph.get_state(of(DAD, checkpoint_id=stolen)).values) == []
    assert "secret" not in str(list(graph.get_state_history(of(DAD))))


@pytest.mark.spec("C-1")
def test_two_phones_whose_sessions_began_in_the_same_microsecond_never_see_each_other(fresh, monkeypatch):
    saver = fresh()
    graph = echo(saver)
    monkeypatch.setattr(
        "langmem_plugin.conversation.sessions.session_rows.time.time_ns", lambda: 1_800_000_000_000_000_000
    )
    say(graph, "hers", of(MOM))
    say(graph, "his", of(DAD))
    assert texts(graph.get_state(of(MOM)).values) == ["hers", "You said hers."]
    assert texts(graph.get_state(of(DAD)).values) == ["his", "You said his."]
    assert texts(echo(fresh()).get_state(of(DAD)).values) == ["his", "You said his."]


@pytest.mark.spec("C-1")
def test_all_forms_of_a_number_are_one_conversation(fresh):
    graph = echo(fresh(region="IL"))
    for form in (MOM, "972501234567@c.us", "050-123-4567", "+972 50 123 4567", "00972501234567"):
        heard = say(graph, "hello", of(form))
    assert len(heard) == 10
    assert len(say(graph, "hello", of("972501234567-1@g.us"))) == 2


@pytest.mark.spec("C-3", "C-5")
def test_a_restart_changes_nothing_about_a_session(fresh, clock):
    say(echo(fresh()), "first")
    clock.forward(minutes=29)
    assert len(say(echo(fresh()), "second")) == 4
    clock.forward(minutes=30)
    assert len(say(echo(fresh()), "third")) == 2


@pytest.mark.spec("C-3")
def test_a_clock_set_back_neither_ends_a_conversation_nor_breaks_it(saver, clock):
    graph = echo(saver)
    say(graph, "first")
    clock.forward(days=-2)
    assert len(say(graph, "second")) == 4
    clock.forward(days=2, minutes=29)
    assert len(say(graph, "third")) == 6
    clock.forward(minutes=30)
    assert len(say(graph, "fourth")) == 2


@pytest.mark.spec("C-9")
def test_first_messages_that_come_at_once_to_several_processes_begin_one_session(fresh):
    graphs = [echo(fresh()) for _ in range(4)]
    together = threading.Barrier(4)

    def hello(graph):
        together.wait(60)
        return say(graph, "hello")

    with ThreadPoolExecutor(4) as pool:
        assert all("You said hello." in heard for heard in pool.map(hello, graphs))

    with graphs[0].checkpointer.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM langmem_session").scalar() == 1


# Turns


@pytest.mark.spec("C-3")
def test_a_turn_pins_its_session_from_beginning_to_end(saver, clock):
    graph = echo(saver)
    with saver.turn("972501234567@c.us") as config:
        assert config["configurable"]["thread_id"] == MOM
        say(graph, "first", config)
        clock.forward(hours=1)
        assert len(say(graph, "still the same turn", config)) == 4
    clock.forward(hours=1)
    with saver.turn(MOM) as config:
        assert len(say(graph, "next", config)) == 2


@pytest.mark.spec("C-3")
def test_a_turn_in_asynchronous_code_pins_its_session_too(saver, clock):
    graph = echo(saver)

    async def talk():
        async with saver.turn(MOM) as config:
            await graph.ainvoke({"messages": "first"}, config)
            clock.forward(hours=1)
            return await graph.ainvoke({"messages": "second"}, config)

    assert len(texts(asyncio.run(talk()))) == 4


# Subgraphs and runs that leave nothing until they end


class Shared(MessagesState):
    seen: Annotated[list[int], operator.add]


@pytest.mark.spec("C-3")
@for_each("durability", ["sync", "async", "exit"])
@for_each("own", [True, None], ids=["with its own checkpoints", "with its parent's"])
def test_a_subgraph_belongs_to_the_session_of_its_run(saver, clock, durability, own):
    def count(state: Shared):
        clock.forward(minutes=20)
        return {"seen": [len(state["messages"])]}

    inner = StateGraph(Shared).add_node(count).add_edge(START, "count").compile(checkpointer=own)
    outer = StateGraph(Shared).add_node("one", inner).add_node("two", lambda _: {"messages": AIMessage("Done.")})
    graph = outer.add_edge(START, "one").add_edge("one", "two").compile(checkpointer=saver)

    say(graph, "first", durability=durability)
    assert len(say(graph, "second", durability=durability)) == 4
    clock.forward(minutes=30)
    fresh = graph.invoke({"messages": "third"}, of(MOM), durability=durability)

    assert texts(fresh) == ["third", "Done."]
    assert fresh["seen"] == [1]
    with saver.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM langmem_session").scalar() == 2


@pytest.mark.spec("C-3")
def test_a_first_run_that_leaves_nothing_until_its_end_leaves_one_session(saver):
    graph = echo(saver)
    assert len(say(graph, "first", durability="exit")) == 2
    assert len(say(graph, "second", durability="exit")) == 4
    assert len(list(graph.get_state_history(of(MOM)))) == 2


# A question that waits


@pytest.mark.spec("C-3", "C-19")
@for_each("durability", ["sync", "exit"])
def test_a_question_keeps_the_conversation_open_longer(saver, clock, durability):
    graph = asking(saver)
    say(graph, "buy", durability=durability)
    clock.forward(hours=24, microseconds=-1)
    answered = graph.invoke(Command(resume="yes"), of(MOM), durability=durability)
    assert texts(answered) == ["buy", "So: yes."]
    clock.forward(minutes=30)
    assert texts(graph.invoke({"messages": "again"}, of(MOM))) == ["again"]


@pytest.mark.spec("C-3")
def test_a_message_instead_of_an_answer_goes_on_with_the_open_conversation(saver, clock):
    graph = asking(saver)
    say(graph, "buy")
    clock.forward(hours=3)
    assert say(graph, "never mind") == ["buy", "never mind"]


@pytest.mark.spec("C-3", "C-19", "R-5")
@for_each("durability", ["sync", "async", "exit"])
def test_an_answer_that_comes_too_late_is_refused_by_the_recall_node(database_url, clock, offline_model, durability):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        graph = (
            StateGraph(MemoryState)
            .add_node("recall", memory.recall_node())
            .add_node("ask", lambda _: {"messages": AIMessage(f"So: {interrupt('sure?')}.")})
            .add_edge(START, "recall")
            .add_edge("recall", "ask")
            .compile(checkpointer=memory.saver)
        )
        say(graph, "buy", durability=durability)
        clock.forward(hours=24)
        with pytest.raises(SessionExpired):
            graph.invoke(Command(resume="yes"), of(MOM), durability=durability)
        assert say(graph, "buy again", durability=durability) == ["buy again"]


@tool
def order(dish: str) -> str:
    """Orders a dish."""
    return f"ordered {dish}"


@pytest.mark.spec("C-3", "C-19")
def test_an_answer_that_comes_too_late_is_refused_by_the_middleware(database_url, clock, offline_model):
    call = {"name": "order", "args": {"dish": "soup"}, "id": "c1", "type": "tool_call"}
    lines = [AIMessage("", tool_calls=[call]), AIMessage("Ordered.")]
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        asks = HumanInTheLoopMiddleware(interrupt_on={"order": True})
        agent = create_agent(
            Scripted(lines=lines), [order], middleware=[memory.middleware(), asks], checkpointer=memory.saver
        )
        approve = Command(resume={"decisions": [{"type": "approve"}]})
        say(agent, "order soup")
        assert texts(agent.invoke(approve, of(MOM)))[-1] == "Ordered."
        clock.forward(hours=1)
        say(agent, "order soup")
        clock.forward(hours=24)
        with pytest.raises(SessionExpired):
            agent.invoke(approve, of(MOM))


@pytest.mark.spec("C-3")
def test_a_saver_of_its_own_keeps_a_question_as_long_as_it_was_told(database, clock):
    with ConversationSaver(database, now=clock, silence=Silence(while_interrupted=timedelta(hours=1))) as saver:
        graph = asking(saver)
        say(graph, "buy")
        clock.forward(hours=1)
        assert say(graph, "hello") == ["hello"]
