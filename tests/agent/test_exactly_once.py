"""A message is answered once: delivered twice, at once, after a crash, too late, or while the turn before hangs."""

import functools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.graph import START, StateGraph
from sqlalchemy import delete, select, update

from langmem_plugin import ConfigurationError, ConversationSaver, InvalidInput, MemoryState, PhoneMemory, Settings
from langmem_plugin.agent.middleware import MemoryMiddleware
from langmem_plugin.agent.replying import reply_to_message
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.agent.replying.sync_async_steps import Step
from langmem_plugin.conversation.turns.message_claims import MessageClaims
from langmem_plugin.database.conversation_tables import incoming, turn
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.database.conftest import Child
from tests.waiting import until

pytestmark = pytest.mark.both_engines

ERIN, JASON = "+972501234567", "+972501234568"


@pytest.fixture
def memory(database_url, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model) as opened:
        yield opened


@pytest.fixture
def other(database_url, offline_model, memory):
    """Another worker's."""
    with PhoneMemory(database_url, embeddings=offline_model) as opened:
        yield opened


class Echo:
    """A graph that answers each message with what it heard, and counts its runs."""

    def __init__(self, memory, before=lambda _: None, tools=()):
        self.heard = []
        self._before = before
        self.graph = chat_graph(memory, self._agent, tools)

    def _agent(self, state):
        text = state["messages"][-1].text
        self.heard.append(text)
        self._before(text)
        return {"messages": AIMessage(f"heard {text}")}


def history(memory, graph, phone=ERIN):
    return [each.text for each in graph.get_state({"configurable": {"thread_id": phone}}).values.get("messages", [])]


def killed(work):
    """Does the work in a process that ends in the middle of it."""
    child = Child(work, 60)
    with pytest.raises(AssertionError, match="ended with status 2304"):
        child.result()


def take_places_away(memory):
    """What a waiting process does after some seconds of a dead one's silence."""
    with memory.database.write() as connection:
        connection.execute(delete(turn))


def until_stored(memory, phone, text):
    """Until the text is on disk, wherever the conversation holds it; `memory` itself may know of more."""
    reader = ConversationSaver(memory.database)
    until(lambda: text in str(reader.get_tuple({"configurable": {"thread_id": phone}})))


def until_next(graph, node):
    """Until the step before the node is on disk; LangGraph stores it beside the node."""
    until(lambda: graph.get_state({"configurable": {"thread_id": ERIN}}).next == (node,))


def die(_text=None):
    os._exit(9)


@pytest.mark.spec("C-21")
def test_a_message_delivered_twice_is_answered_once(memory, other):
    echo, elsewhere = Echo(memory), Echo(other)

    first = memory.reply(echo.graph, ERIN, "order it", message_id="wamid.1")
    second = other.reply(elsewhere.graph, ERIN, "order it", message_id="wamid.1")

    assert (first, second) == ("heard order it", "heard order it")
    assert (first.repeated, second.repeated) == (False, True)
    assert echo.heard + elsewhere.heard == ["order it"]
    assert history(memory, echo.graph) == ["order it", "heard order it"]


@pytest.mark.spec("C-21")
def test_a_message_delivered_to_two_workers_in_the_same_moment_is_answered_once(memory, other):
    def all_have_come(_text):
        until(lambda: _in_line(memory) == 4)

    echo, elsewhere = Echo(memory, all_have_come), Echo(other, all_have_come)

    with ThreadPoolExecutor(4) as pool:
        asked = [
            pool.submit(worker.reply, graph.graph, ERIN, "order it", message_id=1)
            for worker, graph in ((memory, echo), (other, elsewhere)) * 2
        ]
        replies = [each.result() for each in asked]

    assert set(replies) == {"heard order it"}
    assert sorted(each.repeated for each in replies) == [False, True, True, True]
    assert echo.heard + elsewhere.heard == ["order it"]


@pytest.mark.spec("C-21", "C-1")
def test_the_same_id_from_two_people_is_two_messages(memory):
    echo = Echo(memory)

    assert memory.reply(echo.graph, ERIN, "tea", message_id="15") == "heard tea"
    assert memory.reply(echo.graph, JASON, "milk", message_id="15") == "heard milk"
    assert memory.reply(echo.graph, ERIN, "anything else", message_id="15") == "heard tea"


@pytest.mark.spec("C-21", "C-13")
@for_each("blank", ["", "  "])
def test_a_blank_id_is_refused_and_none_is_no_id(memory, blank):
    """Nothing would tell what is delivered twice, and nobody would notice."""
    echo = Echo(memory)
    with pytest.raises(InvalidInput, match="the channel's own id, or leave it out"):
        memory.reply(echo.graph, ERIN, "one", message_id=blank)
    assert memory.reply(echo.graph, ERIN, "one", message_id=None) == "heard one"
    assert memory.reply(echo.graph, ERIN, "two", message_id=None) == "heard two"
    assert echo.heard == ["one", "two"]


