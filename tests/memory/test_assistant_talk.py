"""Talk with an assistant goes on with what was begun; people who chat with each other may come back to anything."""

from datetime import timedelta

import pytest

from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.memory_types import Filter
from tests.cases import for_each

ANNA = "+972501234567"


def talked(memory, clock, first, second, *, days=5):
    """The same talk of the two once a day, in sessions s0, s1, …; the clock stands a day after the last."""
    for day in range(days):
        said = [
            PastMessage(f"{day}-1", f"s{day}", first, "Where are we with the wedding plan?", clock()),
            PastMessage(f"{day}-2", f"s{day}", second, "The hall is booked", clock() + timedelta(minutes=1)),
        ]
        memory.history.add(ANNA, said)
        clock.forward(days=1)


def sessions(memory, question, **how):
    found = memory.history.search(ANNA, question, limit=50, **how)
    return list(dict.fromkeys(each.message.session_id for each in found))


@pytest.mark.spec("M-7")
def test_of_talks_of_equal_meaning_with_an_assistant_the_later_comes_first(memory, clock):
    talked(memory, clock, "user", "assistant")

    assert sessions(memory, "the plan for the wedding", mode="semantic") == ["s4", "s3", "s2", "s1", "s0"]


@pytest.mark.spec("M-7")
@for_each("mode", ["hybrid", "text"])
def test_of_equal_talks_with_an_assistant_the_newest_comes_first_then_the_one_that_began_it(memory, clock, mode):
    talked(memory, clock, "user", "assistant")

    assert sessions(memory, "the plan for the wedding", mode=mode)[:3] == ["s4", "s0", "s3"]


@pytest.mark.spec("M-7")
@for_each(("first", "second"), [("Gina", "Jon"), ("user", "user")])
def test_between_people_and_in_notes_it_does_not_matter_when_it_was(memory, clock, first, second):
    talked(memory, clock, first, second)

    found = memory.history.search(ANNA, "the plan for the wedding", limit=50)

    assert len({round(each.score, 4) for each in found if each.message.text.startswith("Where")}) == 1


@pytest.mark.spec("M-7")
def test_a_day_that_is_named_counts_and_not_how_late_it_is(memory, clock):
    talked(memory, clock, "user", "assistant", days=60)
    asked_of = f"{clock() - timedelta(days=60):%Y-%m-%d}"

    assert sessions(memory, f"What did we say about the wedding plan on {asked_of}?")[0] == "s0"


@pytest.mark.slow
@pytest.mark.spec("M-7")
def test_what_was_said_long_ago_is_found_behind_many_later_talks(memory, clock):
    memory.history.add(
        ANNA,
        [
            PastMessage("q", "old", "user", "Who repairs espresso machines?", clock()),
            PastMessage("a", "old", "assistant", "Katz in the harbour does", clock() + timedelta(minutes=1)),
        ],
    )
    clock.forward(days=1)
    talked(memory, clock, "user", "assistant", days=150)

    assert sessions(memory, "espresso machines")[0] == "old"


def one_subject_among_others(memory, clock, first, second):
    """s0 and s1 are about one trip, of which only s0 has its name; s2 to s5, said later, are about other things."""
    talks = [
        ("Where are we with the Kyoto trip?", "The ryokan in Gion is booked, the temple garden wants a postcard"),
        ("I mailed the postcard to the temple garden", "Then the ryokan in Gion has to know the day"),
        ("Which wine goes with fish?", "A dry white one, such as a Riesling"),
        ("My knee hurts after squats", "Leave them out this week"),
        ("The invoice of the printer is wrong", "Write to their accountant"),
        ("I cannot sleep", "Read something dull before bed"),
    ]
    for number, (asked, answered) in enumerate(talks):
        said = [
            PastMessage(f"{number}-1", f"s{number}", first, asked, clock()),
            PastMessage(f"{number}-2", f"s{number}", second, answered, clock() + timedelta(minutes=1)),
        ]
        memory.history.add(ANNA, said)
        clock.forward(days=1)


@pytest.mark.spec("M-7")
def test_a_talk_that_goes_on_with_the_one_found_is_found_with_it(memory, clock):
    one_subject_among_others(memory, clock, "user", "assistant")

    assert set(sessions(memory, "the Kyoto trip", mode="text")[:2]) == {"s0", "s1"}


@pytest.mark.spec("M-7")
def test_between_people_a_talk_gains_nothing_by_those_like_it(memory, clock):
    one_subject_among_others(memory, clock, "Gina", "Jon")

    found = memory.history.search(ANNA, "the Kyoto trip", mode="text", limit=50)

    assert {each.score for each in found if each.message.session_id != "s0"} == {0.0}


@pytest.mark.spec("M-7")
def test_talks_that_the_filter_leaves_out_lend_nothing(memory, clock):
    one_subject_among_others(memory, clock, "user", "assistant")

    only = Filter(sessions=["s1", "s2", "s3"])

    assert sessions(memory, "the Kyoto trip", mode="text", where=only) == ["s3", "s2", "s1"]


def said_in(memory, clock, *talks):
    """Talks of a person with an assistant, one a day, in sessions s0, s1, …"""
    for number, (asked, answered) in enumerate(talks):
        said = [
            PastMessage(f"{number}-1", f"s{number}", "user", asked, clock()),
            PastMessage(f"{number}-2", f"s{number}", "assistant", answered, clock() + timedelta(minutes=1)),
        ]
        memory.history.add(ANNA, said)
        clock.forward(days=1)


@pytest.mark.spec("M-7")
def test_the_talk_that_brought_a_word_up_comes_before_those_in_the_midst_of_it(memory, clock):
    said_in(memory, clock, *[("The Kyoto trip again", "Noted, as before") for _ in range(7)])

    found = sessions(memory, "the Kyoto trip", mode="text")

    assert found[0] == "s6"
    assert found.index("s0") < found.index("s3")


@pytest.mark.spec("M-7")
def test_of_talks_that_say_the_same_the_one_in_which_the_person_told_more_comes_first(memory, clock):
    told = "The Kyoto trip: my sister comes along, she eats no fish, wants quiet rooms, early trains and a garden a day"
    said_in(
        memory,
        clock,
        (told, "Noted"),
        ("The Kyoto trip", "Your sister comes along, eats no fish, wants quiet rooms, early trains and a garden a day"),
        ("Which wine goes with fish?", "A dry white one, such as a Riesling"),
    )

    assert sessions(memory, "the Kyoto trip", mode="text")[0] == "s0"


@pytest.mark.spec("M-7")
@for_each("question", ["of the", "zeppelin"])
def test_questions_of_words_that_nobody_said_do_no_harm(memory, clock, question):
    said_in(memory, clock, ("The Kyoto trip", "Noted"), ("My knee hurts", "Leave the squats out"))

    memory.history.search(ANNA, question, mode="text")
