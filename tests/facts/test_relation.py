"""What a new fact does to an old one: losing a fact is worst, so both stay when in doubt."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.facts import Slot, relation, resting_on, statement_of

pytestmark = pytest.mark.spec("W-6")

SAID_AT = datetime(2026, 11, 22, 20, tzinfo=UTC)
FACTS = (
    "I live in Haifa",
    "I moved to Tel Aviv",
    "I work at Acme",
    "I'm allergic to peanuts",
    "I like tea",
    "I don't like tea",
    "My daughter Mia is 6",
    "Mia is 7 years old",
    "My dentist is Dr. Levi",
    "TestCorp owes me 5000",
    "We have a dog called Rufus",
    "אני גר בחיפה",
    "Vivo en Madrid",
    "something else entirely",
    "",
)


def of(new, old):
    return relation(statement_of(new, SAID_AT), statement_of(old, SAID_AT)).kind


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("testcorp owes me 5k", "TestCorp owes me 5000"),
        ("TestCorp owes five thousand", "TestCorp owes me ₪5,000"),
        ("my home is in tel aviv", "I moved to Tel Aviv"),
        ("I have a peanut allergy", "I'm allergic to peanuts"),
        ("i am a vegetarian", "I'm vegetarian"),
        ("My mother's birthday is May 3rd", "Mom's birthday is 3 May"),
        ("choir practice: mondays, half past six in the evening", "My choir practice is on Mondays at 18:30"),
        ("I get up at six in the morning on weekdays", "On weekdays I wake up at 6 am"),
        ("Mia, my daughter, is six years old", "My daughter Mia is 6"),
        ("Our dog's name is Rufus", "We have a dog called Rufus"),
        ("my phone number is 555 0199", "My phone number is 555-0199"),
        ("גלים חייבים לי חמשת אלפים ש״ח", "חברת גלים חייבת לי 5000 שקל"),
        ("mi casa está en valencia", "Me mudé a Valencia"),
        ("mi dentista es la dra ortega", "Mi dentista es la Dra. Ortega"),
    ],
)
def test_the_same_in_other_words_is_a_duplicate(new, old):
    assert of(new, old) == "duplicate"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I moved to Tel Aviv", "I live in Haifa"),
        ("Mia turned 7 today", "My daughter Mia is 6"),
        ("Dan moved to Lyon", "My brother Dan lives in Paris"),
        ("I don't like coffee anymore", "I like coffee"),
        ("I sold the Yaris", "I have a red Toyota Yaris"),
        ("I eat meat again", "I'm vegetarian"),
        ("I quit my job at Brightwave", "I work at Brightwave"),
        ("TestCorp doesn't owe me anything anymore", "TestCorp owes me 3000"),
        ("actually it's Dana, not Dina", "My sister's name is Dina"),
        ("I gave up on the half marathon", "I want to run a half marathon"),
        ("אני כבר לא טבעונית", "אני טבעונית"),
        ("Ya no trabajo en Nubelia", "Trabajo en Nubelia"),
    ],
)
def test_another_value_and_the_end_of_one_take_its_place(new, old):
    assert of(new, old) == "supersedes"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("I'm allergic to penicillin", "I'm allergic to peanuts"),
        ("I like coffee too", "I like tea"),
        ("My daughter Mia is allergic to peanuts", "I'm allergic to peanuts"),
        ("My sister Eve lives in Paris", "My brother Dan lives in Paris"),
        ("My son Leo is 3", "My daughter Mia is 6"),
        ("Harbor Logistics pays us 900 a month", "Harbor Foods pays us 1200 a month"),
        ("On weekends I wake up at 9 am", "On weekdays I wake up at 6 am"),
        ("My work address is 80 Quay Street", "My home address is 12 Elm Court"),
        ("I no longer work at Acme", "I work at Northwind"),
        ("My wife works at Acme", "I work at Acme"),
        ("my daughter is 7", "my daughter Mia is 6"),
        ("We have a cat called Olive", "We have a dog called Rufus"),
        ("I'm allergic to pine nuts", "I'm allergic to nuts"),
        ("Mi hermano Luis vive en Madrid", "Me mudé a Valencia"),
        ("something else entirely", "I live in Haifa"),
    ],
)
def test_what_can_both_be_so_is_kept(new, old):
    assert of(new, old) in ("keeps_both", "unrelated")


@given(st.sampled_from(FACTS))
def test_a_fact_told_again_is_a_duplicate(text):
    assert of(text, text) == "duplicate"


@given(st.sampled_from(FACTS) | st.text(max_size=40), st.sampled_from(FACTS) | st.text(max_size=40))
def test_any_two_facts_have_a_relation_with_its_reason(new, old):
    found = relation(statement_of(new), statement_of(old))

    assert found.kind in ("duplicate", "supersedes", "keeps_both", "unrelated")
    assert found.reason


def test_who_moved_may_have_another_gym_but_no_other_birthday():
    moved = Slot("self", "home", single=True)

    assert "self/gym" in resting_on(moved)
    assert "self/birthday" not in resting_on(moved)
    assert "daughter mia/gym" not in resting_on(moved)
    assert "self/gym" not in resting_on(Slot("daughter mia", "home", single=True))
    assert "self/salary" in resting_on(Slot("self", "employer", single=True))
