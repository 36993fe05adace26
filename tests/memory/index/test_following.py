"""A vector index changes how large owners are searched, never what is found: the same for every store."""

import threading

import numpy as np
import pytest

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory import Filter, MemoryService
from langmem_plugin.memory.index.stores import opened_stores
from tests.cases import for_each
from tests.log_events import events
from tests.memory.index.conftest import ANNA, EVERYWHERE, MANY, answers, collection_of, found, in_process
from tests.waiting import until

pytestmark = [pytest.mark.spec("M-4"), pytest.mark.slow]


def test_the_index_is_made_in_the_background_and_finds_what_the_exact_way_finds(
    memory, many, place, clock, offline_model
):
    assert found(memory) == ["My assistant is David"]
    until(lambda: answers(memory))
    assert memory.stores.held() == {each.id for each in memory.list_memories(ANNA, limit=1_000)}
    questions = [f"what about number {number} of the {what}?" for number in range(10) for what in ("garden", "work")]
    with MemoryService(place[0], embeddings=offline_model, now=clock) as exact:
        same = sum(
            len(
                {each.memory.id for each in memory.search(ANNA, question, mode="semantic", limit=10, min_relevance=0)}
                & {each.memory.id for each in exact.search(ANNA, question, mode="semantic", limit=10, min_relevance=0)}
            )
            for question in questions
        )
    assert same >= 0.95 * 10 * len(questions)


def test_what_the_index_has_not_seen_is_found_and_what_is_gone_is_not(memory, many):
    memory.reindex(ANNA)
    memory.remember(ANNA, "I park on level 3")
    memory.forget(ANNA, many[0].id)
    memory.update(ANNA, many[1].id, text="The cello lesson is on Monday")
    before = memory.stores.asked
    assert found(memory, "where do I park?") == ["I park on level 3"]
    assert found(memory) == []
    assert found(memory, "which food is dangerous for Dana?") == []
    assert memory.stores.asked == before + 3
    assert memory.reindex(ANNA) is True
    assert found(memory, "when is my cello lesson?") == ["The cello lesson is on Monday"]
    assert many[0].id not in memory.stores.held()
    lesson = memory.supersede(ANNA, many[1].id, "The cello lesson is on Friday")
    assert memory.reindex(ANNA) is True
    assert found(memory, "when is my cello lesson?") == [lesson.text]


@in_process
def test_a_collection_is_made_anew_where_more_was_deleted_while_vectors_were_taken_out(memory, many):
    memory.reindex(ANNA)
    before = memory.index.named(ANNA)
    with memory.index.removing(ANNA, [many[0].id]), memory.database.write() as connection:
        memory.index.distrust(connection, ANNA)

    assert memory.reindex(ANNA) is True
    assert memory.index.named(ANNA) != before


@in_process
def test_a_comparison_of_an_owners_memories_asks_the_index_as_a_search_does(memory, many):
    memory.reindex(ANNA)
    before = memory.stores.asked
    for asked in ("who is my assistant?", memory.embedder.query("who is my assistant?").tolist()):
        nearest, second = memory.query_similar_memories(asked, owner=ANNA, limit=2)
        assert nearest.memory.text == "My assistant is David"
        assert nearest.signals["cosine"] == nearest.score > second.score
    assert memory.stores.asked == before + 2


@pytest.mark.parametrize("place", EVERYWHERE[:1], ids=" ".join, indirect=True)
def test_an_index_far_behind_catches_up_by_itself(memory, many):
    memory.reindex(ANNA)
    vectors = np.random.default_rng(4).standard_normal((2_100, 384)).tolist()
    memory.remember_many(ANNA, [(f"ticket {number}", {}) for number in range(2_100)], embeddings=vectors)
    before = memory.stores.asked
    assert found(memory) == ["My assistant is David"]
    assert memory.stores.asked == before
    until(lambda: len(memory.stores.held()) == MANY + 2 + 2_100)
    assert answers(memory)


