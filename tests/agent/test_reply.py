"""A text comes in, a text goes out: turns, commands, failures, questions, automated messages."""

import logging

import httpx
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from langmem_plugin import InvalidInput, ModelUnavailable, PhoneMemory, SessionExpired
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from tests.cases import for_each
from tests.log_events import events

pytestmark = pytest.mark.both_engines

ERIN, JASON = "+972501234567", "+972501234568"


def _texts(graph, config):
    return [message.text for message in graph.get_state(config).values.get("messages", [])]


@pytest.mark.spec("C-1", "C-2", "C-10")
def test_a_conversation_goes_on_and_is_nobody_elses(memory, graph_of, scripted):
    graph = graph_of(scripted())

    assert memory.reply(graph, ERIN, "hello") == "heard 2"
    assert memory.reply(graph, "972501234567@c.us", "again") == "heard 4"
    assert memory.reply(graph, JASON, "hello") == "heard 2"
    assert _texts(graph, {"configurable": {"thread_id": ERIN}}) == ["hello", "heard 2", "again", "heard 4"]


@pytest.mark.spec("C-3", "R-5")
def test_half_an_hour_of_silence_starts_afresh(memory, graph_of, scripted, clock):
    graph = graph_of(scripted())
    memory.reply(graph, ERIN, "hello")
    clock.forward(minutes=29, seconds=59)
    assert memory.reply(graph, ERIN, "still there?") == "heard 4"
    clock.forward(minutes=30)

    assert memory.reply(graph, ERIN, "hello") == "heard 2"


@pytest.mark.spec("C-13")
@for_each("text", ["", "   ", "\n", "\u200b", "\u200e \ufeff"])
def test_an_empty_message_is_answered_without_a_run(memory, graph_of, scripted, text):
    model = scripted()

    assert memory.reply(graph_of(model), ERIN, text) == ENGLISH.empty_message
    assert model.seen == []


@pytest.mark.spec("C-13")
def test_a_phone_of_unknown_form_is_an_opaque_key_with_a_warning(memory, graph_of, scripted, caplog):
    graph = graph_of(scripted())
    with caplog.at_level(logging.WARNING):
        assert memory.reply(graph, "erin@example", "hello") == "heard 2"

    assert "phone.opaque" in events(caplog)
    assert "erin@example" not in caplog.text
    assert memory.reply(graph, "erin@example", "again") == "heard 4"


def test_no_phone_at_all_is_refused(memory, graph_of, scripted):
    with pytest.raises(InvalidInput, match="names nobody"):
        memory.reply(graph_of(scripted()), " ", "hello")


def no_connection():
    import openai

    return openai.APIConnectionError(request=httpx.Request("POST", "http://127.0.0.1:9/v1"))


@pytest.mark.slow
@for_each("failure", [lambda: ModelUnavailable("no model"), no_connection])
def test_when_the_model_does_not_answer_the_person_is_told_and_nothing_is_lost(
    memory, graph_of, scripted, failure, caplog
):
    def broken(_messages):
        raise failure()

    assert memory.reply(graph_of(scripted(broken)), ERIN, "hello") == ENGLISH.no_model

    model = scripted()
    assert memory.reply(graph_of(model), ERIN, "are you back?") == "heard 3"
    assert [message.text for message in model.seen[-1][1:]] == ["hello", "are you back?"]
    assert ERIN not in caplog.text


@pytest.mark.spec("C-19")
def test_a_tool_that_raises_is_told_to_the_model_and_the_conversation_goes_on(memory, graph_of, scripted):
    def fail(what: str) -> str:
        """Fail."""
        raise RuntimeError(f"no {what} today")

    def script(messages):
        if messages[-1].type == "tool":
            return AIMessage(f"sorry: {messages[-1].text}")
        return AIMessage("", tool_calls=[{"name": "fail", "args": {"what": "luck"}, "id": "1"}])

    said = memory.reply(graph_of(scripted(script), [fail]), ERIN, "go")

    assert "no luck today" in said
    assert memory.reply(graph_of(scripted()), ERIN, "and now?") == "heard 6"


