"""A vector index changes how fast large owners are searched, never what is found."""

import numpy as np
import pytest
from langchain_core.vectorstores import InMemoryVectorStore

from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory import Filter, MemoryService
from langmem_plugin.memory.index import chroma

ANNA = "+972501234567"

pytestmark = pytest.mark.spec("M-4")


class Stores:
    """Collections in this process, which can be made to fail or to lose what they hold."""

    def __init__(self):
        self.opened, self.failing, self.asked = {}, False, 0

    def __call__(self, name, embeddings):
        self.opened.setdefault(name, InMemoryVectorStore(embeddings)).embedding = embeddings
        return _Watched(self, self.opened[name])


class _Watched:
    def __init__(self, stores, inner):
        self.stores, self.inner = stores, inner

    def __getattr__(self, name):
        if self.stores.failing:
            raise RuntimeError("the index is broken")
        self.stores.asked += name == "similarity_search_by_vector"
        return getattr(self.inner, name)


@pytest.fixture
def stores():
    return Stores()


@pytest.fixture
def memory(database_url, clock, offline_model, stores):
    with MemoryService(
        database_url, embeddings=offline_model, now=clock, open_collection=stores, index_after=10
    ) as service:
        yield service


@pytest.fixture
def many(memory):
    numbers = np.random.default_rng(3)
    texts = [(f"note {number} about the garden", {"category": "garden"}) for number in range(600)]
    memory.remember_many(ANNA, texts, embeddings=numbers.standard_normal((600, 384)).tolist())
    return [
        memory.remember(ANNA, "My assistant is David", category="work"),
        memory.remember(ANNA, "Dana is allergic to peanuts", category="home"),
    ]


def found(memory, question="who helps me at work?", **options):
    return [each.memory.text for each in memory.recall(ANNA, question, **options)]


def test_the_index_finds_what_the_exact_way_finds(memory, many, stores):
    assert found(memory) == ["My assistant is David"]
    assert stores.asked == 0
    done = []
    assert memory.reindex(ANNA, done.append) is True
    assert done == [500, 602]
    assert found(memory) == ["My assistant is David"]
    assert found(memory, "which food is dangerous for Dana?") == ["Dana is allergic to peanuts"]
    assert stores.asked == 2


def test_what_the_index_has_not_seen_is_found_and_what_was_forgotten_is_not(memory, many, stores):
    memory.reindex(ANNA)
    memory.remember(ANNA, "I park on level 3")
    memory.forget(ANNA, many[0].id)
    memory.update(ANNA, many[1].id, text="The cello lesson is on Monday")
    assert found(memory, "where do I park?") == ["I park on level 3"]
    assert found(memory) == []
    assert found(memory, "which food is dangerous for Dana?") == []
    assert memory.reindex(ANNA) is True
    assert found(memory, "when is my cello lesson?") == ["The cello lesson is on Monday"]
    assert stores.asked == 4


def test_a_filter_is_answered_exactly(memory, many, stores):
    memory.reindex(ANNA)
    assert found(memory, where=Filter(categories=["work"])) == ["My assistant is David"]
    assert found(memory, where=Filter(categories=["garden"])) == []
    assert stores.asked == 0


def test_a_broken_index_costs_a_warning_and_is_made_anew(memory, many, stores, caplog):
    memory.reindex(ANNA)
    stores.failing = True
    assert found(memory) == ["My assistant is David"]
    assert caplog.messages.count("index.failed") == 2
    assert memory.reindex(ANNA) is False
    stores.failing = False
    assert found(memory) == ["My assistant is David"]
    assert memory.reindex(ANNA) is True
    asked = stores.asked
    assert found(memory) == ["My assistant is David"]
    assert stores.asked == asked + 1


def test_an_index_that_lost_everything_is_noticed_and_made_anew(memory, many, stores):
    memory.reindex(ANNA)
    stores.opened.clear()
    memory.index._open.clear()
    assert found(memory) == ["My assistant is David"]
    assert memory.reindex(ANNA) is True
    assert any(store.store for store in stores.opened.values())


@pytest.mark.spec("P-1", "P-4")
def test_the_index_holds_no_text_and_no_owner_and_purged_memories_leave_it(memory, many, stores, clock):
    memory.reindex(ANNA)
    held = repr(stores.opened.keys()) + repr([store.store for store in stores.opened.values()])
    assert "David" not in held
    assert ANNA.strip("+") not in held
    memory.forget(ANNA, many[0].id)
    clock.forward(days=31)
    memory.purge()
    assert not any(many[0].id in store.store for store in stores.opened.values())
    assert found(memory, "which food is dangerous for Dana?") == ["Dana is allergic to peanuts"]


@pytest.mark.spec("P-1")
def test_a_private_memory_is_in_no_index_and_is_found_all_the_same(memory, many, stores):
    secret = memory.remember(ANNA, "The safe in the bedroom opens with 4711", private=True)
    memory.update(ANNA, many[0].id, private=True)
    memory.reindex(ANNA)
    assert not {secret.id, many[0].id} & {key for store in stores.opened.values() for key in store.store}
    assert found(memory, "how do I open the safe?") == [secret.text]
    assert found(memory) == ["My assistant is David"]
    assert stores.asked == 2


def test_without_an_index_reindexing_says_what_is_missing(database_url, offline_model):
    with MemoryService(database_url, embeddings=offline_model) as memory, pytest.raises(ConfigurationError):
        memory.reindex(ANNA)


@pytest.mark.filterwarnings("ignore")
def test_chroma_serves_as_the_index_and_keeps_it_on_disk(tmp_path, clock, offline_model):
    url, folder = f"sqlite:///{tmp_path}/memory.db", str(tmp_path / "index")
    for start in ("first", "second"):
        with MemoryService(
            url, embeddings=offline_model, now=clock, open_collection=chroma(folder), index_after=1
        ) as memory:
            if start == "first":
                memory.remember_many(ANNA, [("My assistant is David", {}), ("I park on level 3", {})])
                assert memory.reindex(ANNA) is True
            assert found(memory) == ["My assistant is David"]
            assert found(memory, "where do I park?") == ["I park on level 3"]
            assert ANNA not in memory.index._failed
