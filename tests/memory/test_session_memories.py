"""Memories addressed by session, and embeddings that come from outside."""

import math
import uuid
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from langmem_plugin.database.memory_tables import memory_access
from langmem_plugin.errors import EmbeddingDimMismatchError, InvalidInput, StoreUnavailable
from langmem_plugin.memory.keep.vectors import from_bytes, to_bytes, unit
from tests.cases import for_each

ANNA = "+972501234567"
BEN = "+972501234568"


@pytest.mark.spec("M-2")
def test_a_sessions_memories_come_back_in_time_order_and_limited(memory, clock):
    for text in ("first", "second", "third"):
        memory.create_memory("s1", text, summary_text=text.upper())
        clock.forward(seconds=1)
    memory.create_memory("s2", "elsewhere")
    assert [each.text for each in memory.get_memories_by_session("s1")] == ["first", "second", "third"]
    assert [each.summary_text for each in memory.get_memories_by_session("s1", 2)] == ["FIRST", "SECOND"]
    assert memory.get_all_sessions() == ["s1", "s2"]


@pytest.mark.spec("M-2")
def test_a_collection_can_be_asked_for_its_size_and_dropped(memory, clock):
    memory.create_memory("s1", "one")
    memory.create_memory("s1", "one")
    assert (memory.collection_exists("s1"), memory.get_collection_size("s1")) == (True, 2)
    assert memory.collection_dropped_at("s1") is None
    assert memory.delete_collection("s1") == 2
    assert (memory.collection_exists("s1"), memory.get_collection_size("s1")) == (False, 0)
    assert memory.collection_dropped_at("s1") == clock()
    assert memory.get_all_sessions() == []
    assert memory.delete_collection("s1") == 0
    memory.create_memory("s1", "a new start")
    assert memory.collection_dropped_at("s1") is None


@pytest.mark.spec("M-2")
def test_an_entry_of_what_waits_in_another_session_settles_that_and_is_stored_in_its_own(memory):
    waiting = memory.remember(ANNA, "Anna parks on level 3", session_id="s1", status="pending")
    entry = memory.create_memory("s2", "Anna parks on level 3", owner=ANNA)
    assert memory.get_memories_by_session("s2", owner=ANNA) == [entry]
    assert [each.id for each in memory.get_memories_by_session("s1", owner=ANNA)] == [waiting.id]


@pytest.mark.spec("M-2")
def test_memories_of_one_id_that_two_owners_have_in_a_session_are_both_found(memory):
    made = memory.create_memory("s1", "Anna parks on level 3", owner=ANNA)
    memory.take_in(BEN, [made])
    found = memory.query_similar_memories("where is the car?", "s1")
    assert {each.memory.owner for each in found} == {ANNA, BEN}
    assert len(memory.query_similar_memories("where is the car?", "s1", limit=1)) == 1


@pytest.mark.spec("M-2")
def test_similar_memories_are_found_by_text_or_embedding_within_a_session(memory, offline_model):
    memory.create_memory("s1", "Dana is allergic to peanuts")
    memory.create_memory("s1", "The car is on level 3")
    memory.create_memory("s2", "Peanuts are forbidden for Dana")
    by_text = memory.query_similar_memories("what must Dana not eat?", "s1")
    assert [each.memory.text for each in by_text] == ["Dana is allergic to peanuts", "The car is on level 3"]
    by_embedding = memory.query_similar_memories(offline_model.embed_query("parking"), "s1", limit=1)
    assert [each.memory.text for each in by_embedding] == ["The car is on level 3"]
    assert memory.query_similar_memories("peanuts", "s3") == []
    assert (
        memory.query_similar_memories("peanuts \ud83d", "s1", limit=1)[0].memory.text == "Dana is allergic to peanuts"
    )


