"""A store that is down is tried again later; a mistake in a store is told once, and costs no reply."""

import threading
import time

import numpy as np
import pytest
from langchain_core.vectorstores import InMemoryVectorStore

from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.collections import VectorStorePool
from langmem_plugin.memory.index.stores import VectorsById, chroma
from tests.cases import for_each
from tests.log_events import events
from tests.memory.index.conftest import ANNA, found, until

pytestmark = pytest.mark.spec("M-4", "M-14")


class Factory:
    """Raises `error` as long as there is one."""

    def __init__(self, error=None, *declared):
        self.error, self.calls, self.stores = error, 0, {}
        self.failures = declared

    def __call__(self, name, embeddings):
        self.calls += 1
        if self.error is not None:
            raise self.error
        self.stores.setdefault(name, InMemoryVectorStore(embeddings)).embedding = embeddings
        return self.stores[name]


@pytest.fixture
def opened(tmp_path, clock, offline_model):
    services = []

    def start(factory, **options):
        service = MemoryService(
            f"sqlite:///{tmp_path}/langmem.db",
            embeddings=offline_model,
            now=clock,
            open_collection=factory,
            **({"index_after": 1} | options),
        )
        services.append(service)
        return service

    yield start
    for service in services:
        service.close()


def filled(memory):
    memory.remember(ANNA, "My assistant is David")
    memory.remember(ANNA, "Dana is allergic to peanuts")
    return memory


def mistakes(caplog):
    return [each for each in caplog.records if getattr(each, "event", "") == "index.mistake"]


@for_each("error", [TypeError("takes 1 argument"), AttributeError("no such"), KeyError("name")])
def test_a_mistake_in_the_factory_is_told_once_and_every_reply_goes_out(opened, error, caplog):
    factory = Factory(error)
    memory = filled(opened(factory))
    for _ in range(3):
        assert found(memory) == ["My assistant is David"]
        assert until(lambda: len(mistakes(caplog)) == 1)
    time.sleep(0.05)
    assert factory.calls == 1
    assert mistakes(caplog)[0].levelname == "ERROR"
    assert isinstance(mistakes(caplog)[0].exc_info[1].__cause__, type(error))


def test_whoever_asks_for_the_index_is_told_what_is_wrong_with_it(opened):
    factory = Factory(TypeError("takes 1 argument"))
    memory = filled(opened(factory))
    with pytest.raises(ConfigurationError, match="TypeError") as told:
        memory.reindex(ANNA)
    assert told.value.__cause__ is factory.error
    factory.error = None
    assert memory.reindex(ANNA) is True
    assert found(memory) == ["My assistant is David"]


def test_a_mistake_ends_the_constructor_of_a_memory_that_should_always_have_the_collection(opened):
    with pytest.raises(ConfigurationError, match="TypeError"):
        opened(Factory(TypeError("takes 1 argument")), always_indexed={ANNA: "anna"})


@for_each(
    "search",
    [list, lambda *_, **__: ["no document"], lambda *_, **__: None],
    ids=["takes no k", "gives texts", "gives nothing"],
)
def test_a_mistake_that_only_a_search_meets_costs_no_reply_either(opened, search, caplog):
    factory = Factory()
    memory = filled(opened(factory))
    memory.reindex(ANNA)
    for store in factory.stores.values():
        store.similarity_search_by_vector = search
    assert found(memory) == ["My assistant is David"]
    assert found(memory) == ["My assistant is David"]
    assert len(mistakes(caplog)) == 1


def test_memories_are_purged_whatever_the_store_raises(opened, clock):
    factory = Factory()
    memory = filled(opened(factory))
    memory.reindex(ANNA)
    memory.forget(ANNA, memory.list_memories(ANNA)[0].id)
    for store in factory.stores.values():
        store.delete = lambda: None  # takes no ids
    clock.forward(days=31)
    assert memory.purge() == 1


@for_each(
    ("error", "declared"),
    [(KeyError("gone"), (KeyError,)), (StoreUnavailable("down"), ()), (ConnectionRefusedError(), ())],
)
def test_what_the_factory_declares_means_that_the_index_is_down(opened, error, declared, caplog):
    factory = Factory(error, *declared)
    memory = filled(opened(factory))
    assert memory.reindex(ANNA) is False
    assert found(memory) == ["My assistant is David"]
    factory.error = None
    assert memory.reindex(ANNA) is True
    assert mistakes(caplog) == []


def test_a_panic_of_native_code_is_a_failure(caplog):
    class Panicked(BaseException): ...

    pool = VectorStorePool(Factory(), lambda: 3)

    def panic(_):
        raise Panicked

    assert pool.tried("anna", panic) is None
    assert pool.tried("anna", lambda opened: opened.store is not None) is True
    assert events(caplog) == ["index.failed"] * 2


def test_a_chroma_that_another_thread_closes_is_closed_after_the_calls_in_it(tmp_path):
    """Closed under them, it raises AttributeError or TypeError, which are mistakes elsewhere."""
    stores = chroma(tmp_path / "index")
    vectors = VectorsById(3)
    store = stores("anna", vectors)
    vectors.of = {str(number): unit for number, unit in enumerate(np.eye(3, dtype=np.float32))}
    store.add_texts(list(vectors.of), ids=list(vectors.of))
    raised, answered = [], []

    def ask():
        while not raised:
            try:
                answered.append(store.similarity_search_by_vector([1.0, 0.0, 0.0], k=2))
            except Exception as error:  # noqa: BLE001 - of which class it is, is the question
                raised.append(error)

    asking = [threading.Thread(target=ask) for _ in range(3)]
    for each in asking:
        each.start()
    assert until(lambda: len(answered) > 20)
    stores.close()
    for each in asking:
        each.join(60)
    assert {type(each) for each in raised} == {StoreUnavailable}
    assert "closed" in str(raised[0])


class Settling(InMemoryVectorStore):
    """Notes how many vectors there were when it was told that these are all; fails as often as it is told to."""

    def __init__(self, embeddings, fails):
        super().__init__(embeddings)
        self.settled, self.fails, self.searched_before = [], fails, False

    def settle(self):
        if self.fails:
            self.fails -= 1
            raise StoreUnavailable("no memory left to make an index")
        self.settled.append(len(self.store))

    def similarity_search_by_vector(self, embedding, k=4, **_):
        self.searched_before |= not self.settled
        return super().similarity_search_by_vector(embedding, k)


class OfSettling(Factory):
    fails = 0

    def __call__(self, name, embeddings):
        self.stores.setdefault(name, Settling(embeddings, self.fails)).embedding = embeddings
        return self.stores[name]


def test_a_store_is_told_once_that_all_is_there_before_it_is_searched(opened):
    factory = OfSettling()
    memory = filled(opened(factory, index_after=2))
    assert memory.reindex(ANNA)
    memory.remember(ANNA, "Noa plays the cello")
    assert memory.reindex(ANNA)
    assert found(memory, "who plays the cello?") == ["Noa plays the cello"]

    [store] = factory.stores.values()
    assert store.settled == [2]
    assert len(store.store) == 3
    assert not store.searched_before


def test_what_could_not_be_settled_is_not_searched_and_is_gone_on_with_later(opened, caplog):
    factory = OfSettling()
    factory.fails = 2
    memory = filled(opened(factory, index_after=10))

    assert not memory.reindex(ANNA)
    [store] = factory.stores.values()
    assert store.settled == []
    assert "index.failed" in events(caplog)
    assert memory.reindex(ANNA)
    assert [*factory.stores.values()] == [store]
    assert store.settled == [2]
