"""What becomes of memories: confirmed, superseded, used, restored, archived, deleted for good."""

import pytest
from sqlalchemy import select

from langmem_plugin.database.memory_tables import memory_access
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import MemoryNotFound
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from tests.cases import for_each

ANNA = "+972501234567"


@pytest.mark.spec("W-5")
def test_a_pending_memory_is_recalled_only_once_it_is_confirmed(memory):
    waiting = memory.remember(ANNA, "I park on level 3", status="pending", confidence=0.6)
    assert memory.recall(ANNA, "where do I park?") == []
    assert memory.list_memories(ANNA, statuses=["pending"]) == [waiting]
    memory.update(ANNA, waiting.id, status="active")
    assert [each.memory.id for each in memory.recall(ANNA, "where do I park?")] == [waiting.id]


@pytest.mark.spec("W-5")
def test_saying_a_pending_memory_outright_confirms_it(memory):
    waiting = memory.remember(ANNA, "I park on level 3", status="pending")
    told = memory.remember(ANNA, "I park on level 3")
    assert (told.id, told.status) == (waiting.id, "active")


@pytest.mark.spec("W-5", "W-6")
@for_each("text", ["I park on level 5", "The garage has a new gate"])
def test_what_waits_takes_the_place_of_another_once_it_is_confirmed(memory, text):
    old = memory.remember(ANNA, "I park on level 3")
    waits = memory.supersede(ANNA, old.id, text, status="pending")
    assert (waits.outcome, old.id in waits.concerned) == ("pending", True)
    assert [each.text for each in memory.list_memories(ANNA)] == ["I park on level 3"]
    memory.update(ANNA, waits.id, status="active")
    assert [each.text for each in memory.list_memories(ANNA)] == [text]
    assert [each.superseded_by for each in memory.list_memories(ANNA, statuses=["superseded"])] == [waits.id]


@pytest.mark.spec("W-6")
def test_a_superseded_memory_is_kept_as_history_and_recalled_no_more(memory):
    old = memory.remember(ANNA, "I park on level 3")
    new = memory.supersede(ANNA, old.id, "I park on level 5")
    assert [each.memory for each in memory.recall(ANNA, "where do I park?")] == [new]
    history = memory.list_memories(ANNA, statuses=["superseded"])
    assert [(each.id, each.superseded_by) for each in history] == [(old.id, new.id)]


@pytest.mark.spec("W-6")
def test_superseding_what_is_not_there_stores_nothing(memory):
    with pytest.raises(MemoryNotFound):
        memory.supersede(ANNA, "no such id", "I park on level 5")
    assert memory.list_memories(ANNA) == []


@pytest.mark.spec("W-6")
@for_each("way", ["forgotten", "corrected"])
def test_what_was_over_before_replaces_nothing(memory, clock, way):
    before = clock()
    over = memory.remember(ANNA, "My blood type is A")
    holds = memory.remember(ANNA, "I park on level 3")
    clock.forward(days=1)
    if way == "forgotten":
        memory.forget(ANNA, over.id)
    else:
        memory.supersede(ANNA, over.id, "My blood type is B")
    clock.forward(days=1)
    told = memory.supersede(ANNA, holds.id, "My blood type is A", said_at=before)
    assert (told.id, told.outcome) == (over.id, "duplicate")
    assert holds.id in [each.id for each in memory.list_memories(ANNA)]
    again = memory.supersede(ANNA, holds.id, "My blood type is A")  # said now, it holds again
    assert holds.id not in [each.id for each in memory.list_memories(ANNA)]
    assert (again.status, again.outcome) == ("active", "superseded")


@pytest.mark.spec("W-6")
def test_what_was_said_before_the_memory_it_would_replace_is_history(memory, clock):
    before = clock()
    clock.forward(days=1)
    newer = memory.remember(ANNA, "I park on level 3")
    older = memory.supersede(ANNA, newer.id, "The garage is closed", said_at=before)
    assert [each.id for each in memory.list_memories(ANNA)] == [newer.id]
    assert (older.status, older.superseded_by, older.outcome) == ("superseded", newer.id, "stored")


