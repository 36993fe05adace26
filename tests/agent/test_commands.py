"""What a person types with a slash."""

import os

import pytest
from langchain_core.embeddings import Embeddings

from langmem_plugin import PhoneMemory
from langmem_plugin.errors import StoreUnavailable
from tests.cases import for_each

pytestmark = pytest.mark.both_engines

ERIN, JASON = "+972501234567", "+972501234568"


@pytest.mark.spec("W-1", "M-5", "U-2")
def test_remembering_is_confirmed_and_listed_for_this_phone_only(memory):
    assert memory.command(ERIN, "/remember TestCorp owes me ₪5000") == "✅ Remembered: TestCorp owes me ₪5000"

    assert "TestCorp owes me ₪5000" in memory.command("972501234567@c.us", "/memories")
    assert memory.command(JASON, "/memories").startswith("I remember nothing yet")


@pytest.mark.spec("U-2")
def test_forgetting_by_words_asks_first_and_by_id_or_the_whole_text_does_not(memory):
    for fact in ("I drink black tea", "I drink green tea", "Jason is allergic to nuts", "The code is 4471"):
        memory.command(ERIN, f"/remember {fact}")

    assert "Jason is allergic to nuts" in memory.command(ERIN, "/forget nuts")
    assert memory.command(ERIN, "yes") == "🗑️ Forgotten: Jason is allergic to nuts"
    asked = memory.command(ERIN, "/forget drink tea")
    assert asked.startswith("Which one?")
    short_id = next(line for line in asked.splitlines() if "green" in line).rsplit("[", 1)[1].rstrip("]")
    assert memory.command(ERIN, f"/forget {short_id}") == "🗑️ Forgotten: I drink green tea"
    assert memory.command(ERIN, "/forget the CODE is 4471.") == "🗑️ Forgotten: The code is 4471"
    assert "black" in memory.command(ERIN, "/memories")
    assert memory.command(ERIN, "/forget coffee").startswith("I remember nothing like")


@pytest.mark.spec("P-6")
def test_nobody_forgets_for_somebody_else(memory):
    memory.command(ERIN, "/remember I drink tea")
    memory_id = memory.service.list_memories(ERIN)[0].id

    assert memory.command(JASON, f"/forget {memory_id}").startswith("I remember nothing like")
    assert "tea" in memory.command(ERIN, "/memories")


@pytest.mark.spec("U-2")
def test_reset_starts_afresh_and_keeps_the_long_term_memory(memory, graph_of, scripted):
    graph = graph_of(scripted())
    memory.reply(graph, ERIN, "hello")
    memory.reply(graph, ERIN, "/remember I drink tea")

    assert memory.reply(graph, ERIN, "/reset") == "🔄 Conversation history cleared. Starting fresh!"
    assert memory.reply(graph, ERIN, "hello") == "heard 2"
    assert "tea" in memory.reply(graph, ERIN, "/memories")


@pytest.mark.spec("U-2")
@for_each(
    ("text", "answer"),
    [
        ("/help", "/remember <fact>"),
        ("/HELP@mom_bot", "/remember <fact>"),
        ("/remember", "What shall I remember?"),
        ("/forget", "What shall I forget?"),
    ],
)
def test_help_is_given_where_it_is_needed(memory, text, answer):
    assert answer in memory.command(ERIN, text)


@for_each("text", ["/shrug", "remember me", "1/2 cup"])
def test_what_is_no_command_belongs_to_the_agent(memory, text):
    assert memory.command(ERIN, text) is None


def test_a_graph_invoked_directly_sees_a_command_as_text(memory, graph_of, scripted):
    with memory.turn(ERIN) as config:
        result = graph_of(scripted()).invoke({"messages": [("user", "/memories")]}, config)

    assert result["messages"][0].text == "/memories"


@pytest.mark.spec("M-14", "W-1")
def test_when_embedding_fails_nothing_is_confirmed(database_url, clock):
    class Down(Embeddings):
        def embed_documents(self, texts):
            raise ConnectionError("down")

        def embed_query(self, text):
            raise ConnectionError("down")

    with PhoneMemory(database_url, embeddings=Down(), now=clock) as memory:
        memory.service.embedder._sleep = lambda _seconds: None
        answer = memory.command(ERIN, "/remember I drink tea")
        assert answer == "/remember failed: Unable to generate embedding. Please try again."
        assert memory.command(ERIN, "/memories").startswith("I remember nothing yet")


