"""What a person is answered when a turn is lost, what is written then, and how often a reply asks the database."""

import asyncio
import contextlib
import threading
from collections import Counter

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from sqlalchemy import delete

from langmem_plugin import MemoryState, PhoneMemory, TurnLost
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.conversation.storage import checkpoint_put_and_get
from langmem_plugin.conversation.turns.message_claims import MessageClaims
from langmem_plugin.database.conversation_tables import turn
from tests.cases import for_each
from tests.chat_graph import chat_graph

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"


@pytest.fixture
def memory(database_url, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model) as opened:
        yield opened


def assistant(memory, before=lambda _: None):
    def agent(state):
        text = state["messages"][-1].text
        before(text)
        memory.prompt(state, "You are Mom Bot.")
        return {"messages": AIMessage(f"You said {text}")}

    return chat_graph(memory, agent)


def agent_with(memory):
    """The same by the middleware."""
    model = GenericFakeChatModel(messages=iter([AIMessage("You said hello")]))
    return create_agent(model, middleware=[memory.middleware()], checkpointer=memory.saver)


def overtaken(memory, graph):
    """Another process takes the turn: this one's ticket is gone, and a message is answered in its place."""

    def overtake(text):
        if text == "slow":
            with memory.database.write() as connection:
                connection.execute(delete(turn))
            memory.saver._turns._places.clear()  # another process knows nothing of the places of this one
            assert memory.reply(graph, ERIN, "my allergy is peanuts") == "You said my allergy is peanuts"

    return overtake


@pytest.mark.spec("C-23")
def test_a_person_is_told_when_an_answer_was_overtaken(memory):
    assert memory.reply(assistant(memory, overtaken(memory, assistant(memory))), ERIN, "slow") == ENGLISH.turn_lost
    assert memory.reply(assistant(memory), ERIN, "still there?") == "You said still there?"


@pytest.mark.spec("C-23")
def test_a_tool_of_an_overtaken_run_remembers_nothing_and_forgets_nothing(memory):
    memory.service.remember(ERIN, "Leo is allergic to peanuts")
    [kept] = memory.service.list_memories(ERIN)
    tools = {each.name: each for each in memory.tools()}
    overtake = overtaken(memory, assistant(memory))

    def use_tools(text):
        overtake(text)
        if text == "slow":
            for name, given in (
                ("remember_fact", {"text": "Leo likes peanuts"}),
                ("forget_fact", {"memory_id": kept.id}),
            ):
                with pytest.raises(TurnLost):
                    tools[name].invoke(given)

    assert memory.reply(assistant(memory, use_tools), ERIN, "slow") == ENGLISH.turn_lost
    assert [each.text for each in memory.service.list_memories(ERIN)] == ["Leo is allergic to peanuts"]


@pytest.mark.spec("C-5", "P-4")
@for_each("gone", ["thread", "session"])
def test_a_person_is_answered_when_the_conversation_is_deleted_meanwhile(memory, gone):
    def delete_it(text):
        if text != "slow":
            return
        if gone == "thread":
            memory.saver.delete_thread(ERIN)
        else:
            memory.sessions.purge(memory.sessions.get_session(ERIN).session_id)

    graph = assistant(memory, delete_it)
    memory.reply(graph, ERIN, "hello")

    assert memory.reply(graph, ERIN, "slow") == ENGLISH.turn_lost
    assert memory.reply(graph, ERIN, "hello again") == "You said hello again"
    state = graph.get_state({"configurable": {"thread_id": ERIN}})
    assert [each.text for each in state.values["messages"]] == ["hello again", "You said hello again"]


@pytest.mark.spec("C-17", "M-10")
def test_a_reply_takes_eight_transactions_at_most_five_of_which_write(memory, monkeypatch):
    graph = assistant(memory)
    memory.reply(graph, ERIN, "/remember I like chicken soup")
    memory.instructions.add(ERIN, "Answer briefly")
    memory.reply(graph, ERIN, "what soup do I like?")
    memory.index_past_sessions()
    counted = Counter()

    def counting(name):
        method = getattr(memory.database, name)

        @contextlib.contextmanager
        def counts(**how):
            # What happens by itself, such as a slow turn's renewal, is no part of a reply.
            counted[name] += not threading.current_thread().name.startswith("langmem-")
            with method(**how) as connection:
                yield connection

        return counts

    monkeypatch.setattr(checkpoint_put_and_get, "_COMPANY_SECONDS", 5.0)  # however busy the machine is
    for name in ("read", "write"):
        monkeypatch.setattr(memory.database, name, counting(name))
    takes = []
    for day in range(5):
        counted.clear()
        memory.reply(graph, ERIN, f"and which soup for dinner on day {day}?")
        takes.append((counted["write"], counted.total()))

    # The turn is taken and given back, and its input, the agent's step and what is left of it are written. What
    # LangGraph's threads bring too late for the transaction it belongs to takes another.
    assert any(writes <= 5 and both <= 8 for writes, both in takes), takes


