"""What is kept in memory never differs from the database, and writers never undo one another."""

import contextlib
import gc
import os
import re
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import Embeddings
from sqlalchemy import delete, event

from langmem_plugin.database.memory_tables import memory_owner
from langmem_plugin.errors import MemoryNotFound, StaleMemory
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find import corpus_cache
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.keep import changes_and_checksums
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each
from tests.database.conftest import Child

pytestmark = pytest.mark.slow

ANNA, BEN = "+972501234567", "+972507654321"
TEXTS = (
    "I park on level 3",
    "My assistant is David",
    "Dana is allergic to peanuts",
    "The launch is on 15 December",
    "I prefer short emails",
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["remember", "forget", "update", "use", "remove"]), st.integers(0, 4), st.integers(0, 4)),
    min_size=6,
    max_size=16,
)


@pytest.mark.spec("M-5", "M-15")
@settings(max_examples=30)
@given(STEPS)
def test_a_service_that_watched_every_write_finds_what_a_fresh_one_finds(offline_model, clock, steps):
    with MemoryService("sqlite://", embeddings=offline_model, now=clock) as watching:
        for verb, which, text in (("remember", 0, 0), ("remember", 0, 1), *steps):
            ids = [each.id for each in watching.list_memories(ANNA)]
            match verb:
                case "remember":
                    watching.remember(ANNA, TEXTS[text])
                case "forget" if ids:
                    watching.forget(ANNA, ids[which % len(ids)])
                case "update" if ids:
                    watching.update(ANNA, ids[which % len(ids)], text=TEXTS[text], confidence=which / 4)
                case "use" if ids:
                    watching.note_access(ANNA, {ids[which % len(ids)]: 1.0}, "cited")
                case "remove":
                    clock.forward(days=31)
                    watching.purge()
            watching.search(ANNA, "where do I park?")
        fresh = MemoryService(watching.database, embeddings=offline_model, now=clock)
        for question in (*TEXTS, "who helps me?"):
            mine = watching.search(ANNA, question, min_relevance=0.0)
            theirs = fresh.search(ANNA, question, min_relevance=0.0)
            assert {each.memory.id: each.score for each in mine} == pytest.approx(
                {each.memory.id: each.score for each in theirs}, abs=1e-5
            )
        assert {each.id for each in watching.list_memories(ANNA)} == {
            each.memory.id for each in watching.search(ANNA, "level", min_relevance=0.0, limit=50)
        }


@pytest.mark.spec("W-6", "C-9")
def test_many_writers_of_one_text_store_it_once_and_of_one_key_keep_one_value(memory):
    keyed = KeyValueMemory(memory, ANNA)
    with ThreadPoolExecutor(8) as writers:
        stored = list(writers.map(lambda _: memory.remember(ANNA, "I park on level 3").id, range(16)))
        list(writers.map(lambda number: keyed.save_memory("level", str(number)), range(16)))
    assert len(set(stored)) == 1
    assert keyed.list_memory()["keys"] == ["level"]
    assert memory.count(ANNA) == 2


class Flat(Embeddings):
    model, dimension = "flat", 384

    def embed_documents(self, texts):
        return [[1.0] * 384 for _ in texts]

    def embed_query(self, text):
        return [1.0] * 384


@pytest.mark.spec("M-10")
def test_vectors_named_by_their_ids_and_talk_that_is_there_already_are_read_and_nothing_else(memory, clock):
    """Beside a few vectors PostgreSQL would read all memories for a join."""
    told = memory.remember(ANNA, "I park on level 3")
    said = PastMessage("m1", "s1", "user", "I park on level 3", clock())
    assert (memory.history.add(ANNA, [said]), memory.history.add(BEN, [])) == (1, 0)
    asked = []
    event.listen(memory.database.engine, "before_cursor_execute", lambda _c, _cursor, sql, *_: asked.append(sql))
    with memory.database.read() as connection:
        [vector] = memory.repository._vectors.of(connection, ANNA, [told.id]).values()
        [(_, cosine)] = memory.repository._vectors.cosines(connection, ANNA, vector, [told.id])
    assert cosine == pytest.approx(1.0)
    assert memory.history.add(ANNA, [said]) == 0
    assert asked
    assert not any(re.search(r"\bJOIN\b|^(INSERT|UPDATE)", sql) for sql in asked)


@pytest.mark.spec("W-6", "A-5")
def test_two_processes_with_eight_threads_each_that_are_told_the_same_store_it_once(database_url, memory):
    (asked, ready), (begin, go) = os.pipe(), os.pipe()

    def tell():
        with MemoryService(database_url, embeddings=Flat()) as own, ThreadPoolExecutor(8) as people:
            os.write(ready, b".")
            os.read(begin, 1)
            told = [people.submit(own.remember, ANNA, f"I park on level {number % 3}") for number in range(24)]
            return sorted({each.result().id for each in told})

    processes = [Child(tell, 180) for _ in range(2)]
    for _ in processes:
        os.read(asked, 1)
    os.write(go, b"..")
    one, other = (each.result() for each in processes)
    for end in (asked, ready, begin, go):
        os.close(end)
    assert one == other
    assert len(one) == memory.count(ANNA) == 3


