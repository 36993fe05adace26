"""Laws of the window: what of a conversation a model is shown, whatever the conversation."""

import logging
from collections import Counter
from copy import deepcopy
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langmem_plugin.conversation.window import paired, window

call_ids = st.sampled_from(["c1", "c2", "c3", "c4"])  # few, so that they are used again: small models count from one
sizes = st.integers(0, 12)


def call(call_id: str) -> dict:
    return {"name": "find", "args": {}, "id": call_id, "type": "tool_call"}


def broken(call_id: str) -> dict:
    return {"name": "find", "args": "{", "id": call_id, "error": None, "type": "invalid_tool_call"}


def calling(size: int, called: list[str], unparsed: bool) -> AIMessage:
    content = "x" * size
    if unparsed:
        return AIMessage(content, invalid_tool_calls=[broken(each) for each in called])
    return AIMessage(content, tool_calls=[call(each) for each in called])


anything = st.one_of(
    sizes.map(lambda size: HumanMessage("h" * size)),
    sizes.map(lambda size: AIMessage("a" * size)),
    st.builds(calling, sizes, st.lists(call_ids, min_size=1, max_size=3, unique=True), st.booleans()),
    st.builds(lambda size, of: ToolMessage("t" * size, tool_call_id=of), sizes, call_ids),
    sizes.map(lambda size: SystemMessage("s" * size)),
)


@st.composite
def whole_turns(draw):
    """A conversation as it should be: every call answered, at once and in any order."""
    said = []
    for number in range(draw(st.integers(1, 6))):
        said.append(HumanMessage("h" * draw(sizes), id=f"h{number}"))
        for step in range(draw(st.integers(0, 2))):
            called = [f"{number}.{step}.{each}" for each in range(draw(st.integers(1, 3)))]
            said.append(AIMessage("x" * draw(sizes), tool_calls=[call(each) for each in called]))
            said += [ToolMessage("t" * draw(sizes), tool_call_id=each) for each in draw(st.permutations(called))]
        if draw(st.booleans()):
            said.append(AIMessage("a" * draw(sizes), id=f"a{number}"))
    return said


conversations = st.lists(anything, max_size=25).map(lambda said: [_with_id(at, each) for at, each in enumerate(said)])


def _with_id(at: int, message: BaseMessage) -> BaseMessage:
    return message.model_copy(update={"id": f"m{at}"})


def length(message: BaseMessage) -> int:
    return len(message.text)


def shown(said, *, turns=20, tokens=1_000):
    return window(said, max_turns=turns, max_tokens=tokens, count_tokens=length)


def called_by(message: BaseMessage) -> list[str]:
    if not isinstance(message, AIMessage):
        return []
    return [each["id"] for each in (*message.tool_calls, *message.invalid_tool_calls)]


def assert_paired(messages: list[BaseMessage]) -> None:
    """Every call is followed at once by its results, in its order, and no result stands elsewhere."""
    rest = list(messages)
    while rest:
        message = rest.pop(0)
        assert not isinstance(message, ToolMessage), f"the result {message.tool_call_id!r} follows no call"
        for call_id in called_by(message):
            assert rest, f"the call {call_id!r} has no result"
            result = rest.pop(0)
            assert isinstance(result, ToolMessage)
            assert result.tool_call_id == call_id


budgets = st.integers(0, 60)
turn_counts = st.integers(1, 5)


@pytest.mark.spec("C-7", "C-19")
@given(said=conversations | whole_turns(), turns=turn_counts, tokens=budgets)
def test_calls_and_results_are_never_separated_in_either_direction(said, turns, tokens):
    assert_paired(shown(said, turns=turns, tokens=tokens))


@pytest.mark.spec("C-7")
@given(said=conversations | whole_turns(), turns=turn_counts, tokens=budgets)
def test_what_was_said_keeps_its_order_and_its_words(said, turns, tokens):
    seen = [each for each in shown(said, turns=turns, tokens=tokens) if not isinstance(each, ToolMessage)]

    told = [each for each in said if not isinstance(each, ToolMessage)]
    places = [told.index(each) for each in seen]
    assert places == sorted(set(places))


