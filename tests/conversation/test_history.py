"""The history as dictionaries: what a model would be shown, in the form that LangChain and OpenAI's client take."""

import json
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_messages
from langgraph.graph import START, MessagesState, StateGraph

from langmem_plugin import ConversationSaver, InvalidInput, SessionManager, StoreUnavailable
from langmem_plugin.conversation.window import estimated_tokens, window
from tests.cases import for_each

ERIN = "972501234567@c.us"


@pytest.fixture
def manager(saver):
    return SessionManager(saver)


def said(saver, messages, chat=ERIN):
    """As a graph stores them."""
    graph = (
        StateGraph(MessagesState)
        .add_node("agent", lambda _: {"messages": messages})
        .add_edge(START, "agent")
        .compile(checkpointer=saver)
    )
    with saver.turn(chat) as config:
        return graph.invoke({"messages": []}, config)["messages"]


def called(call_id, name="find", text="", **args):
    return AIMessage(text, tool_calls=[{"name": name, "args": args, "id": call_id, "type": "tool_call"}])


def without_ids(messages):
    return [message.model_copy(update={"id": None, "response_metadata": {}}) for message in messages]


words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | words,
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(words, parts, max_size=3),
    max_leaves=5,
)
calls = st.builds(
    lambda number, name, args: {"name": name, "args": args, "id": f"c{number}", "type": "tool_call"},
    st.integers(0, 4),
    st.sampled_from(["find", "save"]),
    st.dictionaries(words, values, max_size=3),
)
messages = st.lists(
    st.one_of(
        st.builds(HumanMessage, words, name=st.none() | st.just("Erin")),
        st.builds(SystemMessage, words),
        st.builds(
            lambda text, made: AIMessage(text, tool_calls=made),
            words,
            st.lists(calls, max_size=2, unique_by=lambda call: call["id"]),
        ),
        st.builds(
            lambda text, number, status: ToolMessage(text, tool_call_id=f"c{number}", name="find", status=status),
            words,
            st.integers(0, 4),
            st.sampled_from(["success", "error"]),
        ),
    ),
    max_size=12,
)


@pytest.mark.spec("C-12", "C-7")
@given(messages=messages, role=st.sampled_from(["client", "godfather"]))
def test_the_history_converted_is_the_window(saver, messages, role):
    chat = f"law-{uuid.uuid4()}"
    messages = said(saver, messages, chat) if messages else []
    limit = {"client": 4_000, "godfather": 100_000}[role]
    shown = window(messages, max_turns=100, max_tokens=limit, count_tokens=estimated_tokens)

    history = SessionManager(saver).get_conversation_history(chat, role)

    assert convert_to_messages(history) == without_ids(shown)
    assert json.loads(json.dumps(history)) == history


@pytest.mark.spec("C-12", "C-13")
def test_empty_messages_are_kept(manager):
    manager.add_message(ERIN, "user", "hello")
    manager.add_message(ERIN, "assistant", "")
    manager.add_message(ERIN, "user", "  ")

    assert [each["content"] for each in manager.get_conversation_history(ERIN)] == ["hello", "", "  "]


@pytest.mark.spec("C-12", "C-7")
def test_a_call_stays_with_its_results_however_few_messages_are_wanted(manager, saver):
    said(
        saver,
        [
            HumanMessage("find soup and save it"),
            called("c1", query="soup"),
            ToolMessage("1. Soup", tool_call_id="c1", name="find"),
            called("c2", "save", item=1),
            ToolMessage("saved", tool_call_id="c2", name="save"),
            AIMessage("Done."),
        ],
    )

    def shown(most):
        return [each["role"] for each in manager.get_conversation_history(ERIN, max_messages=most)]

    whole = manager.get_conversation_history(ERIN)
    assert whole[1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"query": "soup"}'}}
    ]
    assert whole[2] == {"role": "tool", "content": "1. Soup", "name": "find", "tool_call_id": "c1"}
    assert [len(shown(most)) for most in (1, 2, 3, 4, 5, 6, 100)] == [1, 1, 3, 3, 5, 6, 6]
    assert shown(3) == ["assistant", "tool", "assistant"]
    for wrong in (-1, "2", 1.5):
        with pytest.raises(InvalidInput, match="max_messages"):
            shown(wrong)


