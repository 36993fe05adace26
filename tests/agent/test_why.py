"""/why, and asking right after a reply how that is known: who said it when, in place of what, and why it was recalled."""

import pytest
from langchain_core.messages import AIMessage

from langmem_plugin.agent.replying.languages import ENGLISH, asks_why
from langmem_plugin.memory.find.recall import share
from tests.cases import for_each
from tests.chat_graph import chat_graph

ERIN, JASON = "+972501234567", "+972501234568"

pytestmark = pytest.mark.spec("M-12", "A-1")


@pytest.fixture
def graph(memory, scripted):
    model = scripted(lambda _: AIMessage("Tea, of course [Memory: 1]."))
    return chat_graph(memory, lambda state: {"messages": model.invoke(memory.prompt(state, "Help."))})


def test_an_id_and_words_tell_the_words_it_is_from(memory, clock):
    made = memory.service.remember(
        ERIN, "Drinks tea", quote="I only drink tea", source_type="extracted_from_chat", said_at=clock()
    )
    by_words = memory.command(ERIN, "/why tea")

    assert by_words.splitlines()[:2] == [
        f"Drinks tea [{made.id[:8]}]",
        "- You said on 2026-03-01 11:00: “I only drink tea”",
    ]
    assert by_words.endswith("- It fits your words by the words themselves, by their meaning.")
    assert memory.command(ERIN, f"/why {made.id}").splitlines() == by_words.splitlines()[:2]
    assert memory.command(ERIN, f"/why [{made.id[:8].upper()}]").splitlines() == by_words.splitlines()[:2]


def test_what_a_person_asked_for_says_so_in_their_language(memory):
    memory.command(ERIN, "/recordar soy vegano")

    assert memory.command(ERIN, "/porqué vegano").splitlines()[1] == (
        "- Me pediste el 2026-03-01 11:00 que lo recordara."
    )


def test_a_number_is_that_of_the_list(memory):
    memory.service.remember(ERIN, "I live in Haifa", fact_type="personal")
    memory.service.remember(ERIN, "I drink tea", fact_type="preference")
    memory.service.remember(ERIN, "I drink milk", fact_type="preference")

    listed = [line for line in memory.command(ERIN, "/memories").splitlines() if line[0].isdecimal()]
    assert [memory.command(ERIN, f"/why {n}").splitlines()[0] for n in (1, 2, 3)] == [
        line.split(". ", 1)[1] for line in listed
    ]
    for wrong in ("4", "0", "9999", "²", "\ud83d", "99999999999999"):
        assert memory.command(ERIN, f"/why {wrong}").startswith("I remember nothing like")


def test_a_number_that_the_last_reply_cites_is_what_it_cites(memory, graph):
    memory.service.remember(ERIN, "I live in Haifa", fact_type="decision")
    tea = memory.service.remember(ERIN, "My favourite drink is tea", fact_type="personal")
    memory.service.remember(ERIN, "I work in Tel Aviv", fact_type="preference")
    memory.reply(graph, ERIN, "what is my favourite drink?", sources=True)

    assert memory.command(ERIN, "/why 1").startswith(f"My favourite drink is tea [{tea.id[:8]}]")


@for_each("asked", ["how do you know that?", "Why do you think so?", "איך אתה יודע את זה?", "¿Cómo lo sabes?"])
def test_asked_right_after_a_reply_what_that_used_is_explained(memory, graph, asked):
    memory.service.remember(ERIN, "My favourite drink is tea", quote="tea is the best")
    memory.reply(graph, ERIN, "what is my favourite drink?")

    told = memory.reply(graph, ERIN, asked)

    assert told.startswith("My favourite drink is tea [")
    assert "“tea is the best”" in told
    assert "%" in told  # how well it fitted


def test_after_a_reply_that_used_nothing_the_question_is_the_agents(memory, scripted, clock):
    model = scripted(lambda _: AIMessage("Because."))
    graph = chat_graph(memory, lambda state: {"messages": model.invoke(memory.prompt(state, "Help."))})
    memory.service.remember(ERIN, "My favourite drink is tea")
    assert memory.reply(graph, ERIN, "how do you know that?") == "Because."
    memory.reply(graph, ERIN, "what is my favourite drink?")
    clock.forward(minutes=1)
    with memory.turn(ERIN) as config:
        graph.update_state(config, {"messages": [("human", "what is 2 + 2?"), ("ai", "4")]})
    clock.forward(minutes=1)

    assert memory.reply(graph, ERIN, "how do you know that?") == "Because."
    assert memory.command(JASON, "how do you know that?") is None
    assert memory.command(JASON, "/why") == ENGLISH.why_what


@for_each(
    "said",
    [
        "why?",
        "how do you know Mia?",
        "how do you know that Mia is ill?",
        "why do you think that it rains?",
        "",
        "why " * 100,
    ],
)
def test_what_asks_something_else_is_not_taken_for_it(said):
    assert not asks_why(said)


@pytest.mark.spec("P-6")
def test_what_is_shared_tells_nothing_of_who_said_it_and_nobody_elses_shows(memory):
    memory.service.remember(JASON, "The door code is 1234", quote="it is 1234")

    assert memory.command(ERIN, "/why door code").startswith("I remember nothing like")
    share(memory.service, "The office opens at nine", with_clients=True)
    assert memory.command(ERIN, "/why office opens").splitlines()[:2] == [
        "The office opens at nine",
        "- It is shared with you.",
    ]
