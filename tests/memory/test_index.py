"""A vector index changes how large owners are searched, never what is found: the same for every store."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from langchain_core.vectorstores import InMemoryVectorStore
from sqlalchemy import text

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory import Filter, MemoryService
from langmem_plugin.memory.stores import chroma, opened_stores, pgvector

ANNA, BEN = "+972501234567", "+972501234568"
MANY = 520

pytestmark = [pytest.mark.spec("M-4"), pytest.mark.filterwarnings("ignore::DeprecationWarning")]


class InProcess:
    """LangChain's own store in this process."""

    def __init__(self, url: str, folder: Path) -> None:
        self.opened = {}

    def __call__(self, name, embeddings):
        self.opened.setdefault(name, InMemoryVectorStore(embeddings)).embedding = embeddings
        store = self.opened[name]
        store.delete_collection = lambda: self.opened.pop(name, None)
        return store

    def held(self):
        return {memory_id for store in self.opened.values() for memory_id in store.store}

    def lose(self):
        for store in self.opened.values():
            store.store.clear()


class InChroma:
    def __init__(self, url: str, folder: Path) -> None:
        self.open = chroma(folder)

    def __call__(self, name, embeddings):
        return self.open(name, embeddings)

    def close(self):
        self.open.close()

    def held(self):
        collections = self.open._client.list_collections() if self.open._client else []
        return {memory_id for collection in collections for memory_id in collection.get()["ids"]}

    def lose(self):
        for collection in self.open._client.list_collections():
            self.open._client.delete_collection(collection.name)


class InQdrant:
    """Any VectorStore will do: all that is needed is a function that opens a collection."""

    def __init__(self, url: str, folder: Path) -> None:
        from qdrant_client import QdrantClient

        self.client = QdrantClient(":memory:")

    def __call__(self, name, embeddings):
        from langchain_qdrant import QdrantVectorStore
        from qdrant_client.models import Distance, VectorParams

        if not self.client.collection_exists(name):
            self.client.create_collection(
                name, vectors_config=VectorParams(size=embeddings.dimension, distance=Distance.COSINE)
            )
        return QdrantVectorStore(self.client, name, embeddings, validate_collection_config=False)

    def close(self):
        self.client.close()

    def held(self):
        names = [each.name for each in self.client.get_collections().collections]
        return {point.id for name in names for point in self.client.scroll(name, limit=10_000)[0]}

    def lose(self):
        for each in self.client.get_collections().collections:
            self.client.delete_collection(each.name)


class InPostgres:
    def __init__(self, url: str, folder: Path) -> None:
        self.database = Database(url)
        self.open = pgvector(self.database)

    def __call__(self, name, embeddings):
        return self.open(name, embeddings)

    def close(self):
        self.database.close()

    def tables(self, connection):
        listed = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'langmem_index'"))
        return [f'langmem_index."{name}"' for name in listed.scalars()]

    def held(self):
        with self.database.read() as connection:
            found = [connection.execute(text(f"SELECT id FROM {each}")).scalars() for each in self.tables(connection)]
            return {memory_id for ids in found for memory_id in ids}

    def lose(self):
        with self.database.write() as connection:
            for each in self.tables(connection):
                connection.execute(text(f"DROP TABLE {each}"))


class Watched:
    """Passes everything on and counts the searches that replies wait for."""

    def __init__(self, inner) -> None:
        self.inner, self.asked = inner, 0

    def __call__(self, name, embeddings):
        return _WatchedCollection(self, self.inner(name, embeddings))

    def __getattr__(self, name):
        return getattr(self.inner, name)


class _WatchedCollection:
    def __init__(self, watched, inner) -> None:
        self.watched, self.inner = watched, inner

    def __getattr__(self, name):
        searching = name == "similarity_search_by_vector" and threading.current_thread().name == "langmem-index"
        self.watched.asked += searching
        return getattr(self.inner, name)


KINDS = {"in process": InProcess, "chroma": InChroma, "qdrant": InQdrant, "pgvector": InPostgres}
EVERYWHERE = [
    ("sqlite", "in process"),
    ("postgresql", "in process"),
    ("sqlite", "chroma"),
    ("sqlite", "qdrant"),
    ("postgresql", "pgvector"),
]


in_process = pytest.mark.parametrize("place", EVERYWHERE[:2], ids=" ".join, indirect=True)


def until(reached, seconds=20):
    """What happens in the background is waited for."""
    for _ in range(int(seconds * 100)):
        if reached():
            return True
        time.sleep(0.01)
    return False


