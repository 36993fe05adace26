"""What was corrected or forgotten does not come back, by whatever way it is told, stored, moved or read again."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import delete

from langmem_plugin.database.memory_tables import memory_vector
from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each

ERIN = "+972501234567"
OLD, NEW = "I live in Haifa", "I live in Tel Aviv"


def texts(memory, owner=ERIN, *statuses):
    return sorted(each.text for each in memory.list_memories(owner, statuses=statuses or ("active",)))


@pytest.fixture
def before(memory, clock):
    """Before the correction."""
    said_at = clock()
    memory.remember(ERIN, OLD, said_at=said_at, source_id="m1", session_id="s1", quote=OLD)
    clock.forward(days=1)
    assert memory.remember(ERIN, NEW, source_id="m2", session_id="s2").outcome == "superseded"
    clock.forward(days=1)
    return said_at


@pytest.fixture
def forgotten(memory, clock):
    said_at = clock()
    made = memory.remember(
        ERIN, "I like green tea", said_at=said_at, source_id="m1", session_id="s1", quote="green tea"
    )
    clock.forward(days=1)
    memory.forget(ERIN, made.id)
    clock.forward(days=1)
    return said_at


@pytest.mark.spec("W-6")
@for_each(
    ("again", "more"),
    [
        (OLD, {}),
        ("Lives in Haifa", {}),
        ("My home is in Haifa", {}),
        (
            "Haifa is where the person is at home",
            {"source_id": "m1", "session_id": "s1", "quote": "i live in Haifa.", "slot": "self/home"},
        ),
        (OLD, {"status": "pending"}),
    ],
)
def test_what_was_said_before_the_correction_stays_corrected_however_late_it_is_read(memory, before, again, more):
    made = memory.remember(ERIN, again, said_at=before, **more)

    assert made.outcome == "duplicate" or made.status == "superseded"
    assert texts(memory, ERIN, "active", "pending") == [NEW]
    assert [each.memory.text for each in memory.search(ERIN, "Haifa home", min_relevance=0.0)] == [NEW]


@pytest.mark.spec("W-6")
@for_each(
    ("again", "more"),
    [
        ("I like green tea", {}),
        ("Likes green tea", {}),
        ("Green tea is their drink", {"source_id": "m1", "session_id": "s1", "quote": "Green  tea"}),
        ("I like green tea", {"status": "pending"}),
    ],
)
def test_what_was_said_before_it_was_forgotten_stays_forgotten_however_it_is_worded(memory, forgotten, again, more):
    assert memory.remember(ERIN, again, said_at=forgotten, **more).outcome == "duplicate"

    assert texts(memory, ERIN, "active", "pending") == []


@pytest.mark.spec("W-6")
def test_another_fact_of_the_same_message_is_stored_though_one_of_it_was_forgotten(memory, forgotten):
    made = memory.remember(
        ERIN, "My daughter Mia is seven", said_at=forgotten, source_id="m1", quote="my daughter Mia is seven"
    )

    assert made.outcome == "stored"


@pytest.mark.spec("W-6")
def test_who_says_it_anew_is_believed(memory, before, forgotten, clock):
    assert memory.remember(ERIN, OLD).outcome == "superseded"
    assert memory.remember(ERIN, "I like green tea").outcome == "stored"

    assert texts(memory) == ["I like green tea", OLD]


@pytest.mark.spec("W-6")
def test_an_older_fact_that_waited_replaces_nothing_newer_when_it_is_confirmed(memory, clock):
    said_at = clock()
    clock.forward(days=1)
    memory.remember(ERIN, NEW)
    waits = memory.remember(ERIN, OLD, said_at=said_at, status="pending")
    assert waits.outcome == "pending"

    memory.update(ERIN, waits.id, status="active")

    assert texts(memory) == [NEW]
    assert texts(memory, ERIN, "superseded") == [OLD]


@pytest.mark.spec("W-6")
def test_an_older_fact_that_waits_waits_no_more_once_a_newer_one_is_told(memory, clock):
    waits = memory.remember(ERIN, OLD, status="pending")
    clock.forward(days=1)
    memory.remember(ERIN, NEW)

    with pytest.raises(MemoryNotFound):
        memory.update(ERIN, waits.id, status="active")
    assert texts(memory, ERIN, "active", "pending") == [NEW]


@pytest.mark.spec("W-6")
def test_an_older_fact_that_waited_and_lapses_changes_nothing(memory, clock):
    memory.remember(ERIN, OLD, status="pending")
    clock.forward(days=1)
    memory.remember(ERIN, NEW)
    clock.forward(days=40)
    memory.purge()

    assert texts(memory, ERIN, "active", "pending") == [NEW]


@pytest.mark.spec("W-6")
def test_what_is_restored_takes_the_place_of_what_had_replaced_it(memory, before):
    [old] = memory.list_memories(ERIN, statuses=("superseded",))

    memory.restore(ERIN, old.id)

    assert texts(memory) == [OLD]
    assert texts(memory, ERIN, "superseded") == [NEW]


@pytest.mark.spec("W-6")
@for_each("field", ["said_at", "created_at"])
def test_what_is_imported_with_an_older_date_is_history(memory, before, field):
    memory.remember_many(ERIN, [(OLD, {field: before}), ("Lives in Haifa", {field: before - timedelta(days=9)})])

    assert texts(memory) == [NEW]


@pytest.mark.spec("W-6")
def test_an_entry_of_a_session_with_an_older_date_is_history(memory, before):
    memory.create_memory("s1", OLD, owner=ERIN, said_at=before)
    memory.create_memory("s1", "My home is in Haifa", owner=ERIN, said_at=before)

    assert texts(memory) == [NEW]


@pytest.mark.spec("W-6")
def test_nor_does_an_entry_of_a_session_bring_back_what_was_forgotten(memory, forgotten):
    made = memory.create_memory("s1", "I like green tea", owner=ERIN, said_at=forgotten)

    assert made.status == "forgotten"
    assert texts(memory) == []


@pytest.mark.spec("W-6")
def test_reembedding_and_reading_anew_bring_nothing_back(memory, before, forgotten, database_url, offline_model, clock):
    with memory.database.write() as connection:
        connection.execute(delete(memory_vector))
    assert memory.reembedding.run() > 0
    with MemoryService(database_url, embeddings=offline_model, now=clock) as other:
        for mode in ("text", "semantic", "hybrid"):
            found = other.search(ERIN, "Haifa green tea", mode=mode, min_relevance=0.0)
            assert {each.memory.text for each in found} <= {NEW}
        assert [each.text for each in other.foremost(ERIN)] == [NEW]
        assert other.query_similar_memories("Haifa", owner=ERIN)[0].memory.text == NEW


@pytest.mark.spec("W-6")
def test_another_process_that_had_it_at_hand_finds_it_no_more(memory, database_url, offline_model, clock):
    made = memory.remember(ERIN, OLD)
    with MemoryService(database_url, embeddings=offline_model, now=clock) as other:
        assert [each.memory.text for each in other.search(ERIN, "Haifa", min_relevance=0.0)] == [OLD]
        clock.forward(days=1)
        memory.remember(ERIN, NEW)

        assert [each.memory.text for each in other.search(ERIN, "Haifa", min_relevance=0.0)] == [NEW]
        assert other.get(ERIN, [made.id]) == []


@pytest.mark.spec("W-6")
def test_a_key_holds_what_was_saved_last(memory, clock):
    keeps = KeyValueMemory(memory, ERIN)
    keeps.save_memory("city", "Haifa")
    clock.forward(days=1)
    keeps.save_memory("city", "Tel Aviv")
    assert [each["value"] for each in keeps.load_memory()["memory"]] == ["Tel Aviv"]
    said_at = clock()
    clock.forward(days=1)
    keeps.delete_memory("city")
    memory.remember(ERIN, "city: Tel Aviv", key="city", said_at=said_at)

    assert keeps.load_memory()["memory"] == []


@pytest.mark.slow
@pytest.mark.spec("W-6", "A-5")
@for_each("seed", range(4))
def test_of_two_processes_that_write_at_once_one_value_is_left_and_nothing_twice(
    memory, database_url, offline_model, clock, seed
):
    told = clock()
    clock.forward(days=1)
    cities = ("Haifa", "Eilat", "Acre", "Ramla", "Tel Aviv")
    facts = [(f"I live in {city}", told + timedelta(hours=number)) for number, city in enumerate(cities)]
    facts += [("I like green tea", told), ("Likes green tea", told), ("I own a red boat", told)]
    begin = threading.Barrier(2)

    def write(service, order):
        begin.wait()
        for text, said_at in random.Random(order).sample(facts, len(facts)):
            service.remember(ERIN, text, said_at=said_at)

    with (
        MemoryService(database_url, embeddings=offline_model, now=clock) as other,
        ThreadPoolExecutor(2) as workers,
    ):
        for each in [workers.submit(write, memory, seed), workers.submit(write, other, seed + 100)]:
            each.result()

    active = memory.list_memories(ERIN)
    assert [each.text for each in active if each.slot and "home" in each.slot] == [NEW]
    assert len([each for each in active if "tea" in each.text]) == 1
    assert len(active) == 3


def _found(memory, question):
    return [(each.message.text, each.corrected_by) for each in memory.history.search(ERIN, question)]


def _talk(memory, *said):
    """Messages m1, m2, …, all in session s1, before anything was corrected."""
    messages = [
        PastMessage(f"m{number}", "s1", speaker, text, said_at)
        for number, (speaker, text, said_at) in enumerate(said, 1)
    ]
    memory.history.add(ERIN, messages)


@pytest.mark.spec("W-6", "M-7")
def test_a_past_message_that_was_corrected_is_marked_by_what_holds_now(memory, clock):
    _talk(memory, ("user", OLD, clock()), ("assistant", "Noted: you live in Haifa.", clock()))
    memory.remember(ERIN, OLD, source_id="m1", session_id="s1", quote=OLD)
    assert _found(memory, "Haifa")[0][1] is None
    for city in ("Eilat", "Acre"):
        clock.forward(days=1)
        memory.remember(ERIN, f"I live in {city}")

    assert dict(_found(memory, "where do I live? Haifa")) == {
        OLD: "I live in Acre",
        "Noted: you live in Haifa.": "I live in Acre",
    }


@pytest.mark.spec("W-6", "M-7", "P-1")
def test_past_messages_of_what_was_forgotten_are_not_found_wherever_it_was_said(memory, clock):
    _talk(
        memory,
        ("user", "I like green tea", clock()),
        ("assistant", "Green tea, you like it! Shall I order lamps?", clock()),
        ("user", "As I said, I like green tea.", clock()),
        ("user", "Is there a tea shop near the old green harbour that sells lamps and cups and what I like?", clock()),
    )
    made = memory.remember(ERIN, "I like green tea", source_id="m1", session_id="s1", quote="I like green tea")
    clock.forward(days=1)
    memory.forget(ERIN, made.id)

    assert sorted(text for text, _ in _found(memory, "green tea lamps")) == [
        "Is there a tea shop near the old green harbour that sells lamps and cups and what I like?",
        "[…] Shall I order lamps?",
    ]


@pytest.mark.spec("W-6", "M-7")
def test_of_a_message_with_another_fact_only_what_was_forgotten_is_cut_out(memory, clock):
    _talk(memory, ("user", "My safe opens with 4711 and I own a red boat", clock()))
    pin = memory.remember(
        ERIN, "My safe opens with 4711", source_id="m1", session_id="s1", quote="My safe opens with 4711"
    )
    memory.remember(ERIN, "I own a red boat", source_id="m1", session_id="s1", quote="I own a red boat")
    clock.forward(days=1)
    memory.forget(ERIN, pin.id)

    assert _found(memory, "boat") == [("[…] and I own a red boat", None)]


@pytest.mark.spec("W-6", "M-7")
def test_what_was_said_anew_after_it_was_forgotten_is_found(memory, clock):
    made = memory.remember(ERIN, "I like green tea", source_id="m0", session_id="s0")
    memory.forget(ERIN, made.id)
    clock.forward(days=1)
    _talk(memory, ("user", "I like green tea", clock()))
    memory.remember(ERIN, "I like green tea", source_id="m1", session_id="s1")

    assert _found(memory, "green tea") == [("I like green tea", None)]


@pytest.mark.spec("W-6", "M-7")
def test_in_the_place_of_what_is_left_out_others_are_found(memory, clock):
    _talk(
        memory, *[("user", "I like green tea" if number < 3 else f"green tea {number}", clock()) for number in range(6)]
    )
    made = memory.remember(ERIN, "I like green tea", source_id="m1", session_id="s1")
    clock.forward(days=1)
    memory.forget(ERIN, made.id)

    assert len(memory.history.search(ERIN, "I like green tea", limit=3)) == 3


@pytest.mark.spec("W-6")
def test_what_is_forgotten_and_told_otherwise_is_not_taken_back(memory, clock):
    made = memory.remember(ERIN, OLD)
    memory.forget(ERIN, made.id)
    clock.forward(minutes=1)
    memory.remember(ERIN, NEW)

    with pytest.raises(MemoryNotFound):
        memory.restore(ERIN, made.id, unless_replaced=True)
    assert texts(memory) == [NEW]


@pytest.mark.spec("W-6")
def test_after_a_restoring_the_message_of_the_correction_does_not_undo_it(memory, before, clock):
    corrected_at = clock() - timedelta(days=1)
    [old] = memory.list_memories(ERIN, statuses=("superseded",))
    memory.restore(ERIN, old.id)
    clock.forward(days=1)

    assert memory.remember(ERIN, NEW, said_at=corrected_at).outcome == "duplicate"
    assert texts(memory) == [OLD]


@pytest.mark.spec("W-6", "M-17")
def test_what_is_history_at_once_in_a_batch_takes_nobodys_place_and_loses_none(memory, clock):
    told = [("I live in Haifa", 10), ("I live in Eilat", 5), ("I live in Jaffa", 12)]
    memory.remember_many(ERIN, [(text, {"said_at": clock() + timedelta(days=day)}) for text, day in told])
    assert texts(memory) == ["I live in Jaffa"]
    assert texts(memory, ERIN, "superseded") == ["I live in Eilat", "I live in Haifa"]


@pytest.mark.spec("W-6")
def test_what_was_forgotten_of_an_attribute_hides_nothing_that_holds(memory, clock):
    """More was told of it and forgotten since than a new fact is compared with."""
    held = memory.remember(ERIN, OLD)
    over = {"text": "I live in Ramat Gan", "status": "forgotten"}
    for at in range(120):
        clock.forward(minutes=1)
        told = {"id": f"told {at}", "created_at": clock(), "updated_at": clock()}
        memory.take_in(ERIN, [held.memory.model_copy(update=over | told)])
    clock.forward(days=1)
    assert memory.remember(ERIN, "I moved to Leeds").concerned == (held.id,)
    assert texts(memory) == ["I moved to Leeds"]
