"""Standing instructions and the language of their conditions."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.errors import InstructionNotFound, InvalidInput
from langmem_plugin.memory.instructions.conditions import Situation, parsed
from langmem_plugin.memory.instructions.standing_instructions import split
from tests.cases import for_each

ANNA, BEN = "+972501234567", "+972507654321"
SATURDAY_NIGHT = datetime(2026, 3, 7, 23, 30, tzinfo=UTC)
MONDAY_MORNING = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)


@pytest.mark.spec("I-1", "I-4")
def test_an_instruction_is_kept_changed_and_removed(memory, clock):
    standing = memory.instructions
    made = standing.add(ANNA, "Answer briefly", priority=3)
    assert standing.get(ANNA, made.id) == made
    clock.forward(hours=1)
    changed = standing.update(ANNA, made.id, text="Answer in one line", active=False)
    assert (changed.text, changed.active, changed.priority, changed.updated_at) == (
        "Answer in one line",
        False,
        3,
        clock(),
    )
    assert standing.list_instructions(ANNA) == []
    assert standing.list_instructions(ANNA, active_only=False) == [changed]
    assert standing.remove(ANNA, made.id) == changed
    for verb in (standing.get, standing.remove, standing.update):
        with pytest.raises(InstructionNotFound):
            verb(ANNA, made.id)


@pytest.mark.spec("P-6")
def test_instructions_of_another_owner_are_out_of_reach(memory):
    made = memory.instructions.add(ANNA, "Answer briefly")
    assert memory.instructions.list_instructions(BEN) == []
    assert memory.instructions.applicable(BEN, Situation(MONDAY_MORNING)) == []
    with pytest.raises(InstructionNotFound):
        memory.instructions.remove(BEN, made.id)
    assert memory.instructions.list_instructions(ANNA) == [made]


@pytest.mark.spec("I-2")
def test_the_highest_priority_comes_first(memory, clock):
    standing = memory.instructions
    for text, priority in (("Be patient", 2), ("Be funny", 9), ("Be casual", 2)):
        standing.add(ANNA, text, priority=priority)
        clock.forward(minutes=1)
    found = standing.applicable(ANNA, Situation(MONDAY_MORNING))
    assert [each.text for each in found] == ["Be funny", "Be casual", "Be patient"]
    assert [each.text for each in standing.list_instructions(ANNA, priority_min=3)] == ["Be funny"]


@pytest.mark.spec("I-1")
def test_an_instruction_ends_when_it_expires_and_counts_its_uses(memory, clock):
    standing = memory.instructions
    made = standing.add(ANNA, "Say that we are on holiday", expires_at=clock().replace(hour=18))
    with memory.database.write() as connection:
        memory.note_used(connection, [ANNA], {}, followed=[made.id, "no such id"])
    used = standing.get(ANNA, made.id)
    assert (used.usage_count, used.last_used) == (1, clock())
    clock.instant = clock().replace(hour=18)
    assert standing.applicable(ANNA, Situation(clock())) == []


@pytest.mark.spec("I-3")
def test_a_conditional_instruction_applies_only_where_its_condition_holds(memory):
    standing = memory.instructions
    made = standing.add(ANNA, 'If message contains "invoice" then answer with the amount first')
    assert (made.text, made.condition) == ("answer with the amount first", 'message contains "invoice"')
    quiet = standing.add(ANNA, "Be short", condition="time between 22:00 and 07:00", priority=5)
    asked = Situation(MONDAY_MORNING, message="What about the two invoices?")
    assert standing.applicable(ANNA, asked) == [made]
    assert standing.applicable(ANNA, Situation(SATURDAY_NIGHT, message="hello")) == [quiet]


@pytest.mark.spec("I-3")
def test_an_if_that_is_no_condition_is_left_to_the_model():
    assert split("If I ask about food, then be brief") == ("If I ask about food, then be brief", None)
    assert split("Answer briefly") == ("Answer briefly", None)


@pytest.mark.spec("I-3")
@for_each(
    ("condition", "situation", "holds"),
    [
        ('message contains "key"', Situation(MONDAY_MORNING, message="a turkey sandwich"), False),
        ('message contains "KEY"', Situation(MONDAY_MORNING, message="where are the keys?"), True),
        ('message contains "the order"', Situation(MONDAY_MORNING, message="about the orders"), True),
        ('message contains "factura"', Situation(MONDAY_MORNING, message="¿dónde están las facturas de ayer?"), True),
        ('message contains "חשבונית"', Situation(MONDAY_MORNING, message="מה עם החשבונית?"), True),
        ('message starts with "please"', Situation(MONDAY_MORNING, message="  Please help"), True),
        ('topic is "work" and role is not "client"', Situation(MONDAY_MORNING, topic="Work", role="client"), False),
        ('topic is "work" and role is "godfather"', Situation(MONDAY_MORNING, topic="Work", role="godfather"), True),
        ("time between 22:00 and 07:00", Situation(SATURDAY_NIGHT), True),
        ("time between 22:00 and 07:00", Situation(MONDAY_MORNING), False),
        ("time before 9:00", Situation(MONDAY_MORNING), False),
        ("time after 09:00", Situation(MONDAY_MORNING), True),
        ("day is weekend", Situation(SATURDAY_NIGHT), True),
        ("day is not monday", Situation(MONDAY_MORNING), False),
        ("date before 2026-03-09", Situation(SATURDAY_NIGHT), True),
        ("date from 2026-03-09", Situation(SATURDAY_NIGHT), False),
        ("not (day is saturday or day is sunday)", Situation(MONDAY_MORNING), True),
        ("day is monday or day is sunday and time after 22:00", Situation(MONDAY_MORNING), True),
    ],
)
def test_conditions_hold_where_they_should(condition, situation, holds):
    assert parsed(condition)(situation) is holds


@pytest.mark.spec("I-3")
@for_each(
    ("condition", "message"),
    [
        ("", "at the end: expected an opening bracket, date, day, message, topic, role"),
        ("message", "at the end: expected contains"),
        ("message contains invoice", r"at letter 18 \(invoice\): expected a text"),
        ('message contains ""', r"at letter 18 \(\"\): expected a text in \"quotes\""),
        ("time after 25:00", "a time such as 18:30"),
        ("date from 2026-02-30", "a date that exists"),
        ("day is someday", "a day of the week"),
        ("(day is monday", "a closing bracket"),
        ("day is monday day is sunday", r"at letter 15 \(day\): expected and, or, the end"),
        ("__import__('os')", r"at letter 1 \(__import__\): expected"),
        ("(" * 499, "at the end: expected an opening bracket"),
        ("day is monday or " * 40 + "day is monday", "at most 500 letters"),
    ],
)
def test_a_condition_that_cannot_be_read_says_where_and_what_was_expected(condition, message):
    with pytest.raises(InvalidInput, match=message):
        parsed(condition)


@pytest.mark.spec("I-3")
@for_each(
    ("condition", "may_hold"),
    [
        ('topic is "recipes"', True),
        ('topic is not "recipes"', True),
        ('not topic contains "recipes"', True),
        ('topic is "recipes" and day is saturday', False),
        ('not (topic is "recipes" or day is monday)', False),
        ('not (topic is "recipes" and day is monday)', True),
    ],
)
def test_a_topic_that_nobody_named_is_left_to_the_model(condition, may_hold):
    assert parsed(condition)(Situation(MONDAY_MORNING, message="dinner?")) is may_hold


@pytest.mark.spec("I-3")
def test_as_many_nots_as_fit_are_read():
    assert parsed("not " * 120 + "day is monday")(Situation(MONDAY_MORNING))


@pytest.mark.spec("I-1", "I-3")
def test_a_wrong_field_is_refused_and_nothing_is_stored(memory):
    wrong = (
        {"priority": 0},
        {"priority": 11},
        {"text": " "},
        {"text": "\x00"},
        {"expires_at": "soon"},
        {"condition": "if so"},
    )
    for field in wrong:
        with pytest.raises(InvalidInput):
            memory.instructions.add(ANNA, **({"text": "Be brief"} | field))
    made = memory.instructions.add(ANNA, "Be brief")
    for field in wrong:
        with pytest.raises(InvalidInput):
            memory.instructions.update(ANNA, made.id, **field)
    assert memory.instructions.list_instructions(ANNA) == [made]


@pytest.mark.slow
@pytest.mark.spec("I-3")
@given(st.text(max_size=60))
def test_any_text_is_either_a_condition_or_refused(text):
    try:
        condition = parsed(text)
    except InvalidInput:
        return
    assert condition(Situation(MONDAY_MORNING)) in (True, False)