@pytest.mark.spec("C-19")
def test_a_question_a_graph_stops_for_is_asked_and_the_next_message_answers_it(memory):
    def ask(_state):
        return {"messages": AIMessage(f"you said {interrupt('Really order it?')}")}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=memory.saver)

    assert memory.reply(graph, ERIN, "order it") == "Really order it?"
    assert memory.reply(graph, ERIN, "yes") == "you said yes"
    assert _texts(graph, {"configurable": {"thread_id": ERIN}}) == ["order it", "you said yes"]


@pytest.mark.spec("C-6")
def test_an_automated_message_sees_no_history_and_leaves_no_trace(memory, graph_of, scripted):
    model = scripted()
    graph = graph_of(model)
    memory.reply(graph, ERIN, "hello")
    before = list(graph.get_state_history({"configurable": {"thread_id": ERIN}}))

    assert memory.reply(graph, ERIN, "Send the morning briefing.", automated=True) == "heard 2"

    assert list(graph.get_state_history({"configurable": {"thread_id": ERIN}})) == before
    assert memory.reply(graph, ERIN, "again") == "heard 4"


@pytest.mark.spec("C-6")
def test_a_message_marked_automated_is_not_stored(memory, graph_of, scripted):
    graph = graph_of(scripted())
    memory.reply(graph, ERIN, "hello")
    nudge = AIMessage("Do not forget the milk!", additional_kwargs={"automated": True})

    graph.update_state({"configurable": {"thread_id": ERIN}}, {"messages": [nudge]}, as_node="agent")

    assert memory.reply(graph, ERIN, "again") == "heard 4"
    assert "milk" not in str(_texts(graph, {"configurable": {"thread_id": ERIN}}))


@pytest.mark.spec("C-19")
def test_a_bare_resume_of_a_conversation_that_is_over_raises(memory, graph_of, scripted):
    from langgraph.types import Command

    with memory.turn(ERIN) as config, pytest.raises(SessionExpired, match="send a new message"):
        graph_of(scripted()).invoke(Command(resume="yes"), config)


@pytest.mark.spec("C-5")
def test_a_restart_in_the_middle_loses_nothing(database_url, clock, offline_model, scripted):
    def graph(memory):
        return (
            StateGraph(MessagesState)
            .add_node("agent", lambda state: {"messages": scripted().invoke(state["messages"])})
            .add_edge(START, "agent")
            .compile(checkpointer=memory.saver)
        )

    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        memory.reply(graph(memory), ERIN, "hello")
        memory.reply(graph(memory), ERIN, "/remember I like tea")
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        assert memory.reply(graph(memory), ERIN, "again") == "heard 3"
        assert "I like tea" in memory.reply(graph(memory), ERIN, "/memories")


@pytest.mark.spec("C-9")
def test_a_turn_works_in_asynchronous_code_as_well(memory, graph_of, scripted):
    import asyncio

    async def talk():
        graph = graph_of(scripted())
        async with memory.turn(ERIN) as config:
            await graph.ainvoke({"messages": [HumanMessage("hello")]}, config)
            return await graph.aget_state(config)

    assert [message.text for message in asyncio.run(talk()).values["messages"]] == ["hello", "heard 2"]


@pytest.mark.spec("C-13")
def test_what_is_no_text_is_refused_by_what_it_is(memory, graph_of, scripted):
    graph = graph_of(scripted())
    with pytest.raises(TypeError, match="a reply is to a text, not to None"):
        memory.reply(graph, ERIN, None)
    with pytest.raises(TypeError, match="a phone or a chat id is a text or a number, not None"):
        memory.reply(graph, None, "hello")
    for nothing in ("", "  \n"):
        with pytest.raises(InvalidInput, match="nothing to say"):
            memory.say(ERIN, nothing)
    assert memory.sessions.get_session(ERIN).message_ids == ()