@pytest.mark.spec("C-12")
def test_a_result_is_paired_with_the_call_it_names(manager, saver):
    said(saver, [HumanMessage("find soup"), called("c1", query="soup")])
    manager.add_message(ERIN, "tool", "1. Soup", tool_call_id="c1", tool_name="find")

    assert manager.get_conversation_history(ERIN)[2] == {
        "role": "tool",
        "content": "1. Soup",
        "name": "find",
        "tool_call_id": "c1",
    }
    with pytest.raises(InvalidInput, match="calls 'c2'"):
        manager.add_message(ERIN, "tool", "2. Stew", tool_call_id="c2")
    with pytest.raises(InvalidInput, match="role='tool'"):
        manager.add_message(ERIN, "user", "2. Stew", tool_call_id="c1")
    assert manager.get_session(ERIN).message_counter == 3


@pytest.mark.spec("C-12", "C-2")
def test_a_result_of_no_call_is_told_to_the_model_and_recorded_as_the_tools(manager, saver):
    manager.add_message(ERIN, "user", "how warm is it?")
    manager.add_message(ERIN, "tool", "21 degrees", tool_name="weather")

    history = manager.get_conversation_history(ERIN)
    [_, record] = manager.messages(manager.get_session(ERIN).session_id)

    assert history[1] == {"role": "assistant", "content": "[Result of weather]\n21 degrees"}
    assert (record.role, record.content) == ("tool", "21 degrees")
    stored = saver.get_tuple({"configurable": {"thread_id": ERIN}}).checkpoint["channel_values"]["messages"]
    assert window(stored, max_turns=5, max_tokens=100, count_tokens=estimated_tokens)[1].text == history[1]["content"]


@pytest.mark.spec("C-12", "C-8")
def test_a_picture_is_the_line_that_stands_for_it(manager, saver):
    inline = {"type": "image", "base64": "iVBORw0KGgoAAAANSUhEUg==", "mime_type": "image/png"}
    said(
        saver,
        [
            HumanMessage([{"type": "text", "text": "look"}, inline]),
            HumanMessage([{"type": "image", "url": "https://example.com/cat.png"}]),
        ],
    )

    kept, by_url = manager.get_conversation_history(ERIN)

    assert kept["content"].startswith("look[image: image/png, 16 bytes, ")
    assert by_url["content"] == "[image: https://example.com/cat.png]"


@pytest.mark.spec("C-12", "C-13")
def test_what_is_no_text_or_instant_is_refused(manager):
    for content in (None, 5, b"x", ["a"]):
        with pytest.raises(InvalidInput, match="pass a text"):
            manager.add_message(ERIN, "user", content)
    for instant in ("2026-01-01", 5):
        with pytest.raises(InvalidInput, match="pass a datetime"):
            manager.add_message(ERIN, "user", "x", timestamp=instant)
    assert manager.get_session(ERIN).message_counter == 0


# Tokens


PICTURE = {"type": "image", "base64": "iVBORw0KGgoAAAANSUhEUg==", "mime_type": "image/png"}


