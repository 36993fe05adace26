"""Commands and tools that are given what nobody can remember, find or forget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode

from langmem_plugin import MemoryState, PhoneMemory
from langmem_plugin.memory.models import plain
from langmem_plugin.settings import Settings
from tests.memory.test_bad_text import Letters

ERIN = "+972501234567"
texts = st.text(st.characters(exclude_categories=()), max_size=20)


@pytest.fixture
def cheap(database_url, clock):
    with PhoneMemory(
        database_url, settings=Settings(search_past_sessions=False), embeddings=Letters(), now=clock
    ) as made:
        yield made


@pytest.mark.spec("U-2", "M-5")
@pytest.mark.parametrize(
    "wanted", ["[", "]", "[]", ".", "…", "  -  ", "te", "ea", "ack", "i", "%", "_", "tea!coffee", "\x00"]
)
def test_forgetting_by_no_word_or_part_of_a_word_forgets_nothing(cheap, wanted):
    cheap.command(ERIN, "/remember My black tea.")

    answer = cheap.command(ERIN, f"/forget {wanted}")

    assert answer.startswith(("I remember nothing like", "What shall I forget?"))
    assert "black tea" in cheap.command(ERIN, "/memories")


@pytest.mark.spec("U-2")
@pytest.mark.parametrize("wanted", ["TEA", "tea!", "black, my", "“black tea”", "my black tea", "My black tea."])
def test_forgetting_by_whole_words_in_any_case_forgets_the_one_that_has_them_all(cheap, wanted):
    cheap.command(ERIN, "/remember My black tea.")
    cheap.command(ERIN, "/remember My green teacup")

    assert cheap.command(ERIN, f"/forget {wanted}") == "🗑️ Forgotten: My black tea."
    assert "teacup" in cheap.command(ERIN, "/memories")


@pytest.mark.spec("U-2")
@settings(max_examples=40, deadline=None)
@given(wanted=texts)
def test_only_words_that_a_memory_holds_forget_it(offline_commands, wanted):
    service = offline_commands.service
    kept = service.remember(ERIN, "My black tea.")

    offline_commands.command(ERIN, f"/forget {wanted}")

    if not service.get(ERIN, [kept.id]):
        said = plain(wanted)
        assert said in (kept.id, kept.id[:8]) or {"my", "black", "tea"} & set(said.replace(".", " ").split())


@pytest.fixture(scope="module")
def offline_commands():
    with PhoneMemory("sqlite://", settings=Settings(search_past_sessions=False), embeddings=Letters()) as made:
        yield made


@pytest.mark.spec("W-1", "U-2")
def test_what_no_database_stores_is_left_out_of_what_a_person_tells(cheap):
    assert cheap.command(ERIN, "/remember I like\x00 tea \ud83d") == "✅ Remembered: I like tea ?"
    assert "I like tea ?" in cheap.command(ERIN, "/search tea\x00\ud83d")
    assert cheap.command(ERIN, "/remember \x00").startswith("What shall I remember?")
    assert cheap.command(ERIN, "/forget tea\x00") == "🗑️ Forgotten: I like tea ?"


CALLS = {
    "nothing to remember": ("remember_fact", {"text": ""}, "a memory needs a text"),
    "only spaces": ("remember_fact", {"text": " \n"}, "a memory needs a text"),
    "NUL": ("remember_fact", {"text": "I like\x00 tea"}, "Remembered as"),
    "half an emoji": ("remember_fact", {"text": "I like tea \ud83d"}, "Remembered as"),
    "no id": ("forget_fact", {"memory_id": ""}, "no such memory"),
    "an impossible id": ("forget_fact", {"memory_id": "a\x00\ud83d"}, "This cannot be done"),
    "an endless id": ("forget_fact", {"memory_id": "a" * 9_000}, "This cannot be done"),
    "no question": ("recall_facts", {"query": ""}, ""),
    "an impossible question": ("recall_facts", {"query": "\ud83d\x00"}, ""),
    "nothing to search": ("search_conversations", {"query": "\x00"}, ""),
}


@pytest.mark.spec("U-1", "W-1")
@pytest.mark.parametrize("call", CALLS)
def test_a_tool_tells_the_model_what_it_cannot_do_and_the_person_is_answered(cheap, call):
    tool, arguments, told = CALLS[call]

    def agent(state):
        last = state["messages"][-1]
        if last.type == "human":
            return {"messages": AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": "call"}])}
        return {"messages": AIMessage(f"told: {last.text}")}

    graph = (
        StateGraph(MemoryState)
        .add_node("agent", agent)
        .add_node("tools", ToolNode(cheap.tools()))
        .add_edge(START, "agent")
        .add_conditional_edges("agent", lambda state: "tools" if state["messages"][-1].tool_calls else "__end__")
        .add_edge("tools", "agent")
        .compile(checkpointer=cheap.saver)
    )

    assert told in cheap.reply(graph, ERIN, "hello")
    assert cheap.reply(graph, ERIN, "hello again").startswith("told: ")