@pytest.mark.spec("P-6", "M-2")
def test_with_an_owner_only_that_ones_part_of_a_session_is_meant(memory):
    memory.create_memory("s1", "The safe opens with 4711", owner=ANNA)
    assert memory.get_memories_by_session("s1", owner=BEN) == []
    assert memory.query_similar_memories("safe", "s1", owner=BEN) == []
    assert memory.get_collection_size("s1", owner=BEN) == 0
    assert not memory.collection_exists("s1", owner=BEN)
    assert memory.delete_collection("s1", owner=BEN) == 0
    assert memory.get_all_sessions(owner=BEN) == []
    assert memory.collection_dropped_at("s1") is None
    assert [each.text for each in memory.get_memories_by_session("s1", owner=ANNA)] == ["The safe opens with 4711"]
    assert memory.recall(BEN, "what opens the safe?") == memory.search("s1", "safe") == []


WAYS = {
    "remember": lambda memory, text: memory.remember(ANNA, text, session_id="s1"),
    "remember_many": lambda memory, text: memory.remember_many(ANNA, [(text, {"session_id": "s1"})])[0],
    "update": lambda memory, text: memory.update(ANNA, memory.remember(ANNA, text).id, session_id="s1"),
    "supersede": lambda memory, text: memory.supersede(ANNA, memory.remember(ANNA, "old").id, text, session_id="s1"),
    "restore": lambda memory, text: memory.restore(
        ANNA, memory.forget(ANNA, memory.remember(ANNA, text, session_id="s1").id).id
    ),
    "key and value": lambda memory, text: memory.remember(ANNA, text, key="drink", session_id="s1"),
    "create_memory": lambda memory, text: memory.create_memory("s1", text, owner=ANNA),
}


@pytest.mark.slow
@pytest.mark.spec("M-2")
@for_each("store", WAYS.values(), ids=WAYS.keys())
def test_a_collection_is_all_memories_of_the_session_however_they_were_stored(memory, clock, store):
    first = store(memory, "Anna drinks tea")
    clock.forward(seconds=1)
    second = memory.create_memory("s1", "Somebody drinks water")
    memory.remember(ANNA, "Anna drinks juice", session_id="s2")
    memory.remember(BEN, "Ben drinks milk")

    assert memory.get_all_sessions() == ["s1", "s2"]
    assert memory.collection_exists("s1")
    assert memory.get_collection_size("s1") == 2
    assert memory.get_memories_by_session("s1") == [first, second]
    assert memory.get_memories_by_session("s1", 1) == [first]
    assert {each.memory.id for each in memory.query_similar_memories("tea", session_id="s1")} == {first.id, second.id}
    clock.forward(seconds=1)
    assert memory.delete_collection("s1") == 2
    assert not memory.collection_exists("s1")
    assert memory.collection_dropped_at("s1") == memory.collection_dropped_at("s1", owner=ANNA) == clock()
    assert "Anna drinks tea" not in [each.text for each in memory.list_memories(ANNA)]
    assert memory.get_all_sessions() == ["s2"]
    store(memory, "Anna drinks coffee")
    assert memory.collection_dropped_at("s1") is None


@pytest.mark.spec("M-2")
def test_two_owners_of_equal_session_ids_share_a_collection_and_lose_only_their_own_part(memory, clock):
    memory.remember(ANNA, "Anna drinks tea", session_id="s1")
    memory.remember(BEN, "Ben drinks milk", session_id="s1")
    assert memory.get_collection_size("s1") == 2
    assert memory.delete_collection("s1", owner=ANNA) == 1
    assert memory.collection_dropped_at("s1", owner=ANNA) == clock()
    assert memory.collection_dropped_at("s1") is None
    assert [each.memory.owner for each in memory.query_similar_memories("drink", "s1")] == [BEN]


@pytest.mark.spec("M-2")
def test_a_session_named_like_a_person_holds_what_was_said_in_it_and_not_the_person(memory):
    memory.remember(ANNA, "Anna drinks tea")
    memory.remember(BEN, "Ben saw Anna", session_id=ANNA)
    memory.create_memory(ANNA, "an entry")
    assert {each.text for each in memory.get_memories_by_session(ANNA)} == {"Ben saw Anna", "an entry"}
    assert memory.delete_collection(ANNA) == 2
    assert [each.text for each in memory.list_memories(ANNA)] == ["Anna drinks tea"]