@pytest.mark.spec("C-7")
@given(said=conversations | whole_turns(), turns=turn_counts, tokens=budgets)
def test_the_last_two_messages_always_stay(said, turns, tokens):
    seen = shown(said, turns=turns, tokens=tokens)

    last = paired(said)[-2:]
    assert len(seen) >= len(last)
    assert all(each in seen for each in last)


@pytest.mark.spec("C-7")
@given(said=whole_turns(), turns=turn_counts, tokens=budgets)
def test_the_window_is_within_its_budget_unless_only_the_last_turns_least_is_left(said, turns, tokens):
    seen = shown(said, turns=turns, tokens=tokens)

    if sum(map(length, seen)) > tokens:
        # The person's last message and what holds the last two messages: no step of it could go.
        least = _least(paired(said))
        assert [each for each in seen if each not in least] == []


def _least(said: list[BaseMessage]) -> list[BaseMessage]:
    """The newest whole steps that hold the last two messages, and the person's message that began the last turn."""
    steps: list[list[BaseMessage]] = []
    for message in said:
        if steps and isinstance(message, ToolMessage):
            steps[-1].append(message)
        else:
            steps.append([message])
    kept: list[BaseMessage] = []
    while steps and len(kept) < 2:
        kept = steps.pop() + kept
    if not any(isinstance(message, HumanMessage) for message in kept):
        began = [message for step in steps for message in step if isinstance(message, HumanMessage)]
        kept = began[-1:] + kept
    return kept


@pytest.mark.spec("C-7")
@given(said=whole_turns(), turns=turn_counts, tokens=budgets)
def test_older_turns_are_shown_whole_and_are_the_newest(said, turns, tokens):
    seen = shown(said, turns=turns, tokens=tokens)

    begun = [at for at, each in enumerate(said) if isinstance(each, HumanMessage)]
    first_seen = next((at for at in begun if said[at] in seen), None)
    if first_seen not in (None, begun[-1]) and seen[0] == said[first_seen] and len(seen) > 2:
        assert seen == paired(said[first_seen:])
        assert sum(at >= first_seen for at in begun) <= turns


@pytest.mark.spec("C-7")
@given(said=whole_turns())
def test_with_room_for_all_nothing_is_left_out(said):
    begun = sum(isinstance(each, HumanMessage) for each in said)
    assert Counter(each.id for each in shown(said, turns=begun)) == Counter(each.id for each in said)


@pytest.mark.spec("C-7")
@given(said=conversations, turns=turn_counts, tokens=budgets)
def test_what_is_stored_does_not_change(said, turns, tokens):
    before = deepcopy(said)
    shown(said, turns=turns, tokens=tokens)
    assert said == before


@pytest.mark.spec("C-7", "C-19")
def test_a_call_id_that_a_model_uses_again_gets_its_own_result():
    said = [
        HumanMessage("two and two"),
        AIMessage("", tool_calls=[call("c1")]),
        ToolMessage("4", tool_call_id="c1"),
        AIMessage("Four."),
        HumanMessage("three and three"),
        AIMessage("", tool_calls=[call("c1")]),
        ToolMessage("6", tool_call_id="c1"),
    ]
    assert [each.text for each in shown(said) if isinstance(each, ToolMessage)] == ["4", "6"]


@pytest.mark.spec("C-19")
def test_an_unanswered_call_is_answered_in_the_view_and_a_late_result_moves_to_its_call():
    said = [
        HumanMessage("soup and stew"),
        AIMessage("", tool_calls=[call("soup"), call("stew")]),
        HumanMessage("hurry"),
        ToolMessage("leek soup", tool_call_id="soup"),
    ]

    _, _, soup, stew, _ = shown(said)

    assert soup.text == "leek soup"
    assert (stew.tool_call_id, stew.status) == ("stew", "error")
    assert "did not finish" in stew.text


@pytest.mark.spec("C-19")
def test_a_result_without_a_call_is_not_shown():
    said = [ToolMessage("lost", tool_call_id="gone"), HumanMessage("hi"), AIMessage("Hello.")]
    assert shown(said) == said[1:]


@pytest.mark.spec("C-7")
def test_one_oversized_message_is_shown_with_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        assert [each.text for each in shown([HumanMessage("h" * 50)], tokens=10)] == ["h" * 50]
    assert "window.oversized" in caplog.text
    assert "hhh" not in caplog.text


