"""What holds for every conversation and every utterance; each law also sees that something was meant at all."""

import copy
import os
import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langmem_plugin.references import clear_cache, describe, resolve
from langmem_plugin.references.meant.resolver import shows_something
from tests.cases import for_each

from .scenes import SCENES, used

WORDS = [
    "save",
    "number",
    "2",
    "the",
    "second",
    "last",
    "one",
    "all",
    "but",
    "first",
    "it",
    "that",
    "those",
    "cheapest",
    "curry",
    "not",
    "3",
    ",",
    "and",
    "for",
]
PICKS = ["number 1", "the first one", "save the last one", "all but the first", "1 and 2", "all of them", "el primero"]
utterances = (
    st.sampled_from(PICKS)
    | st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
    | st.text(max_size=40)
)
scenes = st.sampled_from(sorted(SCENES))
items = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(1, 99), "name": st.text("abcdefgh ", min_size=1, max_size=12), "price": st.integers(1, 50)}
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.spec("R-4")
@given(utterances)
def test_nothing_is_meant_where_nothing_was_said(utterance: str) -> None:
    found = resolve(utterance, [])
    assert not found.references
    assert bool(found.question) == bool(found.unresolved)
    assert resolve("number 2", SCENES["recipes"]).references  # and something where it was


@pytest.mark.spec("R-1", "R-4")
def test_messages_are_untouched_and_answers_repeat() -> None:
    meant = 0

    @given(utterances, scenes)
    def law(utterance: str, scene: str) -> None:
        nonlocal meant
        messages = SCENES[scene]
        before = copy.deepcopy(messages)
        first = resolve(utterance, messages)
        clear_cache()
        assert resolve(utterance, messages) == first
        assert messages == before
        meant += len(first.references)

    law()
    assert meant


@pytest.mark.spec("R-1")
def test_items_are_those_of_the_result_whole_and_equal() -> None:
    meant = 0

    @given(utterances, items)
    def law(utterance: str, result: list[dict[str, object]]) -> None:
        nonlocal meant
        messages = [HumanMessage("show me"), *used("find_things", {"results": result})]
        found = resolve(utterance, messages).items
        assert all(item in result for item in found)
        meant += len(found)

    law()
    assert meant


@pytest.mark.spec("R-1")
@given(items.filter(lambda found: len(found) > 1), st.data())
def test_a_number_is_the_one_printed_beside_the_item(result: list[dict[str, object]], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(result))))
    named = [
        {**item, "name": f"thing {place} {'xyz'[place % 3] * (place + 3)}", "id": 100 + place}
        for place, item in enumerate(result)
    ]
    reply = "\n".join(f"{number}. {named[place]['name']}" for number, place in enumerate(order, 1))
    messages = [HumanMessage("show me"), *used("find_things", named), AIMessage(reply)]
    number = data.draw(st.integers(1, len(order)))
    assert resolve(f"number {number}", messages).items == [named[order[number - 1]]]
    assert not resolve(f"number {len(order) + 1}", messages).references


@pytest.mark.spec("R-1")
def test_an_item_left_out_of_the_reply_is_not_counted() -> None:
    assert resolve("number 4", SCENES["recipes"]).references
    assert not resolve("number 5", SCENES["recipes"]).references
    assert not resolve("make the risotto", SCENES["recipes"]).references


@pytest.mark.spec("R-4")
@given(utterances, scenes)
@example("number 2", "recipes")
@example("delete it", "recipes")
@example("number 9", "recipes")
def test_every_reference_explains_itself(utterance: str, scene: str) -> None:
    found = resolve(utterance, SCENES[scene])
    for reference in found.references:
        assert reference.items
        assert len(reference.items) == len(reference.numbers)
        assert reference.words in utterance
        assert reference.reason
    assert not (found.candidates and found.references)
    assert bool(describe(found)) == bool(found.references or found.previous_call)