@pytest.mark.spec("M-14", "U-2")
def test_while_the_database_is_down_a_command_says_so_and_a_message_goes_to_the_agent(memory, monkeypatch):
    memory.command(ERIN, "/remember I drink tea")

    def down(*_, **__):
        raise StoreUnavailable("down")

    monkeypatch.setattr(memory.database, "read", down)
    monkeypatch.setattr(memory.database, "write", down)
    for command in ("/memories", "/forget tea", "/undo", "/instructions be brief", "/timezone Madrid", "/search tea"):
        assert memory.command(ERIN, command) == "⚠️ Memory system temporarily unavailable. Please try again."
    assert memory.command(ERIN, "/remember milk") == "❌ Failed to store memory. Please try again."
    assert memory.command(ERIN, "/timezone").startswith("Your time zone is Asia/Jerusalem")
    assert memory.command(ERIN, "/help").startswith("/remember")
    assert memory.command(ERIN, "what shall I drink?") is None
    assert memory.command(ERIN, "yes") is None


@pytest.mark.spec("U-2", "C-6")
def test_commands_in_any_words_are_left_out_of_what_is_searched_of_past_talks(memory):
    knows = memory.commands.knows

    assert all(map(knows, ("/remember x", "/זכור x", "remember that I'm vegan", "what do you know about me?")))
    assert not any(map(knows, ("hello", "remember the milk", "yes", "/research tea", "/etc/hosts", "")))


@pytest.mark.spec("U-2", "C-5")
def test_a_forked_process_answers_the_same_question(tmp_path, clock, offline_model):
    with PhoneMemory(f"sqlite:///{tmp_path}/fork.db", embeddings=offline_model, now=clock) as memory:
        memory.command(ERIN, "/remember I have a dog")
        memory.command(ERIN, "/forget dog")
        child = os.fork()
        if child == 0:
            told = memory.command(ERIN, "כן")
            os._exit(0 if told == "🗑️ נשכח: I have a dog" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert memory.command(ERIN, "yes") is None
        assert memory.command(ERIN, "/undo").endswith("I have a dog")


@pytest.mark.spec("U-2")
def test_a_number_of_the_list_is_forgotten_after_a_yes(memory):
    for fact in ("My car is red", "My bike is blue"):
        memory.command(ERIN, f"/remember {fact}")
    second = next(line for line in memory.command(ERIN, "/memories").splitlines() if line.startswith("2."))
    fact = second.removeprefix("2. ").rsplit(" (", 1)[0]

    assert fact in memory.command(ERIN, "/forget 2")
    assert memory.command(ERIN, "yes") == f"🗑️ Forgotten: {fact}"
    assert "nothing like" in memory.command(ERIN, "/forget 9")


@pytest.mark.spec("U-2", "I-4")
@for_each("typed", ["delete x", "off", "delete", "of 1", "priority", "מחק", "borrar todo", "on #"])
def test_an_unfinished_change_of_an_instruction_is_asked_about_and_is_none(memory, typed):
    memory.command(ERIN, "/instructions never use emojis")

    assert "1. never use emojis" in memory.command(ERIN, f"/instructions {typed}")
    assert [each.text for each in memory.instructions.list_instructions(ERIN)] == ["never use emojis"]


@pytest.mark.spec("U-2")
def test_a_page_of_text_is_remembered_whole_and_not_sent_back(memory):
    answer = memory.command(ERIN, "/remember " + "the shed holds paint, " * 100)

    assert len(answer) < 300
    assert len(memory.service.list_memories(ERIN)[0].text) > 2_000


@pytest.mark.spec("M-2")
def test_what_a_command_stored_belongs_to_the_session_it_was_said_in(memory):
    memory.command(ERIN, "/remember I drink tea")
    session = memory.saver.current_session(ERIN).session_id
    assert [each.text for each in memory.service.get_memories_by_session(session)] == ["I drink tea"]
