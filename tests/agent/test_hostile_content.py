"""Whatever a tool returns, a model says or a person sends: they are answered, then and ever after."""

import contextlib
import itertools
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph

from langmem_plugin import MemoryState, PhoneMemory
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.offline.chat_model import OfflineChatModel
from langmem_plugin.settings import Settings
from tests.cases import for_each
from tests.memory.test_bad_text import Letters

NOW = datetime(2026, 3, 1, tzinfo=UTC)
AFTERWARDS = ("save number 2", "that one", "/search tea", "what about the second?", "5 aprıl, ² and \ud83d\x00 please")
_phones = (f"+9725{number:08}" for number in itertools.count())


def nested(levels, innermost="x", *, in_dicts=False):
    for _ in range(levels):
        innermost = {"items": innermost} if in_dicts else [innermost]
    return innermost


def endless():
    inside: list[object] = []
    inside.append(inside)
    return inside


texts = st.text(st.characters(exclude_categories=()), max_size=12)
lines = st.lists(texts.map("1. {}".format), max_size=4).map("\n".join)
numbers = st.one_of(st.integers(), st.floats(), st.sampled_from((70, 1_400, 17_000)).map(lambda bits: 2**bits))
leaves = st.one_of(st.none(), st.booleans(), numbers, texts, st.just(date(2026, 3, 1)), st.just(Decimal("sNaN")))
names = st.one_of(st.sampled_from(("title", "price", "items", "id", "text")), texts)
data = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4), st.sets(texts)),
    max_leaves=12,
)
depths = st.sampled_from((50, 130, 400, 5_000))
unusual = st.one_of(
    data,
    st.builds(nested, depths, in_dicts=st.booleans()),
    st.sampled_from(({1: "a", "b": 2}, {(1, 2): 3}, {None: {}}, b"\xff", object(), {"title": object()})),
    st.builds(endless),
)
written = st.one_of(
    texts,
    lines,
    data.map(lambda value: json.dumps(value, default=str) if _is_json(value) else str(type(value))),
    st.builds(lambda levels: "[" * levels + "]" * levels, depths),
    st.builds(lambda levels: '{"a":' * levels + "1" + "}" * levels, depths),
    st.sampled_from(
        ("9" * 5_000, '[{"title": "a", "price": ' + "9" * 5_000 + "}]", "{{'a'}}", "[0x" + "f" * 9_000 + "]")
    ),
    st.sampled_from(("9" * 5_000 + ". Soup\n" + "9" * 5_000 + ". Salad", "[NaN, Infinity, 1e999]", "{" * 3_000)),
)
blocks = st.lists(st.one_of(texts, st.dictionaries(texts, leaves, max_size=3), st.just({"type": "text"})), max_size=3)
contents = st.one_of(written, blocks)


def _is_json(value):
    try:
        json.dumps(value, default=str)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def send(messages):
    """As the clients of models do."""
    for message in messages:
        said = [message.content, getattr(message, "tool_calls", None), message.name]
        json.dumps(said, ensure_ascii=False, default=str, skipkeys=True).encode()


class Script:
    """What the model and the tool of the next turn say."""

    def __init__(self, arguments, result, artifact, reply, name):
        self.arguments, self.result, self.artifact, self.reply, self.name = arguments, result, artifact, reply, name

    def answer(self, shown):
        send(shown)
        match shown[-1]:
            case ToolMessage():
                return AIMessage(self.reply)
            case HumanMessage(content="find"):
                call = {"name": "find_soups", "args": self.arguments, "id": "call"}
                return AIMessage("", tool_calls=[call])
        return AIMessage("ok")

    def find(self):
        return ToolMessage(self.result, tool_call_id="call", name=self.name, artifact=self.artifact)


def graph_of(memory, script):
    def after(state):
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else "write"

    return (
        StateGraph(MemoryState)
        .add_node("recall", memory.recall_node())
        .add_node("agent", lambda state: {"messages": script.answer(memory.prompt(state, "You are Mom Bot."))})
        .add_node("tools", lambda _: {"messages": script.find()})
        .add_node("write", memory.write_node())
        .add_edge(START, "recall")
        .add_edge("recall", "agent")
        .add_conditional_edges("agent", after, ["tools", "write"])
        .add_edge("tools", "agent")
        .add_edge("write", END)
        .compile(checkpointer=memory.saver)
    )


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def memory(request, tmp_path_factory):
    kept = Settings(search_past_sessions=False, min_similarity=0.0)
    with contextlib.ExitStack() as places:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('hostile')}/langmem.db"
        else:
            url = places.enter_context(request.getfixturevalue("postgresql_server").copy("hostile_content"))
        with PhoneMemory(url, settings=kept, embeddings=Letters(), now=lambda: NOW) as opened:
            yield opened


