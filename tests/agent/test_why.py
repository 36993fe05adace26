"""/why: who said it when, in which words, in place of what."""

import re

import pytest

ERIN, JASON = "+972501234567", "+972501234568"

pytestmark = pytest.mark.spec("M-12", "A-1")


def test_an_id_and_words_tell_the_words_it_is_from(memory, clock):
    made = memory.service.remember(
        ERIN, "Drinks tea", quote="I only drink tea", source_type="extracted_from_chat", said_at=clock()
    )
    by_words = memory.command(ERIN, "/why tea")

    assert by_words.splitlines() == [
        f"Drinks tea [{made.id[:8]}]",
        "- You said on 2026-03-01 11:00: “I only drink tea”",
    ]
    assert memory.command(ERIN, f"/why {made.id}").splitlines() == by_words.splitlines()
    assert memory.command(ERIN, f"/why [{made.id[:8].upper()}]").splitlines() == by_words.splitlines()


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
        re.sub(r" \([\d-]+\)", "", line.split(". ", 1)[1]) for line in listed
    ]
    for wrong in ("4", "0", "9999", "²", "\ud83d", "99999999999999"):
        assert memory.command(ERIN, f"/why {wrong}").startswith("I remember nothing like")


@pytest.mark.spec("P-6")
def test_nobody_elses_is_explained(memory):
    memory.service.remember(JASON, "The door code is 1234", quote="it is 1234")

    assert memory.command(ERIN, "/why door code").startswith("I remember nothing like")


def test_what_it_took_the_place_of_is_told(memory, clock):
    memory.command(ERIN, "/remember I live in Leeds")
    clock.forward(days=1)
    memory.command(ERIN, "/remember I moved to York")

    assert "Until 2026-03-02 11:00 it was: I live in Leeds" in memory.command(ERIN, "/why York")


def test_without_words_it_says_what_can_be_asked(memory):
    assert memory.command(ERIN, "/why").startswith("What shall I explain?")
