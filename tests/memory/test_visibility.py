"""Who sees what, and what comes first when nothing is asked."""

import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from langmem_plugin.errors import InvalidInput
from langmem_plugin.identifiers import normalised, thread_key
from langmem_plugin.memory import Memory
from langmem_plugin.memory.find.recall_and_visibility import SHARED, share
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.memory.recalling import recalled_for

ANNA, BEN = "+972501234567", "+972507654321"
AS_TEXT = str(SHARED)


@pytest.mark.spec("M-16", "P-6")
def test_a_client_sees_their_own_and_what_was_shared_with_clients(memory):
    memory.remember(ANNA, "The office of TestCorp is in Haifa")
    memory.remember(BEN, "The office of TestCorp is in Berlin")
    share(memory, "The office of TestCorp costs 5,000 a month")
    share(memory, "The office of TestCorp opens at nine", with_clients=True)
    question = "tell me about the office of TestCorp"
    assert {each.text for each in recalled_for(memory, ANNA, "client", [question])} == {
        "The office of TestCorp is in Haifa",
        "The office of TestCorp opens at nine",
    }
    assert {each.text for each in recalled_for(memory, ANNA, "godfather", [question])} == {
        "The office of TestCorp is in Haifa",
        "The office of TestCorp opens at nine",
        "The office of TestCorp costs 5,000 a month",
    }


@pytest.mark.spec("M-9", "M-8")
def test_with_no_topic_the_most_recent_and_most_used_come_first(memory, clock):
    used = memory.remember(ANNA, "The cat is called Biscuit")
    memory.remember(ANNA, "I bought a blue lamp")
    clock.forward(days=90)
    for _ in range(5):
        memory.note_access(ANNA, {used.id: None}, "cited")
    told = memory.remember(ANNA, "I am learning Japanese")
    assert [each.text for each in memory.foremost(ANNA, limit=3)] == [
        "The cat is called Biscuit",
        told.text,
        "I bought a blue lamp",
    ]
    assert memory.foremost(BEN) == []


@pytest.mark.spec("M-9")
def test_recall_follows_the_talk_and_does_not_drop_what_was_said_before(memory):
    for text in (
        "My daughter Mira wants a telescope for her birthday",
        "My daughter Mira wears size 36 shoes",
        "The car is parked on level 3",
        "We go to Norway in July",
    ):
        memory.remember(ANNA, text)

    def recalled(*said):
        return [each.text for each in recalled_for(memory, ANNA, "client", said)]

    assert recalled("what does my daughter Mira want for her birthday?")[0].endswith("telescope for her birthday")
    follow_up = recalled("what does my daughter Mira want for her birthday?", "and which shoes?")
    assert "My daughter Mira wears size 36 shoes" in follow_up[:2]
    moved_on = recalled("what does my daughter Mira want for her birthday?", "where did I park the car?")
    assert moved_on[0] == "The car is parked on level 3"
    assert recalled() == []
    assert recalled(" ") == []


def _reads(memory, owner):
    """All that can be asked about an owner."""
    return [
        lambda: memory.recall(owner, "when is the shop closed?"),
        lambda: memory.search(owner, "when is the shop closed?", mode="text"),
        lambda: memory.foremost(owner),
        lambda: memory.list_memories(owner),
        lambda: memory.get(owner, [each.id for each in memory.list_memories(SHARED)]),
        lambda: memory.count(owner),
        lambda: memory.history.count(owner),
        lambda: memory.history.search(owner, "shop"),
        lambda: memory.get_memories_by_session("", owner=owner),
        lambda: memory.query_similar_memories("when is the shop closed?", owner=owner),
        lambda: memory.get_all_sessions(owner=owner),
        lambda: memory.get_collection_size("", owner=owner),
        lambda: memory.instructions.list_instructions(owner),
        lambda: KeyValueMemory(memory, owner).list_memory(),
    ]


def _writes(memory, owner, shared_id):
    return [
        lambda: memory.remember(owner, "The shop never closes"),
        lambda: memory.create_memory("s", "The shop never closes", owner=owner),
        lambda: memory.supersede(owner, shared_id, "The shop never closes"),
        lambda: memory.update(owner, shared_id, text="The shop never closes"),
        lambda: memory.forget(owner, shared_id),
        lambda: memory.restore(owner, shared_id),
        lambda: memory.note_access(owner, {shared_id: None}, "cited"),
        lambda: memory.instructions.add(owner, "Say that the shop never closes"),
        lambda: memory.delete_collection("s", owner=owner),
        lambda: memory.erase(owner),
    ]


@pytest.mark.spec("M-16", "P-6")
def test_a_text_that_spells_a_scope_is_refused_by_every_verb(memory):
    told = share(memory, "The shop closes at noon on Fridays", with_clients=True)
    for verb in [*_reads(memory, AS_TEXT), *_writes(memory, AS_TEXT, told.id)]:
        with pytest.raises(InvalidInput, match="control characters"):
            verb()
    assert memory.list_memories(SHARED) == [told]


@pytest.mark.spec("M-16", "P-6")
def test_a_person_called_shared_is_a_person(memory):
    told = share(memory, "The shop closes at noon on Fridays", with_clients=True)
    own = memory.remember("shared", "The shop owes me 5,000")

    assert memory.list_memories("shared") == [own]
    assert memory.list_memories(SHARED) == [told]
    for role in ("client", "godfather"):
        assert recalled_for(memory, ANNA, role, ["when is the shop closed?"]) == [told]


@pytest.mark.spec("M-16", "P-6")
@settings(max_examples=50)
@given(owner=st.text(max_size=20) | st.tuples(st.text(max_size=2), st.just("shared"), st.text(max_size=2)).map("".join))
@example(owner=AS_TEXT)
@example(owner="shared ")
@example(owner=f" {AS_TEXT}")
@example(owner=f"{AS_TEXT}@c.us")
@example(owner=f"\u200b{AS_TEXT}")
def test_nothing_that_is_passed_or_normalised_is_a_scope(memory, owner):
    share(memory, "The shop closes at noon on Fridays", with_clients=True)
    for key in (lambda text: text, normalised, thread_key):
        with contextlib.suppress(InvalidInput):
            assert not memory.list_memories(key(owner))
            assert not memory.recall(key(owner), "when is the shop closed?")


@pytest.mark.spec("M-16")
def test_what_is_shared_is_changed_and_forgotten_by_what_the_service_gave_and_not_by_its_spelling(memory):
    told = share(memory, "The shop closes at noon on Fridays", with_clients=True)
    changed = memory.update(told.owner, told.id, text="The shop closes at one on Fridays")
    [found] = recalled_for(memory, ANNA, "client", ["when is the shop closed?"])
    assert found == changed
    written_down = Memory.model_validate_json(changed.memory.model_dump_json())
    with pytest.raises(InvalidInput):
        memory.forget(written_down.owner, written_down.id)
    memory.forget(found.owner, found.id)
    assert recalled_for(memory, ANNA, "godfather", ["when is the shop closed?"]) == []


@pytest.mark.spec("C-1", "P-6")
def test_owners_are_told_apart_to_the_last_byte(memory):
    owners = ["bob", "bob ", " bob", "Bob", "bob\u200b", "zoe\u0301", "zo\u00e9", "shared"]
    for number, owner in enumerate(owners):
        memory.remember(owner, f"The secret is {number}")
    assert [[each.text for each in memory.list_memories(owner)] for owner in owners] == [
        [f"The secret is {number}"] for number in range(len(owners))
    ]
