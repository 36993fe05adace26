"""Standing orders in what people say. The cases of `*_judge.tsv` were written before the rules, and not with them.

Each line: what to do or "-" for none, its condition, priority and end, and the message.
"""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.facts.instruction_recognition import instruction_in, instructions_in, order_of
from langmem_plugin.memory.instructions.conditions import parsed
from tests.cases import for_each

CASES = {
    path.stem: [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    for path in sorted((Path(__file__).parent / "orders").glob("*.tsv"))
}
WEDNESDAY = datetime(2026, 3, 4, 15, 0, tzinfo=ZoneInfo("Asia/Jerusalem"))


def understood(message):
    found = instruction_in(message)
    if found is None:
        return ["-", "", "", ""]
    ends = found.ends(WEDNESDAY)
    until = f"{ends:%Y-%m-%dT%H:%M}" if ends else ""
    return [found.text.casefold(), found.condition or "", str(found.priority or ""), until]


def wrong(cases):
    return [case[4] for case in cases if understood(case[4]) != [case[0].casefold(), *case[1:4]]]


@pytest.mark.spec("I-1", "I-3")
@for_each("file", [each for each in CASES if each.endswith("_seen")])
def test_the_cases_that_the_rules_were_written_with_are_understood(file):
    assert wrong(CASES[file]) == []


@pytest.mark.spec("I-1", "I-3")
@for_each("file", [each for each in CASES if each.endswith("_judge")])
def test_of_unseen_cases_nothing_else_is_taken_for_an_order_and_nearly_all_orders_are_understood(file):
    assert [case[4] for case in CASES[file] if case[0] == "-" and instruction_in(case[4])] == []
    assert len(wrong(CASES[file])) <= 0.05 * len(CASES[file])


@pytest.mark.spec("I-1")
def test_an_order_keeps_the_persons_own_words_and_is_one_of_several_in_a_message():
    first, second = instructions_in("Hi! From now on, answer in one line. It’s late. Don’t ever use emojis, please.")

    assert (first.text, first.quote) == ("answer in one line", "From now on, answer in one line.")
    assert (second.text, second.quote) == ("Don’t ever use emojis", "Don’t ever use emojis, please.")


@pytest.mark.spec("I-1")
def test_what_to_call_somebody_is_marked_as_a_fact_too():
    assert instruction_in("call me Dani from now on").names
    assert instruction_in("llámame Dani de ahora en adelante").names
    assert instruction_in("מעכשיו תקרא לי דני").names
    assert not instruction_in("from now on answer in Spanish").names


@pytest.mark.spec("I-1")
@for_each(
    ("until", "ends"),
    [
        ("for today", "2026-03-05T00:00"),
        ("for the next 7 days", "2026-03-12T00:00"),
        ("for 90 minutes", "2026-03-04T16:30"),
        ("until Wednesday", "2026-03-12T00:00"),  # on a Wednesday the next one is meant
        ("until Thursday", "2026-03-06T00:00"),
        ("until March 1", "2027-03-02T00:00"),
        ("until December 31", "2027-01-01T00:00"),
        ("until the end of the week", "2026-03-09T00:00"),
        ("until the end of the month", "2026-04-01T00:00"),
        ("until the end of the year", "2027-01-01T00:00"),
    ],
)
def test_an_end_is_the_last_day_that_was_named_where_the_person_is(until, ends):
    found = instruction_in(f"from now on be brief {until}").ends(WEDNESDAY)
    assert f"{found:%Y-%m-%dT%H:%M}" == ends
    assert found.tzinfo == WEDNESDAY.tzinfo


@pytest.mark.spec("I-1")
@for_each(
    ("said", "text", "until"),
    [
        ("from now on until 2026-12-31 be brief", "be brief", "2027-01-01T00:00"),
        ("from now on be brief until the end of the month", "be brief", "2026-04-01T00:00"),
        ("for the next two hours answer in one line", "answer in one line", "2026-03-04T17:00"),
        ("from now on be brief until 31 December", "be brief", "2027-01-01T00:00"),
        ("from now on be brief until February 30", "be brief until February 30", ""),
        ("from now on be brief until I say otherwise", "be brief until I say otherwise", ""),
        ("מעכשיו תענה בקצרה עד סוף החודש", "תענה בקצרה", "2026-04-01T00:00"),
        ("de ahora en adelante sé breve hasta el 31 de diciembre", "sé breve", "2027-01-01T00:00"),
    ],
)
def test_an_end_that_a_calendar_has_is_taken_out_of_the_text(said, text, until):
    assert understood(said) == [text.casefold(), "", "", until]


@pytest.mark.spec("I-3")
@for_each(
    ("said", "text", "condition"),
    [
        ("if I ask about recipes then be brief", "be brief", 'topic is "recipes"'),
        ("on Mondays be formal", "be formal", "day is monday"),
        ("be formal between 9 and 17:30", "be formal", "time between 09:00 and 17:30"),
        ("before 7am be quiet", "be quiet", "time before 07:00"),
        ("los lunes sé formal", "sé formal", "day is monday"),
        ("אחרי 22:00 תענה בקצרה", "תענה בקצרה", "time after 22:00"),
    ],
)
def test_a_text_known_to_be_an_order_gives_its_condition_without_any_from_now_on(said, text, condition):
    found = order_of(said)

    assert (found.text, found.condition) == (text, condition)
    assert parsed(condition)


@pytest.mark.spec("I-3")
def test_an_order_with_nothing_to_take_out_of_it_is_left_as_it_is():
    assert order_of("be brief") is None
    assert order_of("if in doubt then ask") is None
    assert order_of("at 25:00 be brief") is None


@pytest.mark.spec("W-7")
@for_each(
    "text",
    [
        "> from now on answer in Spanish",
        "```\nnever use emojis\n```",
        "-----Forwarded message-----\nnever use emojis",
        "“From now on answer in Spanish.”",
        "from now on answer in Spanish " + "and so on " * 400,
        "- never use emojis",
        "",
        "\ud83d",
    ],
)
def test_what_is_quoted_forwarded_or_pasted_is_nobodys_order(text):
    assert instructions_in(text) == []


@pytest.mark.spec("I-3")
@given(
    st.text(
        alphabet=st.sampled_from("never use emojis from now on, when I ask about X:.?!\n\"'מעכשיו תמיד nunca"),
        max_size=200,
    )
)
def test_whatever_is_said_its_conditions_can_be_read_and_there_are_five_orders_at_most(text):
    found = instructions_in(text)

    assert len(found) <= 5
    assert all(each.text.strip() for each in found)
    assert all(parsed(each.condition) for each in found if each.condition)


@pytest.mark.spec("I-3")
@for_each("topic", ["it's", "“the car”", 'the "big" sale', "a" * 60, "C++"])
def test_a_topic_of_any_letters_makes_a_condition_that_can_be_read(topic):
    found = instruction_in(f"whenever I ask about {topic}, be brief")

    assert found is not None
    assert parsed(found.condition)
    assert found.ends(datetime(2026, 3, 4, tzinfo=UTC)) is None