def goes_on(memory, script, *, find="find"):
    """A conversation in which it was said; its history afterwards."""
    phone, graph = next(_phones), graph_of(memory, script)
    assert memory.reply(graph, phone, "hello") == "ok"
    hostile = memory.reply(graph, phone, find)
    hostile.encode()
    answers = [memory.reply(graph, phone, text) for text in AFTERWARDS]
    assert all(answers)
    said = [each.text for each in graph.get_state({"configurable": {"thread_id": phone}}).values["messages"]]
    assert said[:2] == ["hello", "ok"]
    assert said[-6:-2] == ["that one", answers[1], "what about the second?", answers[3]]
    return hostile, said


@pytest.mark.slow
@pytest.mark.spec("C-5", "C-13", "R-4")
@settings(max_examples=8)
@given(
    arguments=st.dictionaries(names, data, max_size=3),
    result=contents,
    artifact=unusual,
    reply=contents,
    name=st.one_of(st.none(), texts),
)
def test_whatever_is_said_in_a_conversation_it_is_answered_and_goes_on(
    memory, arguments, result, artifact, reply, name
):
    goes_on(memory, Script(arguments, result, artifact, reply, name))


@pytest.mark.slow
@pytest.mark.spec("C-13", "R-4")
@settings(max_examples=5)
@given(text=texts)
def test_whatever_a_person_writes_is_answered(memory, text):
    goes_on(memory, Script({}, "1. Soup\n2. Salad", None, "1. Soup\n2. Salad", None), find=text)


HOSTILE_RESULTS = {
    "brackets": "[" * 5_000 + "]" * 5_000,
    "digits": "9" * 5_000,
    "a price of 5,000 digits": '[{"title": "a", "price": ' + "9" * 5_000 + '}, {"title": "b", "price": 2}]',
    "no number": '[{"title": "a", "price": NaN}, {"title": "b", "price": Infinity}]',
    "half an emoji": 'found \ud83d and "\\ud83d"',
    "a set in a set": "{{'a'}}",
    "NUL": "a\x00b",
}


@pytest.mark.slow
@pytest.mark.spec("C-2", "C-13", "R-1")
@for_each("what", HOSTILE_RESULTS)
def test_a_hostile_result_is_plain_text_and_is_kept(memory, what):
    result = HOSTILE_RESULTS[what]

    answer, said = goes_on(memory, Script({}, result, None, "Here it is.", None))

    assert answer == "Here it is."
    assert result.replace("\ud83d", "?") in said


UNSTORABLE = {
    "lists": nested(5_000),
    "dicts": nested(5_000, in_dicts=True),
    "itself": endless(),
}


@pytest.mark.slow
@pytest.mark.spec("C-13")
@for_each("what", UNSTORABLE)
def test_what_cannot_be_stored_ends_its_run_with_an_answer_and_nothing_else(memory, what):
    answer, said = goes_on(memory, Script({}, "1. Soup", UNSTORABLE[what], "Here it is.", None))

    assert answer == ENGLISH.not_storable
    assert "Here it is." not in said


@pytest.mark.spec("C-2", "C-13")
@for_each("message_id", ["i" * 3_000, "a\x00b", "a\ud83d", "\x1b"], ids=["long", "NUL", "half", "escape"])
def test_a_message_keeps_whatever_id_its_graph_gives_it_and_can_be_searched_for(memory, message_id):
    phone, said = next(_phones), AIMessage("I recommend the lentil soup", id=message_id)
    graph = StateGraph(MemoryState).add_node("agent", lambda _: {"messages": said}).add_edge(START, "agent")
    answering = graph.compile(checkpointer=memory.saver)

    assert memory.reply(answering, phone, "which soup?") == said.text
    kept = answering.get_state({"configurable": {"thread_id": phone}}).values["messages"]
    memory.command(phone, "/reset")
    memory.index_past_sessions()

    assert [each.id for each in kept][1:] == [message_id]
    assert "lentil" in memory.command(phone, "/search lentil soup")


@pytest.mark.spec("U-1", "C-13")
@for_each("what", HOSTILE_RESULTS)
def test_the_offline_model_says_what_a_hostile_result_says(what):
    call = {"name": "find_soups", "args": {"query": "soup"}, "id": "call"}
    said = [
        HumanMessage("find"),
        AIMessage("", tool_calls=[call]),
        ToolMessage(HOSTILE_RESULTS[what], tool_call_id="call"),
    ]

    assert OfflineChatModel().bind_tools([]).invoke(said).text
