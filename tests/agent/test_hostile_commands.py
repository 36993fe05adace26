"""Commands and tools that are given what nobody can remember, find or forget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode

from langmem_plugin import MemoryState, PhoneMemory
from langmem_plugin.memory.memory_types import plain, storable
from langmem_plugin.settings import Settings
from tests.cases import for_each
from tests.memory.test_bad_text import Letters

ERIN = "+972501234567"
texts = st.text(st.characters(exclude_categories=()), max_size=20)


@pytest.fixture
def cheap(database_url, clock):
    with PhoneMemory(
        database_url, settings=Settings(search_past_sessions=False), embeddings=Letters(), now=clock
    ) as made:
        yield made


@pytest.mark.slow
@pytest.mark.spec("U-2", "M-5")
@for_each("wanted", ["[", "]", "[]", ".", "…", "  -  ", "te", "ea", "ack", "i", "%", "_", "tea!coffee", "\x00"])
def test_forgetting_by_no_word_or_part_of_a_word_forgets_nothing(cheap, wanted):
    cheap.command(ERIN, "/remember My black tea.")

    answer = cheap.command(ERIN, f"/forget {wanted}")

    assert answer.startswith(("I remember nothing like", "What shall I forget?", "Shall I forget this?"))
    assert "black tea" in cheap.command(ERIN, "/memories")


@pytest.mark.spec("U-2")
@for_each("wanted", ["TEA", "tea!", "black, my", "“black tea”"])
def test_forgetting_by_whole_words_in_any_case_asks_about_the_one_that_has_them_all(cheap, wanted):
    cheap.command(ERIN, "/remember My black tea.")
    cheap.command(ERIN, "/remember My green teacup")

    assert cheap.command(ERIN, f"/forget {wanted}").startswith("Shall I forget this? My black tea.\n")
    assert cheap.command(ERIN, "👍🏽") == "🗑️ Forgotten: My black tea."
    assert "teacup" in cheap.command(ERIN, "/memories")


@pytest.mark.spec("U-2")
@for_each("wanted", ["my black tea", "My  black\ttea.", "“my BLACK tea”", "\u200fMy black tea.\u200e"])
def test_the_whole_text_in_any_case_spacing_and_marks_is_forgotten_at_once(cheap, wanted):
    cheap.command(ERIN, "/remember My black tea.")

    assert cheap.command(ERIN, f"/forget {wanted}") == "🗑️ Forgotten: My black tea."


@pytest.mark.spec("U-2")
@settings(max_examples=25)
@given(wanted=texts)
def test_only_the_whole_text_forgets_it_unasked(offline_commands, wanted):
    service = offline_commands.service
    kept = service.remember(ERIN, "My black tea.")

    offline_commands.command(ERIN, f"/forget {wanted}")

    if not service.get(ERIN, [kept.id]):
        assert "my black tea" in plain(wanted)


@pytest.mark.spec("U-2")
@settings(max_examples=30)
@given(
    text=texts,
    head=st.sampled_from(["", "/", "/remember", "/forget ", "/timezone ", "/instructions ", "remember that "]),
)
def test_no_text_breaks_a_command_or_is_answered_with_what_cannot_be_sent(offline_commands, text, head):
    answer = offline_commands.command(ERIN, head + text)

    if answer is not None:
        assert storable(answer) == answer
        assert offline_commands.commands.knows(head + text)


@pytest.mark.spec("U-2")
@for_each(
    "text", ["x" * 64_000, "(" * 5_000, "remember that " * 4_000, "/" * 9_000, "/" + "r" * 64_000, "\u200f" * 9_000]
)
def test_endless_texts_are_told_apart_at_once(offline_commands, text):
    assert offline_commands.command(ERIN, text) is None


@pytest.fixture(scope="module")
def offline_commands():
    with PhoneMemory("sqlite://", settings=Settings(search_past_sessions=False), embeddings=Letters()) as made:
        yield made


@pytest.mark.spec("W-1", "U-2")
def test_what_no_database_stores_is_left_out_of_what_a_person_tells(cheap):
    assert cheap.command(ERIN, "/remember I like\x00 tea \ud83d") == "✅ Remembered: I like tea ?"
    assert "I like tea ?" in cheap.command(ERIN, "/search tea\x00\ud83d")
    assert cheap.command(ERIN, "/remember \x00").startswith("What shall I remember?")
    assert cheap.command(ERIN, "/forget i like tea\x00 ?") == "🗑️ Forgotten: I like tea ?"
    assert cheap.command(ERIN, "/timezone \ud83d\x00").startswith("I know no time zone")
    assert cheap.command(ERIN, "/instructions be\x00 brief \ud83d") == "✅ From now on: be brief ?"
    assert cheap.command(ERIN, "remember that I am\x00 vegan") == "✅ Remembered: I am vegan"


CALLS = {
    "nothing to remember": ("remember_fact", {"text": ""}, "a memory needs a text"),
    "only spaces": ("remember_fact", {"text": " \n"}, "a memory needs a text"),
    "NUL": ("remember_fact", {"text": "I like\x00 tea"}, "Remembered as"),
    "half an emoji": ("remember_fact", {"text": "I like tea \ud83d"}, "Remembered as"),
    "no id": ("forget_fact", {"memory_id": ""}, "no such memory"),
    "an impossible id": ("forget_fact", {"memory_id": "a\x00\ud83d"}, "This cannot be done"),
    "an endless id": ("forget_fact", {"memory_id": "a" * 9_000}, "This cannot be done"),
    "no question": ("recall_facts", {"query": ""}, "Nothing is found about that."),
    "an impossible question": ("recall_facts", {"query": "\ud83d\x00"}, "Nothing is found about that."),
    "nothing to search": ("search_conversations", {"query": "\x00"}, "Nothing is found about that."),
}


@pytest.mark.slow
@pytest.mark.spec("U-1", "W-1")
@for_each("call", CALLS)
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


STEERING = "\x1b\x07\x9b\u202a\u202d\u202e\u2066\u2067\u2069"


@pytest.mark.spec("U-2", "P-7")
@for_each(
    "said",
    ["/memories", "/search Dan", "/why owes", "/forget owes", "/instructions", "/export", "/remember Dan {}owes"],
)
def test_no_reply_to_a_command_steers_a_screen_or_turns_the_words_around(cheap, said):
    cheap.service.remember(ERIN, f"Dan {STEERING}owes me 5")
    cheap.instructions.take(ERIN, f"be {STEERING}brief")

    answer = cheap.command(ERIN, said.format(STEERING))

    assert "owes" in answer or "brief" in answer
    assert not set(answer) & set(STEERING)
