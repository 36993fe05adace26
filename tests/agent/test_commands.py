"""What a person types with a slash."""

import pytest
from langchain_core.embeddings import Embeddings

from langmem_plugin import PhoneMemory

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
@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("/help", "/remember <fact>"),
        ("/HELP@mom_bot", "/remember <fact>"),
        ("/remember", "What shall I remember?"),
        ("/forget", "What shall I forget?"),
        ("/rember milk", "Did you mean /remember?"),
    ],
)
def test_help_is_given_where_it_is_needed(memory, text, answer):
    assert answer in memory.command(ERIN, text)


@pytest.mark.parametrize("text", ["/shrug", "remember me", "1/2 cup"])
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