@pytest.fixture(params=EVERYWHERE, ids=" ".join)
def place(request, tmp_path):
    """(database URL, kind of store, folder for it)"""
    engine, kind = request.param
    if engine == "sqlite":
        return f"sqlite:///{tmp_path}/langmem.db", kind, tmp_path / "index"
    server = request.getfixturevalue("postgresql_server")
    name = f"index_{abs(hash(tmp_path))}"
    server.psql(f"CREATE DATABASE {name} TEMPLATE migrated;")
    return server.get_uri(database=name), kind, tmp_path / "index"


@pytest.fixture
def opened(place, clock, offline_model):
    """Opens a service on the place; several in a row are one after another."""
    running = []

    def again(**options):
        while running:
            running.pop().close()
        url, kind, folder = place
        stores = Watched(KINDS[kind](url, folder))
        service = MemoryService(
            url, embeddings=offline_model, now=clock, open_collection=stores, **({"index_after": 10} | options)
        )
        service.stores = stores
        running.append(service)
        return service

    yield again
    while running:
        running.pop().close()


@pytest.fixture
def memory(opened):
    return opened()


@pytest.fixture
def many(memory):
    numbers = np.random.default_rng(3)
    texts = [(f"note {number} about the garden", {"category": "garden"}) for number in range(MANY)]
    centres = np.repeat(numbers.standard_normal((MANY // 20, 384)), 20, axis=0)
    memory.remember_many(ANNA, texts, embeddings=(centres + numbers.standard_normal((MANY, 384))).tolist())
    return [
        memory.remember(ANNA, "My assistant is David", category="work"),
        memory.remember(ANNA, "Dana is allergic to peanuts", category="home"),
    ]


def found(memory, question="who helps me at work?", **options):
    return [each.memory.text for each in memory.recall(ANNA, question, **options)]


def answers(memory):
    """Whether a recall is answered by the index, now."""
    before = memory.stores.asked
    assert found(memory) == ["My assistant is David"]
    return memory.stores.asked > before


def test_the_index_is_made_in_the_background_and_finds_what_the_exact_way_finds(
    memory, many, place, clock, offline_model
):
    assert found(memory) == ["My assistant is David"]
    assert until(lambda: answers(memory))
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
def test_an_index_far_behind_catches_up_by_itself(memory, many):
    memory.reindex(ANNA)
    vectors = np.random.default_rng(4).standard_normal((2_100, 384)).tolist()
    memory.remember_many(ANNA, [(f"ticket {number}", {}) for number in range(2_100)], embeddings=vectors)
    before = memory.stores.asked
    assert found(memory) == ["My assistant is David"]
    assert memory.stores.asked == before
    assert until(lambda: memory.index.waiting(ANNA) == 0)
    assert until(lambda: answers(memory))
    assert len(memory.stores.held()) == MANY + 2 + 2_100


@pytest.mark.parametrize("place", [EVERYWHERE[2], EVERYWHERE[4]], ids=" ".join, indirect=True)
def test_a_restart_finds_the_index_as_it_was_left(memory, many, opened, place):
    memory.reindex(ANNA)
    memory.forget(ANNA, many[1].id)
    memory = opened()
    assert until(lambda: answers(memory))
    assert memory.index._standing(ANNA).generation == 1
    assert found(memory, "which food is dangerous for Dana?") == []


def test_an_index_that_lost_everything_is_noticed_and_made_anew(memory, many, caplog):
    memory.reindex(ANNA)
    memory.stores.lose()
    assert found(memory) == ["My assistant is David"]
    assert {"index.empty", "index.failed"} & set(caplog.messages)
    assert until(lambda: answers(memory))
    assert len(memory.stores.held()) == MANY + 2


@pytest.mark.spec("P-1", "P-4")
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
    memory.forget(ANNA, many[1].id)
    clock.forward(days=31)
    assert memory.purge() == 1
    assert many[1].id not in memory.stores.held()
    assert until(lambda: answers(memory))
    assert memory.index._standing(ANNA).generation == 1
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
    assert memory.index.waiting(ANNA) == 0


def test_without_an_index_reindexing_says_what_is_missing(database_url, offline_model):
    with MemoryService(database_url, embeddings=offline_model) as memory, pytest.raises(ConfigurationError):
        memory.reindex(ANNA)


@pytest.mark.parametrize("said", ["", "chroma", "chroma:", "faiss", "pgvector"])
def test_a_setting_that_names_no_store_is_refused(said, tmp_path):
    with Database(f"sqlite:///{tmp_path}/langmem.db") as database, pytest.raises(ConfigurationError):
        opened_stores(said, database)
