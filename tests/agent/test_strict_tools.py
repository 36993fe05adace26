"""A call that changes something by an id that nobody showed is answered with what was shown, and not done."""

import asyncio
import json

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from langmem_plugin import InvalidInput
from langmem_plugin.agent.tool_node_and_id_check import changes
from tests.cases import for_each
from tests.stated import conversation

pytestmark = pytest.mark.spec("R-7")

ERIN = "+972501234567"
LAMPS = [{"lamp_id": f"l-{number}", "name": name, "watts": 40} for number, name in enumerate(("Arc", "Dome"), 1)]
bought: list[str] = []


@tool
def find_lamps() -> list[dict]:
    """Find lamps."""
    return LAMPS


@tool
def buy_lamp(lamp_id: str) -> str:
    """Buy a lamp."""
    bought.append(lamp_id)
    return "bought"


@tool
def read_lamp(lamp_id: str) -> str:
    """Tell about a lamp."""
    return f"{lamp_id} shines"


def answer(messages):
    """Does what it is told: "find_lamps", or "buy_lamp dome"; then says what came back."""
    last = conversation(messages)[-1]
    if last.type == "tool":
        return AIMessage(f"{last.status}: {last.text}")
    name, _, lamp = last.text.split("\n")[0].partition(" ")
    args = {"lamp_id": {"dome": "l-2"}.get(lamp, "l-9")} if lamp else {}
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": last.id or "1"}])


@pytest.fixture(autouse=True)
def nothing_bought():
    bought.clear()


@pytest.fixture
def graph(memory, scripted):
    tools = [find_lamps, buy_lamp, read_lamp]
    return create_agent(scripted(answer), tools, middleware=[memory.middleware()], checkpointer=memory.saver)


@for_each("reply", ["reply", "areply"])
def test_what_was_shown_can_be_bought_and_what_was_not_is_refused_with_what_was(memory, graph, reply):
    def text(said):
        made = getattr(memory, reply)(graph, ERIN, said)
        return asyncio.run(made) if reply == "areply" else made

    text("find_lamps")
    assert text("buy_lamp moon").startswith("error: unknown lamp_id l-9; shown: l-1 Arc, l-2 Dome")
    assert bought == []
    assert text("buy_lamp dome") == "success: bought"
    assert bought == ["l-2"]


@for_each(
    ("items", "args", "told"),
    [
        ([{"ferry_id": "F-1", "vessel": "Aris"}, {"ferry_id": "F-2", "vessel": "Sea Jet"}], {"id": "2"}, "F-1 Aris, F-2 Sea Jet"),
        ([{"listing": "L-7", "title": "Pedal"}, {"listing": "L-8", "title": "Amp"}], {"listing": "L-9"}, "L-7 Pedal, L-8 Amp"),
        ([{"listing": "L-7", "title": "Pedal"}], {"listing_ids": ["L-7", "L-9"]}, "L-7 Pedal"),
        ([{"ref": "FL-3", "address": "12 Lock Row"}], {"ref": "FL-1"}, "FL-3 12 Lock Row"),
        ([{"day": "2026-11-03", "rain": "2 mm"}], {"day": "2026-11-04"}, None),
        ([{"seat": "12A", "name": "Ann"}], {"seat": "14C"}, None),
    ],
)  # fmt: skip
def test_whatever_the_id_is_called_what_was_shown_is_named(memory, items, args, told):
    found = ToolMessage(json.dumps(items), tool_call_id="1", name="find_lamps")
    error = refused(memory, args, [*SHOWN[:2], found])
    assert (error is None) if told is None else f"shown: {told}. Nothing was done" in error.content


def refused(memory, args, messages, name="buy_lamp", tool=buy_lamp, changing=None):
    call = {"name": name, "args": args, "id": "c"}
    return memory.context.strict.refusal(call, tool, {"messages": messages}, changing)