@pytest.mark.spec("M-2")
def test_what_waits_or_has_expired_goes_with_the_session_and_what_is_over_stays_over(memory, clock):
    memory.create_memory("s1", "waits", status="pending")
    memory.create_memory("s1", "expires", expires_at=clock() + timedelta(minutes=5))
    forgotten = memory.create_memory("s1", "was forgotten", owner=ANNA)
    memory.forget(ANNA, forgotten.id)
    clock.forward(minutes=5)
    assert (memory.get_all_sessions(), memory.collection_exists("s1")) == ([], False)
    assert memory.delete_collection("s1") == 2
    assert memory.list_memories("s1", statuses=("active", "pending"), include_expired=True) == []
    assert memory.collection_dropped_at("s1") == clock()


@pytest.mark.spec("M-2")
@for_each("missing", [None, "", "  \n", 7])
def test_a_session_or_a_text_that_is_missing_is_refused_with_what_to_pass(memory, missing):
    for verb in (
        lambda: memory.create_memory(missing, "text"),
        lambda: memory.get_memories_by_session(missing),
        lambda: memory.query_similar_memories("text", missing, owner=ANNA if missing is not None else None),
        lambda: memory.collection_exists(missing),
        lambda: memory.get_collection_size(missing),
        lambda: memory.delete_collection(missing),
        lambda: memory.collection_dropped_at(missing),
    ):
        with pytest.raises(InvalidInput, match=r"pass its id|name the session"):
            verb()
    for verb in (lambda: memory.create_memory("s1", missing), lambda: memory.remember(ANNA, missing)):
        with pytest.raises(InvalidInput, match="pass a string"):
            verb()
    if isinstance(missing, str):
        with pytest.raises(InvalidInput, match="names nobody"):
            memory.delete_collection("s1", owner=missing)
    assert memory.get_all_sessions() == []


@pytest.mark.spec("M-2", "M-3")
def test_what_cannot_be_compared_or_counted_is_refused(memory):
    for query in (None, " ", ["a"] * 384, [None] * 384, [[0.1] * 384], 7):
        with pytest.raises(ValueError, match="embedding"):
            memory.query_similar_memories(query, "s1")
    for limit in ("2", 1.5):
        with pytest.raises(InvalidInput, match="whole number"):
            memory.get_memories_by_session("s1", limit)


@pytest.mark.slow
@pytest.mark.spec("M-2", "M-10")
def test_thousands_of_memories_of_a_session_are_counted_found_and_dropped(memory, offline_model):
    texts = [(f"note {number}", {"session_id": "s1"}) for number in range(2_500)]
    memory.remember_many(ANNA, texts, embeddings=np.random.default_rng(1).standard_normal((2_500, 384)).tolist())
    wanted = memory.remember(BEN, "Ben drinks milk", session_id="s1")
    assert memory.get_collection_size("s1") == 2_501
    assert len(memory.get_memories_by_session("s1")) == 2_501
    assert memory.query_similar_memories("who drinks milk?", "s1", limit=1)[0].memory == wanted
    assert memory.delete_collection("s1") == 2_501


class Repeating:
    """A source of ids that gives each several times."""

    def __init__(self, times: int) -> None:
        self.times, self.given, self.last = times, 0, None

    def uuid4(self):
        self.given += 1
        if self.last is None or (self.given - 1) % self.times == 0:
            self.last = uuid.uuid4()
        return self.last