@pytest.mark.spec("C-5", "C-17")
@for_each("name", ["middleware", "nodes"])
def test_what_a_graph_returned_in_a_turn_is_seen_by_all_before_the_turn_ends(memory, database_url, offline_model, name):
    graph = assistant(memory) if name == "nodes" else agent_with(memory)
    with memory.turn(ERIN) as config, PhoneMemory(database_url, embeddings=offline_model) as another:
        graph.invoke({"messages": [("user", "hello")]}, config)
        of_another = assistant(another) if name == "nodes" else agent_with(another)
        elsewhere = of_another.get_state({"configurable": {"thread_id": ERIN}})
        steps = [each.metadata["step"] for each in graph.get_state_history(config)]
        within = graph.get_state(config)

    assert (within.next, [each.text for each in within.values["messages"]]) == ((), ["hello", "You said hello"])
    assert steps == [3, 2, 1, 0, -1]
    assert elsewhere == within


@pytest.mark.spec("C-5", "C-17")
@for_each("message_id", [None, "m1"])
def test_all_steps_of_a_reply_are_on_disk_before_it_is_sent(memory, database_url, offline_model, message_id):
    seen = []

    def send(_):
        with PhoneMemory(database_url, embeddings=offline_model) as another:
            seen.append(assistant(another).get_state({"configurable": {"thread_id": ERIN}}))

    memory.reply(assistant(memory), ERIN, "hello", message_id=message_id, send=send)

    assert [(each.next, each.values["messages"][-1].text) for each in seen] == [((), "You said hello")]


@pytest.mark.spec("C-5", "C-17")
def test_steps_are_stored_in_their_order_however_slowly_a_thread_stores_what_waited(memory, monkeypatch):
    beside_is_done, taken, overtaken = threading.Event(), threading.Event(), threading.Event()
    attempt = memory.saver._runs._attempt

    def slowly(parts, **options):
        if beside_is_done.is_set() and not taken.is_set():
            taken.set()
            overtaken.wait(0.2)  # in vain, if the next step waits for this one
            return attempt(parts, **options)
        done = attempt(parts, **options)
        if taken.is_set():
            overtaken.set()
        return done

    def agent(_state):
        assert taken.wait(60)
        return {"messages": AIMessage("It is ordered.")}

    monkeypatch.setattr(memory.saver._runs, "_attempt", slowly)
    graph = StateGraph(MemoryState).add_node("recall", memory.recall_node()).add_node("write", memory.write_node())
    graph.add_node("agent", agent).add_node("beside", lambda _: beside_is_done.set())
    graph.add_edge(START, "recall").add_edge("recall", "agent").add_edge("recall", "beside")
    compiled = graph.add_edge(["agent", "beside"], "write").compile(checkpointer=memory.saver)

    assert memory.reply(compiled, ERIN, "order soup", message_id="m1") == "It is ordered."
    history = [*compiled.get_state_history({"configurable": {"thread_id": ERIN}})]
    assert [each.metadata["step"] for each in history] == [3, 2, 1, 0, -1]
    assert [each.parent_config for each in history[:-1]] == [each.config for each in history[1:]]


@pytest.mark.spec("C-23")
def test_an_answer_is_not_kept_if_what_is_written_along_with_it_fails(memory):
    claims = MessageClaims(memory.database, memory.saver.sessions, lambda: memory.saver.serde)

    def fail(*_):
        raise ValueError

    with memory.turn(ERIN) as config:
        memory.saver.write_along(config, fail)
        with pytest.raises(ValueError):
            memory.saver.write_now(config, lambda to: claims.answered(to, ERIN, ["m1", "m2"], "It is ordered."))

    assert claims.answer_to(ERIN, "m2") is None


@pytest.mark.spec("C-23")
def test_an_overtaken_run_writes_nothing_through_the_store_in_asynchronous_code(memory):
    place = ("memories", ERIN)
    overtake = overtaken(memory, assistant(memory))

    async def agent(state):
        text = state["messages"][-1].text
        await asyncio.to_thread(overtake, text)
        if text == "slow":
            with pytest.raises(TurnLost):
                await memory.store.aput(place, "k", {"content": "Leo likes peanuts"})
        return {"messages": AIMessage("done")}

    assert asyncio.run(memory.areply(chat_graph(memory, agent), ERIN, "slow")) == ENGLISH.turn_lost
    assert memory.service.list_memories(ERIN) == []
