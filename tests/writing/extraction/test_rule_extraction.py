"""Offline, with no model and no key, what people plainly say of themselves is remembered."""

from datetime import UTC, datetime

import pytest

from tests.cases import for_each
from tests.writing.extraction.conftest import kept

ERIN = "+972501234567"


@pytest.mark.spec("W-2", "W-4")
@for_each(
    ("text", "slot"),
    [("My dentist is Dr. Cohen", "self/dentist"), ("Vivo en Haifa", "self/home"), ("אני גר בחיפה", "self/home")],
)
@pytest.mark.usefixtures("real_rules")
def test_what_people_plainly_say_is_remembered_by_the_rules(opened, says, text, slot):
    memory = opened()
    says(memory, ERIN, "hello", f"{text}.", "what's the weather?", "book a table for 2 tonight")
    [made] = memory.extract(ERIN)

    assert (made.slot, made.quote.rstrip("."), made.status) == (slot, text, "active")
    assert kept(memory, ERIN) == [made.text]


@pytest.mark.spec("W-9")
@pytest.mark.usefixtures("real_rules")
def test_what_the_next_message_corrects_is_not_believed_and_what_was_stored_already_is_asked_about(opened, says, clock):
    memory = opened()
    says(memory, ERIN, "I live in Ghent", "*Bruges")
    assert memory.extract(ERIN) == []

    says(memory, ERIN, "My dentist is Dr. Cohen")
    [made] = memory.extract(ERIN)
    clock.forward(seconds=5)
    says(memory, ERIN, "sorry, Dr. Levi")
    memory.extract(ERIN)
    assert (kept(memory, ERIN), kept(memory, ERIN, "pending")) == ([], [made.text])


@pytest.mark.spec("W-9")
@pytest.mark.usefixtures("real_rules")
def test_what_the_next_message_asks_not_to_keep_is_forgotten(opened, says, clock):
    memory = opened()
    says(memory, ERIN, "My dentist is Dr. Cohen")
    assert len(memory.extract(ERIN)) == 1
    clock.forward(seconds=5)
    says(memory, ERIN, "don't save that please")
    memory.extract(ERIN)

    assert kept(memory, ERIN, "active", "pending") == []


@pytest.mark.spec("W-8")
@pytest.mark.usefixtures("real_rules")
def test_yesterday_is_the_day_before_by_the_persons_own_clock(opened, says, clock):
    memory = opened()
    memory.command(ERIN, "/timezone America/New_York")
    clock.instant = datetime(2026, 3, 5, 2, tzinfo=UTC)
    says(memory, ERIN, "I moved to York yesterday")
    [made] = memory.extract(ERIN)

    assert "3 March 2026" in made.text


@pytest.mark.spec("W-2")
@pytest.mark.usefixtures("real_rules")
def test_without_a_model_what_is_laughed_at_is_not_believed(opened, says):
    memory = opened()
    says(memory, ERIN, "I live in a volcano hahaha")

    assert memory.extract(ERIN) == []