@pytest.mark.spec("M-14", "ERR-MEMORY-004")
@for_each("place", ["keep.memory_repository", "instructions.standing_instructions"])
def test_an_id_that_is_taken_is_drawn_again_three_times(memory, monkeypatch, place):
    instructions = memory.instructions if place.startswith("instructions") else None

    def store(number):
        if instructions:
            return memory.instructions.add(ANNA, f"Do {number}")
        return memory.remember(ANNA, f"note {number}")

    monkeypatch.setattr(f"langmem_plugin.memory.{place}.uuid", Repeating(4))
    stored = [store(number) for number in range(6)]
    assert len({each.id for each in stored}) == 6
    monkeypatch.setattr(f"langmem_plugin.memory.{place}.uuid", Repeating(10_000))
    kept = store(7)
    with pytest.raises(StoreUnavailable, match="ids in a row"):
        store(8)
    monkeypatch.undo()
    stored = [*stored, kept, store(9)]
    held = instructions.list_instructions(ANNA) if instructions else memory.list_memories(ANNA)
    assert {each.id for each in held} == {each.id for each in stored}


@pytest.mark.spec("M-14")
def test_a_batch_whose_ids_collide_is_stored_whole_with_its_vectors_or_not_at_all(memory, monkeypatch):
    monkeypatch.setattr("langmem_plugin.memory.keep.memory_repository.uuid", Repeating(3))
    made = memory.remember_many(ANNA, [("Anna drinks tea", {}), ("Anna plays chess", {}), ("Anna has a dog", {})])
    assert len({each.id for each in made}) == 3
    assert memory.list_memories(ANNA) == made[::-1]
    assert [each.memory for each in memory.query_similar_memories("pets", owner=ANNA, limit=1)] == [made[2]]
    monkeypatch.setattr("langmem_plugin.memory.keep.memory_repository.uuid", Repeating(10_000))
    with pytest.raises(StoreUnavailable):
        memory.remember_many(ANNA, [("one", {}), ("two", {})])
    assert memory.count(ANNA) == 3


@pytest.mark.spec("M-14")
def test_a_use_whose_id_collides_is_noted_all_the_same(memory, monkeypatch):
    used = memory.remember(ANNA, "Anna drinks tea")
    monkeypatch.setattr("langmem_plugin.memory.keep.usage_and_verdicts.uuid", Repeating(2))
    for _ in range(3):
        memory.note_access(ANNA, {used.id: 0.5}, "cited")
    with memory.database.read() as connection:
        assert len(connection.execute(select(memory_access)).all()) == 3


@pytest.mark.spec("M-3")
def test_a_wrong_embedding_is_refused_and_nothing_is_stored(memory):
    with pytest.raises(EmbeddingDimMismatchError) as wrong:
        memory.create_memory("s1", "text", [0.1] * 383)
    assert (wrong.value.expected, wrong.value.actual) == (384, 383)
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            memory.create_memory("s1", "text", [0.1] * 383 + [value])
        with pytest.raises(ValueError, match="finite"):
            memory.query_similar_memories([0.1] * 383 + [value], "s1")
    with pytest.raises(ValueError, match="nowhere"):
        memory.create_memory("s1", "text", [0.0] * 384)
    with pytest.raises(EmbeddingDimMismatchError):
        memory.query_similar_memories([0.1], "s1")
    assert not memory.collection_exists("s1")


@pytest.mark.spec("M-3")
@given(
    st.lists(
        st.floats(-1e30, 1e30).filter(lambda value: value == 0 or abs(value) > 1e-30), min_size=1, max_size=64
    ).filter(any)
)
def test_any_embedding_is_of_length_one_and_survives_storage(values):
    vector = unit(values)
    assert math.isclose(float((vector.astype("float64") ** 2).sum()), 1.0, rel_tol=1e-5)
    assert (from_bytes(to_bytes(vector)) == vector).all()


@pytest.mark.spec("M-3")
def test_the_length_of_an_embedding_does_not_change_what_is_similar(memory):
    memory.create_memory("s1", "long", [7.0] * 384)
    found = memory.query_similar_memories([0.002] * 384, "s1")
    assert math.isclose(found[0].signals["cosine"], 1.0, rel_tol=1e-5)