@pytest.mark.spec("C-13")
def test_a_wrong_argument_is_the_callers_and_not_told_to_the_person(memory):
    graph = Echo(memory).graph
    with pytest.raises(InvalidInput, match="sent_at"):
        memory.reply(graph, ERIN, "hello", sent_at="2026-01-01")
    with pytest.raises(InvalidInput, match="send='print' is no function: pass one"):
        memory.reply(graph, ERIN, "hello", send="print")
    with pytest.raises(InvalidInput, match="parts=100 is no function: pass one"):
        memory.reply(graph, ERIN, "hello", send=print, parts=100)
    with pytest.raises(TypeError, match="mesage_id"):
        memory.reply(graph, ERIN, "hello", mesage_id="1")
    with pytest.raises(ConfigurationError, match="compile"):
        memory.reply(graph.builder, ERIN, "hello")


@pytest.mark.spec("C-21", "W-1")
def test_a_command_delivered_twice_is_done_once(memory):
    echo = Echo(memory)
    remembered = [memory.reply(echo.graph, ERIN, "/remember I like tea", message_id="c1") for _ in range(2)]
    [fact] = memory.service.list_memories(ERIN)
    forgotten = [memory.reply(echo.graph, ERIN, f"/forget {fact.id}", message_id="c2") for _ in range(2)]

    assert remembered == ["✅ Remembered: I like tea"] * 2
    assert forgotten[0] == forgotten[1] == ENGLISH.forgotten.format(fact="I like tea")
    assert echo.heard == []


@pytest.mark.spec("C-21", "C-5")
@for_each("where", ["in a node", "before its answer is kept"])
def test_a_message_whose_process_was_killed_is_answered_when_it_is_delivered_again(memory, where, monkeypatch):
    echo = Echo(memory)
    memory.reply(echo.graph, ERIN, "hello", message_id="m1")

    def dying():
        if where == "in a node":
            memory.reply(Echo(memory, die).graph, ERIN, "order it", message_id="m2")
        monkeypatch.setattr(MessageClaims, "answered", lambda *_, **__: die())
        memory.reply(Echo(memory).graph, ERIN, "order it", message_id="m2")

    killed(dying)
    take_places_away(memory)

    assert memory.reply(echo.graph, ERIN, "order it", message_id="m2") == "heard order it"
    assert memory.reply(echo.graph, ERIN, "order it", message_id="m2").repeated
    assert history(memory, echo.graph) == ["hello", "heard hello", "order it", "heard order it"]


def order_and_recall(memory, how, order):
    """A node that orders, and does in its step what the memory's own node does."""
    recall = memory.recall_node()

    def ordering(state, config: RunnableConfig = None):
        order()
        return RunnableLambda(recall).invoke(state, config) if how == "by a runnable" else recall(state, config)

    if how == "in a sequence":
        return RunnableLambda(lambda state: order() or state) | recall
    return functools.wraps(recall)(ordering) if how == "under its name" else ordering


@pytest.mark.spec("C-21", "C-5")
@for_each("how", ["as a function", "by a runnable", "under its name", "in a sequence", "on its way", "in middleware"])
def test_what_a_step_did_around_one_of_the_memory_is_not_done_again_after_a_kill(memory, tmp_path, scripted, how):
    done = tmp_path / "done"

    def order(*_):
        with done.open("a") as file:
            file.write("ordered\n")

    class Ordering(MemoryMiddleware):
        def before_agent(self, state, runtime):
            order()
            return super().before_agent(state, runtime)

    def graph_with(answer):
        if how == "in middleware":
            return create_agent(scripted(answer), middleware=[Ordering(memory.context)], checkpointer=memory.saver)
        graph = StateGraph(MemoryState).add_node("model", lambda state: {"messages": answer(state)})
        graph.add_edge(START, "recall")
        if how == "on its way":
            graph.add_node("recall", memory.recall_node())
            graph.add_conditional_edges("recall", lambda _: order() or "model", ["model"])
        else:
            graph.add_node("recall", order_and_recall(memory, how, order)).add_edge("recall", "model")
        return graph.compile(checkpointer=memory.saver)

    def dying(_):
        until_next(graph, "model")
        die()

    graph = graph_with(dying)
    killed(lambda: memory.reply(graph, ERIN, "order it", message_id="m1"))
    take_places_away(memory)

    answering = graph_with(lambda _: AIMessage("It is ordered."))
    assert memory.reply(answering, ERIN, "order it", message_id="m1") == "It is ordered."
    assert done.read_text() == "ordered\n"