@pytest.mark.spec("C-7", "C-11")
@for_each(
    ("message", "tokens"),
    [
        (HumanMessage("x" * 40), 10),
        (called("c1", "findfind", query="x" * 40), (8 + len('{"query": ""}') + 40) // 4),
        (HumanMessage([{"type": "text", "text": "x" * 40}, PICTURE]), 1_610),
        (HumanMessage([{"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}]), 1_600),
        (HumanMessage([{"type": "file", "base64": "JVBERi0=", "mime_type": "application/pdf"}]), 0),
        (ToolMessage([PICTURE, PICTURE], tool_call_id="c1"), 3_200),
    ],
    ids=["text", "call", "picture", "picture by url", "document", "two pictures"],
)
def test_calls_and_pictures_count(message, tokens):
    assert estimated_tokens(message) == tokens


@pytest.mark.spec("C-7", "C-8")
def test_a_stored_picture_counts_as_much_as_the_one_that_came(manager, saver):
    said(saver, [HumanMessage([{"type": "text", "text": "look"}, PICTURE]), called("c1", query="x" * 400)])

    picture, call = manager.messages(manager.get_session(ERIN).session_id)

    assert 1_600 < picture.tokens < 1_700
    assert call.tokens > 100
    typed = HumanMessage(picture.content.removeprefix("look"))
    assert estimated_tokens(typed) == len(typed.text) // 4


@pytest.mark.spec("C-7")
@for_each("args", [{"a": float("nan")}, {"a": "\ud800"}, {"a": b"x"}, {(1, 2): 3}, {"a": 10**5_000}])
def test_no_argument_keeps_a_message_from_being_counted(args):
    message = AIMessage("x" * 8)
    message.tool_calls = [{"name": "find", "args": args, "id": "c1", "type": "tool_call"}]
    assert estimated_tokens(message) >= 2
    nested = []
    for _ in range(5_000):
        nested = [nested]
    message.tool_calls[0]["args"] = {"a": nested}
    assert estimated_tokens(message) >= 2


@pytest.mark.spec("C-7")
def test_the_limit_holds_for_calls_and_a_counter_of_the_callers_wins(database, clock):
    turn = [HumanMessage("find"), called("c1", query="x" * 8_000), ToolMessage("y", tool_call_id="c1"), AIMessage("z")]
    for counter, kept in (({}, 4), ({"count_tokens": lambda _: 1}, 12)):
        with ConversationSaver(database, now=clock, **counter) as saver:
            chat = f"{ERIN}-{kept}"
            for _ in range(3):
                said(saver, [each.model_copy() for each in turn], chat)
            assert len(SessionManager(saver).get_conversation_history(chat)) == kept


# Ids that are taken


def repeating(times):
    """A source of ids that gives each several times."""
    given = []

    def draw():
        given.append(str(uuid.uuid4()) if len(given) % times == 0 else given[-1])
        return given[-1]

    return draw


@pytest.mark.spec("M-14", "C-11")
def test_a_session_id_that_is_taken_is_drawn_again_three_times(manager, monkeypatch):
    place = "langmem_plugin.conversation.sessions.session_rows.new_id"
    monkeypatch.setattr(place, repeating(4))
    for number in range(4):
        manager.add_message(f"+97250123456{number}", "user", f"hello {number}", client_name="Erin")
    assert len({each.session_id for each in manager.sessions()}) == 4
    monkeypatch.setattr(place, repeating(10_000))
    manager.add_message("+972501234564", "user", "hello 4")
    with pytest.raises(StoreUnavailable, match="ids in a row"):
        manager.add_message("+972501234565", "user", "hello 5")
    monkeypatch.undo()
    manager.add_message("+972501234565", "user", "hello 5 again")
    for number, text in enumerate(["hello 0", "hello 1", "hello 2", "hello 3", "hello 4", "hello 5 again"]):
        assert manager.get_conversation_history(f"+97250123456{number}") == [{"role": "user", "content": text}]


@pytest.mark.spec("M-14", "C-11")
def test_a_session_that_ends_stays_ended_and_carried_when_the_next_ones_id_is_taken(manager, monkeypatch):
    manager.add_message(ERIN, "user", "before", client_name="Erin")
    before = manager.get_session(ERIN)
    fresh = str(uuid.uuid4())
    drawn = iter([before.session_id, before.session_id, fresh])
    manager.clear_session(ERIN)
    monkeypatch.setattr("langmem_plugin.conversation.sessions.session_rows.new_id", lambda: next(drawn))
    manager.add_message(ERIN, "user", "after")
    assert manager.get_session(ERIN).session_id == fresh
    assert manager.get_session(ERIN).client_name == "Erin"
    assert manager.session(before.session_id).ended_at is not None


@pytest.mark.spec("M-14", "C-11")
def test_a_message_id_that_is_taken_is_drawn_again_three_times(manager, monkeypatch):
    class Source:
        uuid4 = staticmethod(repeating(4))

    monkeypatch.setattr("langmem_plugin.conversation.message_as_dict.uuid", Source)
    ids = [manager.add_message(ERIN, "user", f"message {number}") for number in range(4)]
    assert len(set(ids)) == 4
    Source.uuid4 = staticmethod(lambda: ids[0])
    with pytest.raises(StoreUnavailable, match="ids in a row"):
        manager.add_message(ERIN, "user", "one more")
    assert manager.get_session(ERIN).message_ids == tuple(ids)


@pytest.mark.spec("C-11", "C-15")
@for_each(
    "notes",
    [
        "x",
        ["timestamp"],
        {"timestamp": "soon", "received_at": 7},
        {"received_at": "2026-13-40"},
        {"sender": 7, "recipient": {}, "image_path": ["x"], "was_received": "no"},
    ],
)
def test_what_a_graph_notes_for_itself_keeps_no_session_from_being_read(manager, saver, notes):
    said(saver, [AIMessage("here", response_metadata={"langmem": notes})])
    [record] = manager.messages(manager.get_session(ERIN).session_id)
    assert record.content == "here"
    assert record.timestamp.tzinfo is not None
    assert record.received_at.tzinfo is not None
    assert (record.sender, record.image_path, record.was_received) == ("assistant", None, True)
    assert isinstance(record.recipient, str)
