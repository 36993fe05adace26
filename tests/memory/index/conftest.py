"""Every vector store, on the engine it serves, and an owner with enough memories for it."""

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from langchain_core.vectorstores import InMemoryVectorStore
from sqlalchemy import text

from langmem_plugin.database import Database
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.stores import chroma, pgvector

ANNA = "+972501234567"
MANY = 160


def client_of(folder):
    """A client of Chroma as another program would use it."""
    import chromadb

    return chromadb.PersistentClient(str(folder), chromadb.Settings(anonymized_telemetry=False))


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
        if self.open._client is None:
            return set()
        with self.open.calling() as client:
            return {memory_id for collection in client.list_collections() for memory_id in collection.get()["ids"]}

    def lose(self):
        with self.open.calling() as client:
            for collection in client.list_collections():
                client.delete_collection(collection.name)


class InQdrant:
    """Any VectorStore will do that can delete its collection: all that is needed is a function that opens one."""

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
        store = QdrantVectorStore(self.client, name, embeddings, validate_collection_config=False)
        store.delete_collection = lambda: self.client.delete_collection(name)
        return store

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


@pytest.fixture(params=EVERYWHERE, ids=" ".join)
def place(request, tmp_path):
    """(database URL, kind of store, folder for it)"""
    engine, kind = request.param
    if engine == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "langmem.db")
        yield f"sqlite:///{tmp_path}/langmem.db", kind, tmp_path / "index"
        return
    with request.getfixturevalue("postgresql_server").copy(f"index_{abs(hash(tmp_path))}") as url:
        yield url, kind, tmp_path / "index"


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
    return [each.memory.text for each in memory.search(ANNA, question, limit=5, min_relevance=0.7, **options)]


def answers(memory):
    """Whether a recall is answered by the index, now."""
    before = memory.stores.asked
    assert found(memory) == ["My assistant is David"]
    return memory.stores.asked > before


def collection_of(memory):
    """The name of the owner's collection: another one each time it is made anew."""
    [name] = memory.index.named(ANNA)
    return name


def vectors_in(memory, name):
    """How many vectors Chroma holds under the name, once they have followed the owner; and its metadata."""
    assert memory.reindex(ANNA)
    with memory.index._collections._open_collection.calling() as client:
        made = client.get_collection(name)
        return made.count(), made.metadata