SHOWN = [
    HumanMessage("find"),
    AIMessage("", tool_calls=[{"name": "find_lamps", "args": {}, "id": "1"}]),
    ToolMessage(
        '[{"lamp_id": "l-1", "name": "Arc"}, {"lamp_id": "l-2", "name": "Dome"}]', tool_call_id="1", name="find_lamps"
    ),
    AIMessage("1. Arc\n2. Dome"),
    HumanMessage("buy number 2"),
]


def test_the_error_names_what_was_shown_and_is_no_showing_itself(memory):
    error = refused(memory, {"lamp_id": "l-9"}, SHOWN)
    assert error.status == "error"
    assert error.content.startswith("unknown lamp_id l-9; shown: l-1 Arc, l-2 Dome")
    assert refused(memory, {"lamp_id": "l-9"}, [*SHOWN, error]) is not None
    assert refused(memory, {"lamp_id": "l-2"}, SHOWN) is None
    assert refused(memory, {"lamp_ids": ["l-1", "l-7"]}, SHOWN).content.startswith("unknown lamp_ids l-7")


def test_what_the_person_wrote_is_known_and_numbers_are_ids_only_whole(memory):
    assert refused(memory, {"lamp_id": "QX-77"}, [*SHOWN, HumanMessage("buy qx-77")]) is None
    assert refused(memory, {"lamp_id": "7"}, [*SHOWN, HumanMessage("buy qx-775")]) is not None
    assert refused(memory, {"lamp_id": 40}, SHOWN) is not None


def test_a_number_that_was_shown_long_ago_is_known(memory):
    shown = ToolMessage('[{"lamp_id": 917, "name": "Arc"}]', tool_call_id="1", name="find_lamps")
    small_talk = [each for count in range(60) for each in (HumanMessage(f"hm {count}"), AIMessage("fine"))]
    messages = [*SHOWN[:2], shown, *small_talk]
    assert refused(memory, {"lamp_id": "917"}, messages) is None
    assert refused(memory, {"lamp_id": "918"}, messages) is not None


def test_only_tools_that_change_something_are_checked(memory):
    assert refused(memory, {"lamp_id": "l-9"}, SHOWN, "read_lamp", read_lamp) is None
    assert refused(memory, {"lamp_id": "l-9"}, SHOWN, "read_lamp", read_lamp, ["read_lamp"]) is not None
    assert refused(memory, {"lamp_id": "l-9"}, SHOWN, changing=[]) is None
    assert refused(memory, {"colour": "red"}, SHOWN) is None
    assert not changes("purge_cache", read_lamp.model_copy(update={"metadata": {"readOnlyHint": True}}))
    assert changes("get_rid_of", buy_lamp.model_copy(update={"metadata": {"annotations": {"readOnlyHint": False}}}))


@pytest.mark.spec("R-5")
def test_after_a_silence_nothing_was_shown(memory, graph, clock):
    memory.reply(graph, ERIN, "find_lamps")
    clock.forward(hours=2)
    assert memory.reply(graph, ERIN, "buy_lamp dome").startswith("error: unknown lamp_id l-2; nothing with such an id")
    assert bought == []


def test_a_recalled_id_is_known(memory, monkeypatch):
    strict = memory.context.strict
    monkeypatch.setattr(strict, "_recalled_texts", lambda _recalled, _messages: ["The lamp l-5 is the good one"])
    call = {"name": "buy_lamp", "args": {"lamp_id": "l-5"}, "id": "c"}
    assert strict.refusal(call, buy_lamp, {"messages": SHOWN, "recalled": [("m", 1.0)]}) is None
    assert strict.refusal(call, buy_lamp, {"messages": SHOWN}) is not None


def test_where_no_tool_is_said_to_change_anything_none_is_checked(memory):
    strict = memory.context.strict
    call = {"name": "buy_lamp", "args": {"lamp_id": "l-9"}, "id": "c"}
    assert strict.refusal(call, buy_lamp, {"messages": SHOWN}, ()) is None


def test_a_name_in_place_of_a_list_of_names_is_refused(memory):
    with pytest.raises(InvalidInput, match=r"changing=\['buy_lamp'\]"):
        memory.middleware(changing="buy_lamp")
