"""No table grows for ever: each has a bound for each owner, and nothing that is promised is lost by it."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from langmem_plugin.database.memory_tables import memory_access, memory_owner
from langmem_plugin.errors import ConfigurationError, TooManyInstructions
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each

pytestmark = pytest.mark.slow

ANNA, BEN = "+972501234567", "+972507654321"
FLAT = [1.0] * 384
NOT_LIVE = ("superseded", "archived", "forgotten")


def rows(memory, table):
    with memory.database.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


@pytest.mark.spec("A-1", "M-19")
def test_of_each_memory_the_last_hundred_uses_are_logged(memory, clock):
    used = [memory.remember(ANNA, text) for text in ("I park on level 3", "My assistant is David")]
    other = memory.remember(BEN, "I like tea")
    memory.note_access(BEN, {other.id: 1.0}, "cited")
    for number in range(260):
        clock.forward(minutes=1)
        memory.note_access(ANNA, {used[0].id: number / 260, **({used[1].id: 1.0} if number < 5 else {})}, "cited")
    assert 100 <= rows(memory, memory_access) - 6 < 120
    with memory.database.read() as connection:
        kept = connection.execute(
            select(memory_access.c.relevance)
            .where(memory_access.c.memory_id == used[0].id)
            .order_by(memory_access.c.at.desc())
        ).scalars()
        assert list(kept)[:100] == [number / 260 for number in range(259, 159, -1)]
    assert memory.get(ANNA, [used[0].id])[0].access_count == 260


@pytest.mark.spec("A-1", "M-19")
def test_a_use_is_logged_for_ninety_days_at_most(memory, clock):
    stored = memory.remember(ANNA, "I park on level 3")
    memory.note_access(ANNA, {stored.id: 1.0}, "cited")
    clock.forward(days=60)
    memory.note_access(ANNA, {stored.id: 1.0}, "cited")
    clock.forward(days=30)
    assert memory.purge() == 0
    assert rows(memory, memory_access) == 1


@pytest.mark.spec("M-15", "M-19")
def test_what_is_no_longer_active_is_bounded_too_the_longest_unchanged_goes_first(database_url, clock, offline_model):
    with MemoryService(database_url, embeddings=offline_model, now=clock, owner_limit=20) as memory:
        for number in range(100):
            clock.forward(minutes=1)
            [made] = memory.remember_many(ANNA, [(f"note {number}", {})], embeddings=[FLAT])
            if number % 3 == 0:
                memory.forget(ANNA, made.id)
        gone = memory.list_memories(ANNA, statuses=NOT_LIVE, limit=1_000)
        assert 20 <= len(gone) <= 23  # a tenth more, and the one that was forgotten last
        assert memory.count(ANNA) == 19  # the last one was forgotten
        assert max(gone, key=lambda each: each.updated_at).status == "forgotten"
        assert memory.restore(ANNA, gone[0].id).status == "active"


@pytest.mark.spec("M-19")
@for_each("owner_limit", [0, -1, 2.5])
def test_a_limit_that_would_archive_everything_is_refused(database_url, offline_model, owner_limit):
    with pytest.raises(ConfigurationError, match="owner_limit"):
        MemoryService(database_url, embeddings=offline_model, owner_limit=owner_limit)


@pytest.mark.spec("W-5", "M-19")
def test_pending_memories_and_keys_are_bounded_like_the_others(database_url, clock, offline_model):
    with MemoryService(database_url, embeddings=offline_model, now=clock, owner_limit=5) as memory:
        for number in range(12):
            clock.forward(minutes=1)
            memory.remember_many(ANNA, [(f"note {number}", {"status": "pending"})], embeddings=[FLAT])
            KeyValueMemory(memory, BEN).save_memory(f"key {number}", "value")
        pending = memory.list_memories(ANNA, statuses=["pending"])
        assert [each.text for each in pending] == [f"note {number}" for number in range(11, 6, -1)]
        assert KeyValueMemory(memory, BEN).list_memory()["count"] == 5


@pytest.mark.spec("M-15", "M-19")
def test_superseded_and_archived_memories_are_deleted_after_a_year(memory, clock):
    old = memory.remember(ANNA, "I park on level 3")
    memory.supersede(ANNA, old.id, "I park on level 5")
    clock.forward(days=364)
    assert memory.purge() == 0
    clock.forward(days=1)
    assert memory.purge() == 1
    assert [each.text for each in memory.list_memories(ANNA, statuses=["active", *NOT_LIVE])] == ["I park on level 5"]


@pytest.mark.spec("M-15")
def test_what_is_restored_while_a_purge_runs_is_kept(memory, clock):
    """Between looking what is due and deleting it another process restores it."""
    stored = memory.remember(ANNA, "I park on level 3")
    memory.forget(ANNA, stored.id)
    clock.forward(days=31)
    with ThreadPoolExecutor(1) as other:
        with memory.database.write() as connection:
            changes = {"status": "active"}
            memory.repository.change(connection, ANNA, stored.id, changes, now=clock(), statuses=("forgotten",))
            purging = other.submit(memory.purge)
            time.sleep(0.3)  # it has seen that the memory is due, and waits to delete it
            assert not purging.done()
        purging.result(60)
    assert [each.id for each in memory.list_memories(ANNA)] == [stored.id]


@pytest.mark.spec("I-1", "M-19")
def test_a_person_has_two_hundred_instructions_at_most(memory):
    made = [memory.instructions.add(ANNA, f"instruction {number}") for number in range(200)]
    with pytest.raises(TooManyInstructions, match="remove one"):
        memory.instructions.add(ANNA, "one more")
    memory.instructions.add(BEN, "Be brief")
    memory.instructions.remove(ANNA, made[0].id)
    memory.instructions.add(ANNA, "one more")
    assert len(memory.instructions.list_instructions(ANNA)) == 200


@pytest.mark.spec("M-7", "M-19")
def test_of_what_was_said_the_oldest_is_deleted_above_the_limit(memory, clock):
    memory.history.owner_limit = 10
    memory.history.add(BEN, [PastMessage("m1", "s1", "user", "hello", clock())])
    for number in range(30):
        clock.forward(minutes=1)
        memory.history.add(ANNA, [PastMessage(f"m{number}", "s1", "user", "hello", clock())])
    found = memory.history.search(ANNA, "hello", mode="text", limit=100)
    kept = {each.message.message_id for each in found}
    assert {f"m{number}" for number in range(20, 30)} <= kept
    assert len(kept) <= 11
    assert memory.history.count(BEN) == 1


@pytest.mark.spec("M-15", "M-19")
def test_owners_of_whom_nothing_is_left_are_forgotten_and_nobody_else(memory, clock):
    memory.remember(BEN, "I like tea")
    memory.instructions.add("instructed", "Be brief")
    memory.history.add("talker", [PastMessage("m1", "s1", "user", "hello", clock())])
    memory.forget(ANNA, memory.remember(ANNA, "I park on level 3").id)
    clock.forward(days=30)
    assert memory.purge() == 1
    with memory.database.read() as connection:
        owners = set(connection.execute(select(memory_owner.c.owner)).scalars())
    assert owners == {BEN, "instructed", "talker"}
    told = memory.remember(ANNA, "The cello lesson is on Monday")
    assert [each.memory for each in memory.recall(ANNA, "when is my cello lesson?")] == [told]


@pytest.mark.spec("M-15", "M-19")
def test_nothing_that_is_stored_while_owners_are_forgotten_goes_with_them(memory, clock):
    owners = [f"owner {number}" for number in range(20)]
    for owner in owners:
        memory.forget(owner, memory.remember_many(owner, [("a note", {})], embeddings=[FLAT])[0].id)
    clock.forward(days=30)
    ready = threading.Barrier(2)

    def store():
        ready.wait()
        for owner in owners:
            memory.remember_many(owner, [("another", {})], embeddings=[FLAT])

    storing = threading.Thread(target=store)
    storing.start()
    ready.wait()
    memory.purge()
    storing.join()
    assert [memory.count(owner) for owner in owners] == [1] * len(owners)
