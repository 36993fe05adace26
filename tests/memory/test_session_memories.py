"""Memories addressed by session, and embeddings that come from outside."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langmem_plugin.errors import EmbeddingDimMismatchError
from langmem_plugin.memory.embedding.unit_vectors import from_bytes, to_bytes, unit

ANNA = "+972501234567"


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
def test_similar_memories_are_found_by_text_or_embedding_within_a_session(memory, offline_model):
    memory.create_memory("s1", "Dana is allergic to peanuts")
    memory.create_memory("s1", "The car is on level 3")
    memory.create_memory("s2", "Peanuts are forbidden for Dana")
    by_text = memory.query_similar_memories("what must Dana not eat?", "s1")
    assert [each.memory.text for each in by_text] == ["Dana is allergic to peanuts", "The car is on level 3"]
    by_embedding = memory.query_similar_memories(offline_model.embed_query("parking"), "s1", limit=1)
    assert [each.memory.text for each in by_embedding] == ["The car is on level 3"]
    assert memory.query_similar_memories("peanuts", "s3") == []


@pytest.mark.spec("P-6", "M-2")
def test_a_persons_session_is_reached_only_under_its_owner(memory):
    memory.create_memory("s1", "The safe opens with 4711", owner=ANNA)
    assert memory.get_memories_by_session("s1") == []
    assert memory.query_similar_memories("safe", "s1") == []
    assert [each.text for each in memory.get_memories_by_session("s1", owner=ANNA)] == ["The safe opens with 4711"]


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
