"""Chat commands in a run of a graph outside of `reply`, as in LangGraph Studio: answered by no model, and harmless."""

import asyncio
import uuid

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph

from langmem_plugin import InvalidInput, MemoryState
from tests.cases import for_each

ERIN, JASON = "+972501234567", "+972501234568"

pytestmark = pytest.mark.spec("U-2", "U-6")


@pytest.fixture
def model(scripted):
    return scripted(lambda _: AIMessage("from the model"))


@pytest.fixture(params=["nodes", "agent"])
def graph(request, memory, model):
    if request.param == "agent":
        return create_agent(model, [], middleware=[memory.middleware()], checkpointer=memory.saver)
    return (
        StateGraph(MemoryState)
        .add_node("commands", memory.context.commands_node(then="recall"), destinations=("recall", END))
        .add_node("recall", memory.recall_node())
        .add_node("agent", lambda state: {"messages": model.invoke(memory.prompt(state, "Help."))})
        .add_node("write", memory.write_node())
        .add_edge(START, "commands")
        .add_edge("recall", "agent")
        .add_edge("agent", "write")
        .compile(checkpointer=memory.saver)
    )


@pytest.fixture(params=["invoke", "ainvoke"])
def text(request, graph):
    def send(said, thread=ERIN, **more):
        config = {"configurable": {"thread_id": thread} | more}
        given = getattr(graph, request.param)({"messages": said}, config)
        return (asyncio.run(given) if request.param == "ainvoke" else given)["messages"][-1].text

    return send


def test_what_is_remembered_searched_and_forgotten_never_reaches_the_model(memory, text, model):
    assert text("/remember I only drink tea") == "✅ Remembered: I only drink tea"
    assert "I only drink tea" in text("/memories")
    assert "I only drink tea" in text("/search tea")
    assert text("/forget tea").startswith("Shall I forget this?")
    assert "Forgotten" in text("yes")
    assert memory.service.count(ERIN) == 0
    assert "remember again" in text("/undo")
    assert memory.service.count(ERIN) == 1
    assert model.seen == []


def test_anything_else_belongs_to_the_agent_and_closes_the_question(memory, text):
    text("/remember I only drink tea")
    text("/forget tea")
    assert text("what is the weather?") == "from the model"
    assert text("yes") == "from the model"
    assert memory.service.count(ERIN) == 1


@pytest.mark.slow
@for_each("said", ["/reset", "/link", "/link 123456", "/privacy erase", "/privacy restore", "/מחק"])
def test_no_session_ends_and_nobody_is_joined_or_erased_inside_of_a_run(memory, text, said):
    text("good morning")
    session = memory.sessions.get_session(ERIN).session_id
    assert text(said) == "from the model"
    assert text("yes") == "from the model"
    assert memory.sessions.get_session(ERIN).session_id == session


def test_what_reply_asked_about_erasing_is_not_answered_inside_of_a_run(memory, text):
    text("/remember I only drink tea")
    memory.command(ERIN, "/privacy erase")
    assert text("yes") == "from the model"
    assert memory.service.count(ERIN) == 1


def test_help_lists_what_can_be_done_there(memory, text):
    listed = text("/help")
    assert "/remember" in listed
    assert "/reset" not in listed
    assert "/link" not in listed


def test_privacy_and_instructions_are_set_in_each_language(memory, text):
    text("/privacy on")
    assert memory.consent.of(ERIN).extraction.allowed
    assert "té" in text("/recordar solo bebo té")
    assert "תה" in text("/זכור אני שותה תה")
    assert memory.service.count(ERIN) == 2


def test_a_command_is_its_persons_alone_and_what_no_person_wrote_is_none(memory, text):
    text("/remember I only drink tea")
    assert "tea" not in text("/memories", thread=JASON)
    assert text("/remember Jason owes me money", thread=JASON, langmem_automated=True) == "from the model"
    assert memory.service.count(JASON) == 0


def test_a_graph_with_commands_is_well_wired(memory, graph):
    assert memory.check(graph) == []


def test_a_run_that_names_nobody_in_a_conversation_of_somebody_is_told_so(memory, text):
    thread = str(uuid.uuid4())
    assert text("good morning", thread=thread) == "from the model"  # of nobody so far
    text("good morning", thread=thread, langmem_phone=ERIN)
    with pytest.raises(InvalidInput, match=r"served …567, and this one names nobody") as refused:
        text("what do you know about me?", thread=thread)
    assert "50123" not in str(refused.value)
    assert text("still me", thread=thread, langmem_phone=ERIN) == "from the model"
    text("now it is me", thread=thread, langmem_phone=JASON)
    with pytest.raises(InvalidInput, match="served several"):
        text("and who is this?", thread=thread)