@pytest.mark.parametrize("place", [EVERYWHERE[2], EVERYWHERE[4]], ids=" ".join, indirect=True)
def test_a_restart_finds_the_index_as_it_was_left(memory, many, opened, place):
    memory.reindex(ANNA)
    made = collection_of(memory)
    memory.forget(ANNA, many[1].id)
    memory = opened()
    until(lambda: answers(memory))
    assert collection_of(memory) == made
    assert found(memory, "which food is dangerous for Dana?") == []


def test_an_index_that_lost_everything_is_noticed_and_made_anew(memory, many, caplog):
    memory.reindex(ANNA)
    memory.stores.lose()
    assert found(memory) == ["My assistant is David"]
    assert {"index.empty", "index.failed"} & set(events(caplog))
    until(lambda: answers(memory))
    assert len(memory.stores.held()) == MANY + 2


@pytest.mark.spec("P-4")
def test_a_private_memory_is_in_no_index_and_is_found_all_the_same(memory, many):
    secret = memory.remember(ANNA, "The safe in the bedroom opens with 4711", private=True)
    memory.update(ANNA, many[0].id, private=True)
    memory.reindex(ANNA)
    assert not {secret.id, many[0].id} & memory.stores.held()
    before = memory.stores.asked
    assert found(memory, "how do I open the safe?") == [secret.text]
    assert found(memory) == ["My assistant is David"]
    assert memory.stores.asked == before + 2


@pytest.mark.spec("P-4")
def test_purged_memories_leave_the_index_without_a_new_one_and_erased_owners_leave_nothing(memory, many, clock):
    memory.reindex(ANNA)
    made = collection_of(memory)
    memory.forget(ANNA, many[1].id)
    clock.forward(days=31)
    assert memory.purge() == 1
    assert many[1].id not in memory.stores.held()
    until(lambda: answers(memory))
    assert collection_of(memory) == made
    assert memory.erase(ANNA) == MANY + 1
    assert memory.stores.held() == set()
    assert found(memory) == []


@in_process
def test_a_filter_is_answered_exactly(memory, many):
    memory.reindex(ANNA)
    assert found(memory, where=Filter(categories=["work"])) == ["My assistant is David"]
    assert found(memory, where=Filter(categories=["garden"])) == []
    assert memory.stores.asked == 0


@in_process
def test_small_owners_are_compared_exactly_and_get_no_collection(memory):
    memory.remember(ANNA, "My assistant is David")
    assert found(memory) == ["My assistant is David"]
    assert memory.stores.asked == 0
    assert memory.stores.held() == set()


def test_progress_is_told_and_several_at_once_take_turns(memory, many):
    done = []
    others = [threading.Thread(target=memory.reindex, args=(ANNA,)) for _ in range(3)]
    for other in others:
        other.start()
    assert memory.reindex(ANNA, done.append) is True
    for other in others:
        other.join()
    assert done == sorted(done)
    assert len(memory.stores.held()) == MANY + 2


def test_without_an_index_reindexing_says_what_is_missing(database_url, offline_model):
    with MemoryService(database_url, embeddings=offline_model) as memory, pytest.raises(ConfigurationError):
        memory.reindex(ANNA)


@for_each("said", ["", "chroma", "chroma:", "faiss", "pgvector"])
def test_a_setting_that_names_no_store_is_refused(said, tmp_path):
    with Database(f"sqlite:///{tmp_path}/langmem.db") as database, pytest.raises(ConfigurationError):
        opened_stores(said, database)


@pytest.mark.parametrize("place", EVERYWHERE[:1], ids=" ".join, indirect=True)
def test_a_change_that_comes_as_the_last_one_is_taken_up_is_followed_too(memory, many, monkeypatch):
    memory.reindex(ANNA)
    asked, go_on = threading.Event(), threading.Event()
    follow = memory.index._tried

    def slowly(owner, **options):
        done = follow(owner, **options)
        asked.set()
        go_on.wait(30)
        return done

    monkeypatch.setattr(memory.index, "_tried", slowly)
    memory.index.follow(ANNA)
    assert asked.wait(30)
    memory.forget(ANNA, many[0].id)
    memory.index.follow(ANNA)
    go_on.set()
    until(lambda: many[0].id not in memory.stores.held())