@pytest.mark.spec("C-21", "C-5", "C-19")
def test_after_a_crash_a_tool_that_was_done_is_not_done_again(memory, tmp_path):
    orders = tmp_path / "orders"

    def order(what: str) -> str:
        """Order it."""
        with orders.open("a") as file:
            file.write(f"{what}\n")
        return "ordered"

    def graph(dies):
        def agent(state):
            last = state["messages"][-1]
            if last.type == "human":
                return {"messages": AIMessage("", tool_calls=[{"name": "order", "args": {"what": "soup"}, "id": "1"}])}
            if dies:
                until_stored(memory, ERIN, "ordered")
                die()
            return {"messages": AIMessage("It is ordered.")}

        return chat_graph(memory, agent, [order])

    killed(lambda: memory.reply(graph(dies=True), ERIN, "order soup", message_id="m1"))
    take_places_away(memory)

    assert memory.reply(graph(dies=False), ERIN, "order soup", message_id="m1") == "It is ordered."
    assert orders.read_text() == "soup\n"
    assert history(memory, graph(dies=False)) == ["order soup", "", "ordered", "It is ordered."]


@pytest.mark.spec("C-21", "C-5", "C-9")
def test_what_was_cut_short_is_answered_by_itself_and_first_when_another_message_comes_before_it(memory):
    killed(lambda: memory.reply(Echo(memory, die).graph, ERIN, "one", message_id="m1"))
    take_places_away(memory)
    echo = Echo(memory)

    assert memory.reply(echo.graph, ERIN, "two", message_id="m2") == "heard two"
    late = memory.reply(echo.graph, ERIN, "one", message_id="m1")

    assert (late, late.repeated) == ("heard one", True)
    assert history(memory, echo.graph) == ["one", "heard one", "two", "heard two"]


@pytest.mark.slow
@pytest.mark.spec("C-21", "C-5")
def test_a_message_that_ends_every_process_does_not_end_those_after_it(memory):
    for _ in range(3):
        killed(lambda: memory.reply(Echo(memory, die).graph, ERIN, "poison", message_id="m1"))
        take_places_away(memory)
    echo = Echo(memory)

    assert memory.reply(echo.graph, ERIN, "hello", message_id="m2") == "heard hello"
    assert memory.reply(echo.graph, ERIN, "poison", message_id="m1") == ENGLISH.failed
    assert echo.heard == ["hello"]


@pytest.mark.spec("C-21", "C-15")
def test_a_waiting_message_that_is_damaged_silences_nobody(memory, caplog):
    killed(lambda: memory.reply(Echo(memory, die).graph, ERIN, "one", message_id="m1"))
    take_places_away(memory)
    with memory.database.write() as connection:
        connection.execute(update(incoming).values(payload=b"damaged"))
    echo = Echo(memory)

    assert memory.reply(echo.graph, ERIN, "two", message_id="m2") == "heard two"
    assert "message.unreadable" in caplog.text
    # As far as the run had come that was cut short: the one after it may have been shown both.
    assert memory.reply(echo.graph, ERIN, "one", message_id="m1") in {"heard one", "heard two"}


@pytest.mark.spec("C-21", "C-9")
def test_a_message_refused_as_busy_is_answered_with_the_next(database_url, offline_model):
    settings = Settings(turn_timeout=timedelta(milliseconds=200))
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model) as memory:
        echo = Echo(memory)
        with ThreadPoolExecutor(1) as pool, memory.turn(ERIN):
            refused = [pool.submit(memory.reply, echo.graph, ERIN, text).result() for text in ("milk", "and tea")]

        assert refused == [ENGLISH.busy] * 2
        memory.reply(echo.graph, ERIN, "and bread")
        assert history(memory, echo.graph) == ["milk", "and tea", "and bread", "heard and bread"]
        assert len(echo.heard) == 1
        memory.reply(echo.graph, ERIN, "thanks")
        assert history(memory, echo.graph)[-2:] == ["thanks", "heard thanks"]


@pytest.mark.spec("C-21")
def test_what_was_written_long_ago_is_kept_and_not_answered(memory):
    echo = Echo(memory)
    long_ago = datetime.now(UTC) - timedelta(days=2)
    sent = []

    for _ in range(2):
        reply = memory.reply(echo.graph, ERIN, "old news", message_id="m1", sent_at=long_ago, send=sent.append)
        assert reply == ""
    memory.reply(echo.graph, ERIN, "and now?", message_id="m2", sent_at=datetime.now(UTC))

    assert sent == []
    assert history(memory, echo.graph) == ["old news", "and now?", "heard and now?"]
    [session] = memory.sessions.sessions(ERIN)
    assert memory.sessions.messages(session.session_id)[0].timestamp == long_ago


