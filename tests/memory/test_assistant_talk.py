"""Talk with an assistant goes on with what was begun; people who chat with each other may come back to anything."""

from datetime import timedelta

import pytest

from langmem_plugin.memory.search.message_rows import PastMessage

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
@pytest.mark.parametrize("mode", ["hybrid", "text", "semantic"])
def test_of_equal_talks_with_an_assistant_the_later_comes_first(memory, clock, mode):
    talked(memory, clock, "user", "assistant")

    assert sessions(memory, "the plan for the wedding", mode=mode) == ["s4", "s3", "s2", "s1", "s0"]


@pytest.mark.spec("M-7")
@pytest.mark.parametrize(("first", "second"), [("Gina", "Jon"), ("user", "user")])
def test_between_people_and_in_notes_it_does_not_matter_when_it_was(memory, clock, first, second):
    talked(memory, clock, first, second)

    found = memory.history.search(ANNA, "the plan for the wedding", limit=50)

    assert len({round(each.score, 4) for each in found if each.message.text.startswith("Where")}) == 1


@pytest.mark.spec("M-7")
def test_a_day_that_is_named_counts_and_not_how_late_it_is(memory, clock):
    talked(memory, clock, "user", "assistant", days=60)
    asked_of = f"{clock() - timedelta(days=60):%Y-%m-%d}"

    assert sessions(memory, f"What did we say about the wedding plan on {asked_of}?")[0] == "s0"


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
