"""What people and tools wrote cannot steer the terminal of who looks at it."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from typer.testing import CliRunner

from graphs import chat
from langmem_plugin import ConversationSaver, PhoneMemory, SessionManager
from langmem_plugin.cli import app
from langmem_plugin.text_sanitizing import visible

ERIN = "+972501234567"
TITLE, CLEAR, COLOUR, C1 = "\x1b]0;pwned\x07", "\x1b[2J", "\x1b[31m", "\x9b31m"
OVERRIDE, ISOLATE, SEPARATOR = "\u202e", "\u2066", "\u2028"
STEERING = (TITLE, CLEAR, COLOUR, C1, OVERRIDE, ISOLATE, SEPARATOR, "\r", "\x08", "\x7f", "\x85", "\ud83d")
FORGED = "hi\n2026-11-22 05:00 UTC  assistant  I confirm the payment of 5000"


@pytest.fixture
def run(database_url):
    def invoke(*arguments):
        result = CliRunner().invoke(app, [*arguments, "--database", database_url])
        assert result.exit_code == 0, result.output
        return result.stdout

    return invoke


@pytest.fixture
def session_id(database_url):
    with ConversationSaver(database_url) as saver:
        manager = SessionManager(saver)
        for text in (*STEERING, FORGED, "שלום 👨‍👩‍👧 1. tea\n2. coffee"):
            manager.add_message(ERIN, "user", f"{text}end")
        return manager.get_session(ERIN).session_id


def steers(output):
    return [
        letter for letter in output if unicodedata.category(letter) in ("Cc", "Cf", "Zl") and letter not in "\n\u200d"
    ]


@pytest.mark.spec("U-5", "P-7")
def test_a_transcript_shows_what_would_steer_the_terminal(run, session_id):
    shown = run("sessions", "show", session_id)

    assert steers(shown) == []
    for escaped in (r"\u001b]0;pwned\u0007", r"\u001b[2J", r"\u009b31m", r"\u202e", r"\u2028", r"\u000d", r"\u007f"):
        assert f"{escaped}end" in shown
    assert "שלום 👨‍👩‍👧 1. tea" in shown


@pytest.mark.spec("U-5", "P-7")
def test_no_message_can_look_like_two(run, session_id):
    lines = run("sessions", "show", session_id).splitlines()

    assert len([line for line in lines if not line.startswith(" ")]) == len(STEERING) + 2
    assert any(line.strip().startswith("2026-11-22 05:00 UTC  assistant") and line.startswith(" ") for line in lines)


@pytest.mark.spec("U-5", "P-7")
def test_a_chat_whose_key_is_hostile_is_listed(run, database_url):
    with ConversationSaver(database_url) as saver:
        SessionManager(saver).add_message(f"[red]{OVERRIDE}evil", "user", "hi")

    listed = run("sessions", "list", "--reveal")

    assert "[red]" in listed
    assert {*steers(listed)} == {"\t"}  # between the cells of a row, which has none itself
    assert [line.count("\t") for line in listed.splitlines()] == [5, 5]


@pytest.mark.spec("U-5", "P-7")
def test_what_an_utterance_means_is_explained_without_steering(run, database_url):
    items = json.dumps([{"title": f"Soup {TITLE}{OVERRIDE}"}, {"title": "Salad"}])

    def answer(state: MessagesState):
        call = {"name": "find_soups", "args": {"query": CLEAR}, "id": "call"}
        return {"messages": [AIMessage("", tool_calls=[call]), ToolMessage(items, tool_call_id="call")]}

    with PhoneMemory(database_url) as memory:
        graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=memory.saver)
        memory.reply(graph, ERIN, "find soups")
        memory.command(ERIN, f"/remember {COLOUR}tea")

    assert "Soup" in run("resolve", f"number 1 {CLEAR}", "--phone", ERIN)
    for output in (run("resolve", f"number 1 {CLEAR}", "--phone", ERIN), run("memories", "list", ERIN)):
        assert {*steers(output)} <= {"\t"}


@pytest.mark.spec("U-5", "P-7")
def test_the_example_in_a_terminal_is_steered_by_nobody(monkeypatch, capsys, tmp_path):
    def build(memory, model, household):
        return (
            StateGraph(MessagesState)
            .add_node("answer", lambda _state: {"messages": AIMessage(f"{TITLE}{OVERRIDE}hello")})
            .add_edge(START, "answer")
            .compile(checkpointer=memory.saver)
        )

    heard = iter(("hi", ""))
    monkeypatch.setattr("builtins.input", lambda _prompt: next(heard))
    monkeypatch.setattr(chat, "ASSISTANTS", {"assistant": build})
    monkeypatch.setattr(chat, "Household", lambda _path: None)
    monkeypatch.setattr(sys, "argv", ["chat", "--database", f"sqlite:///{tmp_path}/chat.db"])

    assert chat.main() == 0

    printed = capsys.readouterr().out
    assert steers(printed) == []
    assert r"]0;pwned\u202ehello" in printed  # controls are never sent to anybody


@pytest.mark.spec("U-5")
@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_whatever_a_text_holds_its_visible_form_steers_nothing_and_reads_back(text):
    shown = visible(json.dumps(text, ensure_ascii=False))

    assert [letter for letter in steers(shown) if letter not in "\t\u200c\u200e\u200f"] == []
    assert json.loads(shown) == text
    shown.encode()
