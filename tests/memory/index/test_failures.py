"""Whatever a vector store raises, lacks or takes too long for costs no reply, and is tried again later."""

import threading

import numpy as np
import pytest
from langchain_core.vectorstores import InMemoryVectorStore

from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.stores import VectorsById, chroma
from tests.cases import for_each
from tests.log_events import events
from tests.memory.index.conftest import ANNA, found
from tests.waiting import until

pytestmark = pytest.mark.spec("M-4", "M-14")


class Factory:
    """Raises `error` as long as there is one."""

    def __init__(self, error=None):
        self.error, self.stores = error, {}

    def __call__(self, name, embeddings):
        if self.error is not None:
            raise self.error
        store = self.stores.setdefault(name, InMemoryVectorStore(embeddings))
        store.embedding, store.delete_collection = embeddings, lambda: self.stores.pop(name, None)
        return store


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


@for_each(
    "error",
    [TypeError("takes 1 argument"), KeyError("gone"), StoreUnavailable("down"), ConnectionRefusedError()],
)
def test_whatever_a_factory_raises_every_reply_goes_out_and_the_index_is_made_later(opened, error, caplog):
    factory = Factory(error)
    memory = filled(opened(factory))
    assert memory.reindex(ANNA) is False
    assert found(memory) == ["My assistant is David"]
    assert "index.failed" in events(caplog)
    factory.error = None
    assert memory.reindex(ANNA) is True
    assert found(memory) == ["My assistant is David"]


def test_a_collection_of_another_ends_the_constructor_of_a_memory_that_should_always_have_it(opened):
    with pytest.raises(ConfigurationError, match="another"):
        opened(Factory(ConfigurationError("another's")), always_indexed={ANNA: "anna"})


@for_each(
    "search",
    [list, lambda *_, **__: ["no document"], lambda *_, **__: None],
    ids=["takes no k", "gives texts", "gives nothing"],
)
def test_a_mistake_that_only_a_search_meets_costs_no_reply_either(opened, search):
    factory = Factory()
    memory = filled(opened(factory))
    memory.reindex(ANNA)
    for store in factory.stores.values():
        store.similarity_search_by_vector = search
    assert found(memory) == ["My assistant is David"]
    assert found(memory) == ["My assistant is David"]


def test_memories_are_purged_whatever_the_store_raises(opened, clock):
    factory = Factory()
    memory = filled(opened(factory))
    memory.reindex(ANNA)
    memory.forget(ANNA, memory.list_memories(ANNA)[0].id)
    for store in factory.stores.values():
        store.delete = lambda: None  # takes no ids
    clock.forward(days=31)
    assert memory.purge() == 1


def test_a_panic_of_native_code_is_a_failure(opened, caplog):
    class Panicked(BaseException): ...

    def panic(*_, **__):
        raise Panicked

    factory = Factory()
    memory = filled(opened(factory))
    memory.reindex(ANNA)
    for store in factory.stores.values():
        store.similarity_search_by_vector = panic
    for _ in range(2):  # the first search of a process compares exactly
        assert found(memory) == ["My assistant is David"]
    assert "index.failed" in events(caplog)


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
    until(lambda: len(answered) > 20)
    stores.close()
    for each in asking:
        each.join(60)
    assert {type(each) for each in raised} == {StoreUnavailable}
    assert "closed" in str(raised[0])