@pytest.mark.spec("C-21")
@for_each("what", [{"unopened": "audio"}, {"unopened": "picture"}, {"image": b"no picture"}, {}])
def test_nor_is_anybody_told_that_it_could_not_be_opened(memory, what):
    echo, sent = Echo(memory), []
    long_ago = datetime.now(UTC) - timedelta(days=2)

    assert memory.reply(echo.graph, ERIN, "", message_id="m1", sent_at=long_ago, send=sent.append, **what) == ""
    assert memory.reply(echo.graph, ERIN, "", message_id="m2", sent_at=datetime.now(UTC), send=sent.append, **what)
    assert len(sent) == 1


@pytest.mark.spec("C-21")
def test_an_answer_is_sent_once_and_again_only_if_sending_failed(memory):
    echo, sent = Echo(memory), []

    def failing(_text):
        raise ConnectionError("the provider is down")

    with pytest.raises(ConnectionError):
        memory.reply(echo.graph, ERIN, "hello", message_id="m1", send=failing, raise_errors=True)
    for _ in range(2):
        memory.reply(echo.graph, ERIN, "hello", message_id="m1", send=sent.append)

    assert sent == ["heard hello"]
    assert echo.heard == ["hello"]


@pytest.mark.spec("C-21", "C-9")
def test_answers_are_sent_in_the_order_of_the_messages(memory):
    echo, sent, slow = Echo(memory), [], threading.Event()

    def send(text):
        if text == "heard 0":
            slow.wait(0.2)
        sent.append(text)

    with ThreadPoolExecutor(5) as pool:
        asked = []
        for number in range(5):
            asked.append(pool.submit(memory.reply, echo.graph, ERIN, str(number), message_id=number, send=send))
            until(lambda known=number + 1: len(_rows(memory)) == known)
        assert [each.result().repeated for each in asked] == [False] * 5

    assert sent == [f"heard {number}" for number in range(5)]


@pytest.mark.spec("C-21", "C-23")
def test_a_message_whose_turn_was_overtaken_is_answered_once(memory):
    def overtake(text):
        if text == "slow" and echo.heard.count("slow") == 1:
            take_places_away(memory)
            memory.saver._turns._places.clear()  # another process knows nothing of the places of this one
            assert memory.reply(inner.graph, ERIN, "quick", message_id="m2") == "heard quick"

    echo, inner = Echo(memory, overtake), Echo(memory)

    assert memory.reply(echo.graph, ERIN, "slow", message_id="m1") == "heard slow"
    assert history(memory, echo.graph) == ["slow", "heard slow", "quick", "heard quick"]


@pytest.mark.spec("C-21", "P-1")
def test_what_is_kept_of_messages_goes_through_the_serializer_and_holds_no_phone(memory):
    Echo(memory)
    packed = MessageClaims(memory.database, memory.saver.sessions, lambda: memory.saver.serde)
    memory.reply(Echo(memory).graph, ERIN, "hello", message_id="m1")

    [row] = _rows(memory)
    assert row.payload is None
    assert row.message_id != "m1"
    assert packed.answer_to(ERIN, row.message_id).text == "heard hello"


def _rows(memory):
    with memory.database.read() as connection:
        return connection.execute(select(incoming)).all()


@pytest.mark.spec("C-21", "C-5")
def test_a_burst_that_was_cut_short_is_answered_once_and_swallows_nothing_that_came_later(database_url, offline_model):
    settings = Settings(burst=timedelta(milliseconds=300))

    def burst():
        with PhoneMemory(database_url, settings=settings, embeddings=offline_model) as dying:
            reply_to_message.pause = lambda _: Step(
                lambda: until(lambda: len(_rows(dying)) == 2), None
            )  # both belong to it
            # Cut short before its messages are on disk, it would be no burst any more.
            graph = Echo(dying, lambda _: (until_stored(dying, ERIN, "two"), die())).graph
            with ThreadPoolExecutor(2) as pool:
                pool.submit(dying.reply, graph, ERIN, "one", message_id="m1")
                until(lambda: len(_rows(dying)) == 1)
                pool.submit(dying.reply, graph, ERIN, "two", message_id="m2").result()

    PhoneMemory(database_url, embeddings=offline_model).close()
    killed(burst)
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model) as memory:
        take_places_away(memory)
        echo, sent = Echo(memory), []
        with ThreadPoolExecutor(3) as pool:
            with memory.turn(ERIN):
                asked = []
                for number, text in ((2, "two"), (3, "three"), (1, "one")):
                    asked.append(
                        pool.submit(memory.reply, echo.graph, ERIN, text, message_id=f"m{number}", send=sent.append)
                    )
                    until(lambda: _in_line(memory) == len(asked) + 1)
            replies = [each.result() for each in asked]

        assert replies == ["heard two", "heard three", "heard two"]
        assert sent == ["heard two", "heard three"]
        assert history(memory, echo.graph) == ["one", "two", "heard two", "three", "heard three"]


def _in_line(memory):
    with memory.database.read() as connection:
        return len(connection.execute(select(turn)).all())
