"""Offline, with no model and no key, what people plainly say of themselves is remembered."""

import pytest

from langmem_plugin.writing.rule_extraction import may_hold_a_fact
from tests.writing.extraction.conftest import kept
from tests.writing.extraction.test_model_extraction import said

ERIN = "+972501234567"


@pytest.mark.spec("W-2", "W-4")
@pytest.mark.parametrize(
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


@pytest.mark.spec("W-2")
def test_a_model_is_asked_only_about_what_may_hold_something():
    assert may_hold_a_fact(said("I'm allergic to peanuts"))
    assert may_hold_a_fact(said("Italian or Asian", before="Which cuisine do you like?"))
    assert not may_hold_a_fact(said("what's the weather?"))
    assert not may_hold_a_fact(said("book a table for 2 tonight"))