@pytest.mark.spec("R-4")
def test_the_examples_of_that_law_reach_a_reference_and_both_questions() -> None:
    assert resolve("number 2", SCENES["recipes"]).references
    assert resolve("delete it", SCENES["recipes"]).candidates
    assert resolve("number 9", SCENES["recipes"]).unresolved


@pytest.mark.spec("R-1")
@for_each("utterance", ["number 1", "the last one", "that one", "all but the first"])
def test_reading_turn_by_turn_is_reading_at_once(utterance: str) -> None:
    meant = 0
    for messages in SCENES.values():
        clear_cache()
        for count in range(len(messages)):
            resolve(utterance, messages[:count])
        stepwise = resolve(utterance, messages)
        clear_cache()
        assert stepwise == resolve(utterance, messages)
        meant += len(stepwise.references)
    assert meant


@pytest.mark.spec("R-1")
def test_chatter_without_items_changes_nothing() -> None:
    chatter = [HumanMessage("nice weather"), AIMessage("It is.")]
    plain = resolve("number 2", SCENES["recipes"]).items
    assert plain
    assert resolve("number 2", [*chatter, *SCENES["recipes"]]).items == plain
    assert resolve("number 2", [*SCENES["recipes"], *chatter]).items == plain


@pytest.mark.spec("R-5")
def test_a_fresh_conversation_knows_nothing_of_an_earlier_one() -> None:
    assert resolve("save number 2", SCENES["recipes"]).items
    assert not resolve("save number 2", [HumanMessage("hi"), AIMessage("Hello! What can I do?")]).references


@pytest.mark.spec("R-4", "C-13")
@for_each(
    "content",
    [
        "",
        "null",
        "{",
        "[",
        "{}",
        "[]",
        "[null, 1]",
        '{"a": {"b": {"c": {"d": {"e": {"f": {"g": [1]}}}}}}}',
        "||\n|--|",
        "1.",
        "plain words",
        "\x00",
        '{"items": [[1, 2], [3]]}',
        '[{"id": null}]',
    ],
)
def test_odd_results_never_raise_and_never_hide_the_next(content: str) -> None:
    messages = [
        HumanMessage("go"),
        AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "1"}]),
        ToolMessage(content, tool_call_id="1"),
        AIMessage("ok"),
    ]
    for utterance in (
        "number 1",
        "the last one",
        "it",
        "all but the first",
        "the cheapest",
        "",
        "   ",
        "?!",
        "🙂",
        "2️⃣",
    ):
        resolve(utterance, messages)
    assert resolve("number 2", [*messages, *SCENES["recipes"]]).references


@pytest.mark.slow
@pytest.mark.spec("R-4")
def test_what_a_reply_shows_does_not_depend_on_how_python_hashes_its_words():
    """Of the two longest words of the third name the reply says one."""
    code = """
from langchain_core.messages import AIMessage, HumanMessage
from benchmarks.reference_lines import used
from langmem_plugin.references.meant.conversation_ledger import ledger_of
names = ["weekly dictation", "times tables", "photo frame paste"]
reply = AIMessage("Three things: the weekly dictation, the times tables and to bring a photo on Sunday.")
ledger = ledger_of([HumanMessage("?"), *used("tasks", {}, [{"id": each, "title": each} for each in names], 1), reply])
print([[entry.title for entry in listed.entries] for listed in ledger.shown_lists])
"""
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(said) == 1


@pytest.mark.spec("R-1")
@given(utterance=utterances, replies=st.lists(st.text("ab1 2.)-*\n①1️⃣", max_size=30), min_size=1, max_size=3))
@example("number 1", ["1. tea\n2. milk"])
@example("the first one", ["hello"])
def test_the_quick_look_never_hides_a_reference(utterance: str, replies: list[str]) -> None:
    messages = [part for reply in replies for part in (HumanMessage("what is there?"), AIMessage(reply))]
    assert shows_something(messages) or describe(resolve(utterance, messages)) == ""
    assert shows_something([*messages, *used("find", [{"id": "r-1"}])])