@pytest.mark.spec("A-1")
def test_an_access_is_logged_and_counted(memory, clock):
    stored = memory.remember(ANNA, "I park on level 3")
    clock.forward(hours=1)
    memory.note_access(ANNA, {stored.id: 0.83, "no such id": 0.5}, "injected", session_id="s1")
    used = memory.get(ANNA, [stored.id])[0]
    assert (used.access_count, used.last_accessed, used.revision) == (1, clock(), stored.revision)
    with memory.database.read() as connection:
        logged = connection.execute(select(memory_access)).mappings().all()
    assert [(row["memory_id"], row["kind"], row["relevance"], row["session_id"]) for row in logged] == [
        (stored.id, "injected", 0.83, "s1")
    ]


@pytest.mark.spec("M-15", "A-1")
def test_using_a_forgotten_memory_does_not_revive_it(memory):
    stored = memory.remember(ANNA, "I park on level 3")
    memory.forget(ANNA, stored.id)
    memory.note_access(ANNA, {stored.id: 0.83}, "cited")
    assert memory.get(ANNA, [stored.id]) == []
    assert memory.list_memories(ANNA, statuses=["forgotten"])[0].access_count == 0


@pytest.mark.spec("M-8")
def test_the_one_that_is_used_comes_first_among_equals(memory):
    memory.remember(ANNA, "Lunch place near the office: Falafel Corner", category="a")
    used = memory.remember(ANNA, "Lunch place near the office: Falafel Corner!", category="b")
    for _ in range(5):
        memory.note_access(ANNA, {used.id: 1.0}, "cited")
    found = memory.recall(ANNA, "where to have lunch near the office?")
    assert found[0].memory.id == used.id


@pytest.mark.spec("M-15")
def test_a_forgotten_memory_can_be_restored_for_thirty_days_and_is_then_gone(memory, clock):
    stored = memory.remember(ANNA, "I park on level 3")
    memory.forget(ANNA, stored.id)
    clock.forward(days=29)
    assert memory.purge() == 0
    assert memory.restore(ANNA, stored.id).status == "active"
    assert memory.recall(ANNA, "where do I park?")
    memory.forget(ANNA, stored.id)
    clock.forward(days=30)
    assert memory.purge() == 1
    with pytest.raises(MemoryNotFound):
        memory.restore(ANNA, stored.id)
    assert memory.list_memories(ANNA, statuses=["forgotten"], include_expired=True) == []


@pytest.mark.spec("M-15")
def test_an_expired_memory_is_kept_a_year_for_audit_and_then_deleted(memory, clock):
    memory.remember(ANNA, "Dinner is at seven", expires_at=clock().replace(hour=18))
    clock.forward(days=365)
    assert memory.purge() == 0
    assert memory.count(ANNA, include_expired=True) == 1
    clock.forward(days=1)
    assert memory.purge() == 1
    assert memory.count(ANNA, include_expired=True) == 0


@pytest.mark.spec("M-15")
def test_above_the_limit_the_oldest_are_archived(database_url, clock, offline_model):
    with MemoryService(database_url, embeddings=offline_model, now=clock, owner_limit=3) as memory:
        for number in range(5):
            clock.forward(minutes=1)
            memory.remember(ANNA, f"note number {number}")
        assert [each.text for each in memory.list_memories(ANNA)] == [f"note number {n}" for n in (4, 3, 2)]
        archived = memory.list_memories(ANNA, statuses=["archived"])
        assert [each.text for each in archived] == ["note number 1", "note number 0"]
        assert len(memory.search(ANNA, "note number 0", min_relevance=0.0)) == 3


@pytest.mark.spec("P-4")
def test_erasing_an_owner_leaves_no_row_in_any_table_and_nobody_else_loses_one(memory, clock):
    ben = "+972507654321"
    for owner in (ANNA, ben):
        stored = memory.remember(owner, "I park on level 3", session_id="s1")
        memory.note_access(owner, {stored.id: 1.0}, "cited")
        memory.create_memory("s2", "an entry", owner=owner)
        memory.delete_collection("s2", owner=owner)
        memory.history.add(owner, [PastMessage("m1", "s1", "user", "where is my car?", clock())])
        memory.instructions.add(owner, "Be brief")
        memory.recall(owner, "where do I park?")
    assert memory.erase(ANNA) == 2
    tables = [each for each in metadata.sorted_tables if "owner" in each.c and each.name != "langmem_audit"]
    with memory.database.read() as connection:
        for table in tables:
            owners = set(connection.execute(select(table.c.owner)).scalars())
            assert ANNA not in owners
            assert owners <= {ben}
    assert memory.recall(ANNA, "where do I park?") == []
    assert memory.history.search(ANNA, "car") == []
    assert memory.recall(ben, "where do I park?")
    assert memory.erase(ANNA) == 0
