"""Commands in plain words. The cases of `*_judge.tsv` were written before the rules and are not used to write them.

Each line: the command or "-" for the agent, what follows it, and the text.
"""

from pathlib import Path

import pytest

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.commands.recognition import cleaned, said
from langmem_plugin.settings import Settings
from tests.cases import for_each

ERIN = "+972501234567"
CASES = {
    path.stem: [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    for path in sorted((Path(__file__).parent / "spoken").glob("*.tsv"))
}


def understood(text):
    """As the files say it; a full stop at the end says nothing."""
    found = said(cleaned(text))
    return (found.command, found.rest.rstrip(".!")) if found else ("-", "")


@pytest.mark.spec("U-2", "W-1", "I-4", "M-9")
@for_each("file", [each for each in CASES if each.endswith("_seen")])
def test_the_cases_that_the_rules_were_written_with_are_understood(file):
    assert [text for command, rest, text in CASES[file] if understood(text) != (command, rest)] == []


@pytest.mark.spec("U-2", "W-1", "I-4", "M-9")
@for_each("file", [each for each in CASES if each.endswith("_judge")])
def test_of_unseen_cases_no_text_is_taken_from_the_agent_and_nearly_all_commands_are_understood(file):
    cases = CASES[file]
    wrong = [text for command, rest, text in cases if understood(text) != (command, rest)]

    assert [text for command, _, text in cases if command == "-" and understood(text)[0] != "-"] == []
    assert len(wrong) <= 0.05 * len(cases), wrong


def test_each_language_has_sixty_cases_and_half_of_them_are_unseen():
    for language in ("english", "hebrew", "spanish"):
        seen, unseen = len(CASES[f"{language}_seen"]), len(CASES[f"{language}_judge"])
        assert unseen >= 30
        assert seen + unseen >= 60


@pytest.mark.spec("U-2", "W-1")
def test_remembering_in_plain_words_is_answered_like_the_command(memory):
    assert memory.command(ERIN, "Please remember that I'm vegan.") == "✅ Remembered: I'm vegan."
    assert memory.command(ERIN, "תזכור שאני גר בחיפה") == "✅ נזכר: אני גר בחיפה"
    assert memory.command(ERIN, "Recuerda que tengo dos gatos") == "✅ Recordado: tengo dos gatos"
    kept = {each.text for each in memory.service.list_memories(ERIN)}
    assert kept == {"I'm vegan.", "אני גר בחיפה", "tengo dos gatos"}


@pytest.mark.spec("U-2")
def test_forgetting_in_plain_words_shows_what_it_found_and_asks(memory):
    memory.command(ERIN, "/remember I am allergic to penicillin")

    assert memory.command(ERIN, "forget that I'm allergic to penicillin").startswith("Shall I forget this? I am")
    assert memory.command(ERIN, "yes") == "🗑️ Forgotten: I am allergic to penicillin"


@pytest.mark.spec("I-3", "I-4")
def test_from_now_on_adds_a_standing_instruction_with_its_condition(memory):
    assert memory.command(ERIN, "From now on answer in one sentence.") == "✅ From now on: answer in one sentence"
    told = memory.command(ERIN, "from now on, if time after 22:00 then be brief")

    assert told == "✅ From now on: if time after 22:00: be brief"
    found = {each.text: each.condition for each in memory.instructions.list_instructions(ERIN)}
    assert found == {"answer in one sentence": None, "be brief": "time after 22:00"}


@pytest.mark.spec("M-9")
@for_each(
    ("asked", "nothing"),
    [
        ("What do you remember about me?", "I remember nothing yet"),
        ("מה אתה זוכר עליי?", "אני עדיין לא זוכר"),
        ("¿Qué sabes de mí?", "Todavía no recuerdo"),
    ],
)
def test_what_is_there_is_listed_by_kind_at_any_place_of_a_talk(memory, graph_of, scripted, asked, nothing):
    graph = graph_of(scripted())
    assert memory.reply(graph, ERIN, asked).startswith(nothing)
    memory.reply(graph, ERIN, "hello")
    memory.service.remember(ERIN, "I drink tea", fact_type="preference")
    memory.service.remember(ERIN, "I live in Haifa", fact_type="personal")
    memory.service.remember(ERIN, "I drink milk", fact_type="preference")

    lines = memory.reply(graph, ERIN, asked).splitlines()

    assert [line.split(" (")[0] for line in lines if line[0].isdecimal()] == [
        "1. I drink milk",
        "2. I drink tea",
        "3. I live in Haifa",
    ]
    assert "(3)" in lines[0]
    assert len(lines) == 6  # and a heading above each kind


@pytest.mark.spec("P-8", "U-2")
def test_without_a_long_term_memory_plain_words_belong_to_the_agent(database_url, clock, offline_model):
    settings = Settings(longterm=False)
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock) as memory:
        assert memory.command(ERIN, "remember that I'm vegan") is None
        assert memory.command(ERIN, "/instructions be brief") == "Memory system is disabled"
        assert memory.command(ERIN, "/undo") == "Memory system is disabled"
        assert "/help" in memory.command(ERIN, "/help")


@pytest.mark.spec("U-2", "P-4")
@for_each(
    "text",
    [
        *("forget everything", "Forget everything you know about me.", "תשכח הכל", "olvida todo"),
        *("delete all my data", "please erase my data", "תמחק את כל המידע שלי", "borra todos mis datos"),
    ],
)
def test_who_wants_everything_forgotten_is_asked_first_as_by_the_command(memory, text):
    memory.command(ERIN, "/remember I am vegan")
    asked = memory.command(ERIN, text)
    assert asked is not None
    assert len(memory.service.list_memories(ERIN)) == 1
    memory.command(ERIN, "no")
    assert len(memory.service.list_memories(ERIN)) == 1
    assert memory.command(ERIN, text) == asked
    memory.command(ERIN, "yes")
    assert memory.service.list_memories(ERIN) == []


@pytest.mark.spec("U-2", "W-1")
def test_a_colon_stands_for_that(memory):
    assert memory.command(ERIN, "Remember: TestCorp owes me 5") == "✅ Remembered: TestCorp owes me 5"
    assert memory.command(ERIN, "Remember: buy milk") is None


@pytest.mark.spec("U-2", "W-1")
def test_a_hebrew_name_loses_no_letter_that_means_that(memory):
    assert memory.command(ERIN, "זכור שרה אלרגית לבוטנים") is None
    assert memory.command(ERIN, "זכור ששרה אלרגית לבוטנים") == "✅ נזכר: שרה אלרגית לבוטנים"
