"""In a group a graph's question is answered by who was asked."""

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from langmem_plugin import MemoryState
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from tests.cases import for_each

pytestmark = [pytest.mark.both_engines, pytest.mark.spec("C-21")]

GROUP, ERIN, JASON = "120363000000000001@g.us", "+972501234567", "+972501234568"
OF_ANOTHER = ENGLISH.asked_another.format(question="Pay 900?")


@pytest.fixture
def says(memory):
    def graph_asking(value):
        def pay(_):
            return {"messages": AIMessage(f"paid: {interrupt(value)}")}

        graph = StateGraph(MemoryState).add_node("pay", pay).add_edge(START, "pay").compile(checkpointer=memory.saver)
        return lambda sender, text, **more: memory.reply(graph, GROUP, text, sender=sender, **more)

    return graph_asking


def test_who_was_asked_answers(says):
    group = says("Pay 900?")
    assert group(ERIN, "pay it") == "Pay 900?"

    assert group(JASON, "yes") == OF_ANOTHER
    assert group(JASON, "what does it cost?") == OF_ANOTHER
    assert group(None, "yes") == OF_ANOTHER
    assert group(ERIN, "no") == "paid: no"


@for_each("question", [{"question": "Pay 900?"}, "Pay 900? (yes/no)"])
def test_whatever_is_asked(says, question):
    group = says(question)
    group(ERIN, "pay it")

    assert "Pay 900?" in group(JASON, "yes")
    assert group(ERIN, "yes") == "paid: yes"


def test_who_has_two_identifiers_is_one_who_was_asked(says, memory):
    memory.people.link(ERIN, "77@lid")
    group = says("Pay 900?")
    group(ERIN, "pay it")

    assert group("77@lid", "yes") == "paid: yes"


def test_a_group_whose_channel_does_not_say_who_writes_is_one_person(says):
    group = says("Pay 900?")
    group(None, "pay it")

    assert group(None, "yes") == "paid: yes"
