"""Laws of the window: what of a conversation a model is shown, whatever the conversation."""

import logging
from collections import Counter
from copy import deepcopy

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