@pytest.mark.spec("C-7")
def test_a_conversation_that_begins_with_a_call_keeps_it_with_its_result():
    said = [
        AIMessage("", tool_calls=[call("c1")]),
        ToolMessage("t" * 50, tool_call_id="c1"),
        AIMessage("a" * 50),
        AIMessage("b"),
    ]
    assert_paired(shown(said, tokens=10))


@pytest.mark.spec("C-7")
def test_an_empty_conversation_shows_nothing():
    assert shown([]) == []


def beginnings(parts: list[list[BaseMessage]], **bounds: int) -> list[tuple[int, int]]:
    """At each model call of the conversation that these turns make: its turn, and that which the window begins with."""
    begun, said = [], []
    for number, turn in enumerate(parts):
        for message in turn[:-1]:
            said.append(message)
            if not called_by(message):
                first = shown(said, **bounds)[0]
                begun.append((number, next(at for at, each in enumerate(parts) if first in each)))
        said.append(turn[-1])
    return begun


@st.composite
def turns_of_one_size(draw):
    """What each of many turns of equal cost holds."""
    asked, said, found = draw(st.integers(1, 9)), draw(sizes), draw(st.lists(sizes, max_size=2))
    turns = []
    for number in range(draw(st.integers(15, 40))):
        turn: list[BaseMessage] = [HumanMessage("h" * asked, id=f"h{number}")]
        for step, size in enumerate(found):
            called = f"{number}.{step}"
            turn.append(AIMessage("", tool_calls=[call(called)], id=f"c{called}"))
            turn.append(ToolMessage("t" * size, tool_call_id=called, id=f"t{called}"))
        turns.append([*turn, AIMessage("a" * said, id=f"a{number}")])
    return turns


@pytest.mark.spec("C-7")
@given(turns=turns_of_one_size(), count=st.integers(10, 30), fitting=st.integers(10, 30), spare=st.integers(0, 20))
def test_a_full_window_begins_at_the_same_message_for_five_turns(turns, count, fitting, spare):
    cost = sum(map(length, turns[0]))
    begun = beginnings(turns, turns=count, tokens=fitting * cost + spare)

    moved = [number for (_, before), (number, first) in pairwise(begun) if first != before]
    assert all(later - earlier >= 5 for earlier, later in pairwise(moved))


@pytest.mark.spec("C-7")
@given(said=whole_turns(), turns=turn_counts, tokens=budgets)
def test_a_window_never_goes_back(said, turns, tokens):
    begun = []
    called = [at for at in range(1, len(said) + 1) if not isinstance((said[at:] or [None])[0], ToolMessage)]
    for end in called:
        first = shown(said[:end], turns=turns, tokens=tokens)[0]
        begun.append(next(at for at, each in enumerate(said) if each is first))
    assert begun == sorted(begun)


@pytest.mark.spec("C-7", "R-3")
@given(before=st.integers(1, 50), spare=st.integers(0, 50))
def test_the_turn_before_the_last_stays_when_it_fits(before, spare):
    said = [HumanMessage("x" * 60), AIMessage("y" * 20), HumanMessage("h"), AIMessage("b" * before), HumanMessage("s")]
    assert said[2] in shown(said, tokens=before + 2 + spare)


@pytest.mark.spec("C-7")
def test_a_long_turn_loses_its_oldest_steps_several_at_once():
    said: list[BaseMessage] = [HumanMessage("h")]
    begun = []
    for number in range(40):
        said += [AIMessage("", tool_calls=[call(str(number))]), ToolMessage("t" * 10, tool_call_id=str(number))]
        seen = shown(said, tokens=101)
        assert_paired(seen)
        assert seen[0] == said[0]
        assert sum(map(length, seen)) <= 101
        begun.append(seen[1].tool_calls[0]["id"])

    assert len(set(begun)) == 40 // 5 - 1


@pytest.mark.spec("C-7")
def test_every_process_shows_the_same_window():
    said = [message for number in range(30) for message in (HumanMessage(f"h{number}"), AIMessage("a" * number))]
    assert shown(said, turns=12, tokens=200) == shown(deepcopy(said), turns=12, tokens=200)