@pytest.mark.spec("M-1")
def test_of_two_changes_decided_on_one_revision_the_second_is_refused(memory):
    stored = memory.remember(ANNA, "I park on level 3")
    ready, results = threading.Barrier(2), []

    def change(text):
        ready.wait()
        try:
            results.append(memory.update(ANNA, stored.id, revision=1, text=text).text)
        except StaleMemory:
            results.append(None)

    with ThreadPoolExecutor(2) as writers:
        list(writers.map(change, ["I park on level 4", "I park on level 5"]))
    assert results.count(None) == 1
    assert memory.get(ANNA, [stored.id])[0].text in results


@pytest.mark.spec("M-15")
def test_a_use_that_comes_after_forgetting_changes_nothing(memory):
    stored = memory.remember(ANNA, "I park on level 3")
    ready = threading.Barrier(2)

    def forget():
        ready.wait()
        return memory.forget(ANNA, stored.id)

    def use():
        ready.wait()
        memory.note_access(ANNA, {stored.id: 1.0}, "injected")

    with ThreadPoolExecutor(2) as people:
        for future in [people.submit(forget), people.submit(use)]:
            future.result()
    assert memory.get(ANNA, [stored.id]) == []
    with pytest.raises(MemoryNotFound):
        memory.forget(ANNA, stored.id)


@pytest.mark.spec("P-4")
def test_an_owner_who_was_erased_and_begins_anew_is_searched_anew(memory):
    for text in TEXTS:
        memory.remember(ANNA, text)
    assert memory.recall(ANNA, "where do I park?")
    with memory.database.write() as connection:
        connection.execute(delete(memory_owner).where(memory_owner.c.owner == ANNA))
    told = memory.remember(ANNA, "The cello lesson is on Monday")
    assert [each.memory for each in memory.recall(ANNA, "when is my cello lesson?")] == [told]
    assert memory.recall(ANNA, "where do I park?") == []


@pytest.mark.spec("M-10")
def test_what_another_thread_gave_up_hides_nothing_from_a_search_that_waited_for_it(memory, monkeypatch):
    memory.remember(ANNA, "I park on level 3")
    given_up, searching, by_ids = threading.Event(), threading.current_thread(), memory.repository.by_ids

    def states_of(connection, owners):
        if threading.current_thread() is not searching:
            given_up.wait(10)
        return changes_and_checksums.states_of(connection, owners)

    def read(*asked):
        if waiting.ident is None:
            waiting.start()
            time.sleep(0.3)  # until it waits for what this thread holds
        return by_ids(*asked)

    waiting = threading.Thread(target=memory.search, args=(ANNA, "level"), kwargs={"mode": "text"})
    monkeypatch.setattr(corpus_cache, "states_of", states_of)
    with contextlib.suppress(KeyError), memory.database.together():
        memory.remember(ANNA, "The harp lesson is on Monday")
        monkeypatch.setattr(memory.repository, "by_ids", read)
        memory.search(ANNA, "level", mode="text")
        raise KeyError
    given_up.set()
    waiting.join()
    monkeypatch.undo()
    memory.remember(ANNA, "The cello lesson is on Monday")

    assert [each.memory.text for each in memory.search(ANNA, "lesson", mode="text")] == [
        "The cello lesson is on Monday"
    ]


@pytest.mark.spec("M-10")
def test_owners_that_do_not_fit_in_memory_are_read_again(database_url, offline_model, clock):
    with MemoryService(database_url, embeddings=offline_model, now=clock, cache_bytes=60_000) as memory:
        for owner in (ANNA, BEN):
            memory.remember(owner, f"{owner} parks on level 3")
        for _ in range(3):
            for owner in (ANNA, BEN):
                assert [each.memory.owner for each in memory.recall(owner, "who parks on level 3?")] == [owner]
        assert memory.facts.corpora._slots.size <= 60_000


@pytest.mark.spec("M-10", "M-19")
@for_each("kind", ["usual", "one long word each", "a thousand tags each", "nothing at all"])
def test_the_cache_of_owners_keeps_to_its_bytes_whatever_they_store(offline_model, clock, kind):
    many, limit = 30, 500_000
    flat = [1.0] * 384
    with MemoryService("sqlite://", embeddings=offline_model, now=clock, cache_bytes=2 * limit) as memory:
        for owner in range(many) if kind != "nothing at all" else ():
            texts = {
                "usual": [(f"note {number} of {owner} about level {number}", {}) for number in range(20)],
                "one long word each": [(f"{owner}x{number}" + "y" * 20_000, {}) for number in range(5)],
                "a thousand tags each": [("tagged", {"tags": [f"tag {owner} {number}" for number in range(1_000)]})],
            }[kind]
            memory.remember_many(f"telegram:{100_000 + owner}", texts, embeddings=[flat] * len(texts))
        memory.search("telegram:100000", "level", mode="text")
        gc.collect()
        tracemalloc.start()
        for owner in range(many if kind != "nothing at all" else 250):
            memory.search(f"telegram:{100_000 + owner}", "level", mode="text")
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert memory.facts.corpora._slots.size <= limit
        assert held <= 1.5 * limit
