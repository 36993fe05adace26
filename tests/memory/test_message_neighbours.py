"""A found message comes with what was said around it: never of another session, never twice, never as it was not."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from langmem_plugin.database.memory_tables import history_message
from langmem_plugin.memory import Filter
from langmem_plugin.memory.find.corpus import Corpus, Entry
from langmem_plugin.memory.find.message_search import around, once
from langmem_plugin.memory.find.past_messages import PastMessage, nearest_words
from tests.cases import for_each

EARLY = datetime(1970, 1, 1, tzinfo=UTC)
ANNA, BEN = "+972501234567", "+972507654321"

TALK = [
    ("s1", "user", "Good morning"),
    ("s1", "user", "Who repairs espresso machines?"),
    ("s1", "assistant", "Katz in the harbour does"),
    ("s1", "user", "No, he retired"),
    ("s1", "assistant", "Then ask Levi"),
    ("s2", "user", "What rhymes with orange?"),
    ("s2", "assistant", "Nothing does"),
]


@pytest.fixture
def talk(memory, clock):
    messages = [
        PastMessage(f"m{number}", session, speaker, text, clock() + timedelta(minutes=number))
        for number, (session, speaker, text) in enumerate(TALK)
    ]
    memory.history.add(ANNA, messages)
    return messages


def ids(shown):
    return [each.message.message_id for each in shown]


@pytest.mark.spec("M-7")
@for_each(
    ("neighbours", "before", "after"),
    [
        (0, [], []),
        (1, [], ["m3"]),
        (2, ["m1"], ["m3"]),
        (4, ["m0", "m1"], ["m3", "m4"]),
        (100, ["m0", "m1"], ["m3", "m4"]),
    ],
)
def test_a_message_comes_with_so_many_of_its_own_session(memory, talk, neighbours, before, after):
    memory.history.add(BEN, [PastMessage("b", "s1", "user", "Katz in the harbour is mine", talk[2].said_at)])

    [found] = memory.history.search(ANNA, "Katz in the harbour", limit=1, neighbours=neighbours)

    assert found.message == talk[2]
    assert (ids(found.before), ids(found.after)) == (before, after)


@pytest.mark.spec("M-7")
def test_the_ends_of_a_session_have_nothing_beyond(memory, talk):
    [first] = memory.history.search(ANNA, "What rhymes with orange?", limit=1, neighbours=2)

    assert (first.message, ids(first.before), ids(first.after)) == (talk[5], [], ["m6"])


@pytest.mark.spec("M-7")
def test_two_hits_beside_each_other_give_nothing_twice(memory, talk):
    found = memory.history.search(ANNA, "Does Katz in the harbour repair espresso machines?", limit=2, neighbours=2)

    given = [each for hit in found for each in (*ids(hit.before), hit.message.message_id, *ids(hit.after))]
    assert sorted(given) == ["m0", "m1", "m2", "m3"]


@pytest.mark.spec("W-6", "M-7")
def test_a_neighbour_that_was_corrected_is_marked_and_one_that_was_forgotten_is_left_out(memory, clock):
    said = ["I live in Haifa", "The espresso machine is broken", "I am allergic to peanuts"]
    messages = [PastMessage(f"m{n}", "s1", "user", text, clock() + timedelta(minutes=n)) for n, text in enumerate(said)]
    memory.history.add(ANNA, messages)
    clock.forward(hours=1)
    for message in (messages[0], messages[2]):
        memory.remember(
            ANNA,
            message.text,
            session_id="s1",
            source_id=message.message_id,
            said_at=message.said_at,
            quote=message.text,
        )
    memory.remember(ANNA, "I live in Madrid")
    [allergy] = [each for each in memory.list_memories(ANNA) if "peanuts" in each.text]
    memory.forget(ANNA, allergy.id)

    [found] = memory.history.search(ANNA, "the espresso machine", limit=1, neighbours=2)

    assert [each.note for each in found.before] == ["(corrected since: I live in Madrid)"]
    assert found.after == ()


@pytest.mark.spec("M-7")
def test_a_filter_holds_for_neighbours_too(memory, talk):
    late = Filter(created_after=talk[2].said_at)

    [found] = memory.history.search(ANNA, "Katz in the harbour", limit=1, neighbours=2, where=late)

    assert (ids(found.before), ids(found.after)) == ([], ["m3"])


@pytest.mark.spec("M-7")
def test_what_was_said_days_apart_in_one_session_is_no_neighbour(memory, clock):
    said = [
        PastMessage(f"m{day}", "chat", "user", f"word {day}", clock() + timedelta(days=2 * day)) for day in range(3)
    ]
    memory.history.add(ANNA, said)

    [found] = memory.history.search(ANNA, "word 1", limit=1, neighbours=2, mode="text")

    assert (found.before, found.after) == ((), ())


@pytest.mark.spec("C-4")
def test_a_removed_session_is_nobodys_neighbour(memory, talk):
    memory.history.search(ANNA, "Katz", neighbours=2)
    memory.history.remove_sessions(ANNA, ["s1"])

    found = memory.history.search(ANNA, "Katz in the harbour", neighbours=4)

    assert {each.message.session_id for hit in found for each in (*hit.before, hit, *hit.after)} == {"s2"}


@pytest.mark.spec("M-18")
def test_a_damaged_neighbour_is_never_shown(memory, talk):
    with memory.database.write() as connection:
        connection.execute(update(history_message).where(history_message.c.message_id == "m3").values(text="Nonsense"))

    [found] = memory.history.search(ANNA, "Katz in the harbour", limit=1, neighbours=4)

    assert (ids(found.before), ids(found.after)[-1:]) == (["m0", "m1"], ["m4"])
    assert "m3" not in ids(found.after)


@pytest.mark.spec("M-7")
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=12),
    st.integers(0, 5),
    st.data(),
)
def test_nothing_is_given_twice_and_nothing_of_another_session(said, neighbours, data):
    corpus = Corpus()
    for number, (session, minute) in enumerate(said):
        corpus.put(Entry(f"m{number}", "word", None, minute * 60_000_000, f"s{session}", "user"))
    found = data.draw(st.lists(st.sampled_from(corpus.ids), unique=True))
    shown = data.draw(st.lists(st.sampled_from(found), unique=True)) if found else []

    near = once(shown, around(corpus, found, neighbours, Filter(), EARLY))

    given = [*shown, *(each for sides in near.values() for side in sides for each in side)]
    assert len(given) == len(set(given))
    session_of = {f"m{number}": session for number, (session, _) in enumerate(said)}
    for message_id, sides in near.items():
        assert {session_of[each] for side in sides for each in side} <= {session_of[message_id]}
        assert sum(map(len, sides)) <= neighbours


@pytest.mark.spec("M-7")
def test_of_a_long_neighbour_the_words_nearest_to_the_message_are_kept():
    assert nearest_words("one two  three\nfour", 9, before=True) == "…hree four"
    assert nearest_words("one two  three\nfour", 9, before=False) == "one two t…"
    assert nearest_words(" one\ntwo ", 9, before=True) == "one two"
