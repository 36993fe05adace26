"""A collection that is always there, by its own name, however few the owner's memories."""

import os

import numpy as np
import pytest

from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.stores import chroma
from tests.cases import for_each
from tests.memory.index.conftest import ANNA, client_of, found, vectors_in
from tests.waiting import until

pytestmark = [pytest.mark.spec("M-4"), pytest.mark.slow]

NAME = "godfather_memory"


@pytest.fixture
def named(opened):
    return opened(index_after=1_000, always_indexed={ANNA: NAME})


def test_it_exists_from_the_start_and_holds_the_owners_vectors(named):
    assert named.stores.held() == set()
    kept = named.remember(ANNA, "My assistant is David")
    secret = named.remember(ANNA, "The safe in the bedroom opens with 4711", private=True)
    named.remember("+972501234568", "I park on level 3")
    until(lambda: named.stores.held() == {kept.id})
    assert found(named) == [kept.text]
    assert found(named, "how do I open the safe?") == [secret.text]
    named.forget(ANNA, kept.id)
    until(lambda: named.stores.held() == set())


@pytest.mark.spec("P-4")
def test_it_outlives_its_owner_without_a_trace_of_them(named):
    kept = named.remember(ANNA, "My assistant is David")
    until(lambda: named.stores.held() == {kept.id})
    named.erase(ANNA)
    assert named.stores.held() == set()
    again = named.remember(ANNA, "I park on level 3")
    until(lambda: named.stores.held() == {again.id})


@pytest.fixture
def at_home(tmp_path, clock, offline_model):
    """Starts on a Chroma folder that may be there already."""

    def start(embeddings=offline_model, **names):
        return MemoryService(
            f"sqlite:///{tmp_path}/langmem.db",
            embeddings=embeddings,
            now=clock,
            open_collection=chroma(tmp_path / "memory"),
            always_indexed=names or {ANNA: NAME},
        )

    return start


@pytest.fixture
def there(tmp_path):
    """A client as another program would use it, closed again before ours is opened."""
    client = client_of(tmp_path / "memory")
    yield client
    client.close()


def test_a_fresh_folder_is_private_and_the_collection_compares_by_cosine(at_home, tmp_path):
    with at_home() as memory:
        memory.remember(ANNA, "My assistant is David")
        assert vectors_in(memory, NAME) == (1, {"hnsw:space": "cosine"})
    assert (tmp_path / "memory").stat().st_mode & 0o777 == 0o700
    with at_home() as memory:
        assert vectors_in(memory, NAME)[0] == 1


@pytest.fixture
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@for_each("folder_is", ["new", "there already"])
def test_files_of_the_index_are_for_nobody_else_to_read(at_home, tmp_path, usual_umask, folder_is):
    folder = tmp_path / "memory"
    if folder_is == "there already":
        folder.mkdir()
        (folder / "notes.txt").write_text("not ours")
    with at_home() as memory:
        vectors = np.random.default_rng(4).standard_normal((1_100, 384)).tolist()  # Chroma writes them to disk
        memory.remember_many(ANNA, [(f"note {number}", {}) for number in range(1_100)], embeddings=vectors)
        assert vectors_in(memory, NAME)[0] == 1_100
        assert any(each.name == "data_level0.bin" for each in folder.rglob("*"))
        ours = [each for each in tmp_path.rglob("*") if each.name not in ("memory", "notes.txt")]
        modes = {str(each.relative_to(tmp_path)): each.stat().st_mode & 0o777 for each in ours}
        assert modes == {name: 0o700 if (tmp_path / name).is_dir() else 0o600 for name in modes}
    if folder_is == "new":
        assert folder.stat().st_mode & 0o777 == 0o700
    else:
        assert (folder / "notes.txt").stat().st_mode & 0o777 == 0o644


def test_a_collection_that_exists_already_is_used_with_what_is_in_it(at_home, there):
    made = there.get_or_create_collection(NAME, metadata={"hnsw:space": "cosine"})
    made.add(ids=["old"], embeddings=[[0.1] * 384], documents=["TestCorp owes 5000"], metadatas=[{"type": "fact"}])
    with at_home() as memory:
        memory.remember(ANNA, "My assistant is David")
        assert vectors_in(memory, NAME)[0] == 2
        assert [each.text for each in memory.list_memories(ANNA)] == ["My assistant is David", "TestCorp owes 5000"]
        assert memory.reindex(ANNA) is True


def test_two_owners_cannot_share_one(at_home):
    with pytest.raises(ConfigurationError):
        at_home(anna=NAME, ben=NAME)


class Halved:
    """The offline model's first half: another model, of another dimension."""

    model, dimension = "half", 192

    def __init__(self, inner) -> None:
        self.inner = inner

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return self.inner.embed_query(text)[:192]


def test_another_model_gets_the_collection_anew_as_its_texts_are_embedded_in_the_background(at_home, offline_model):
    with at_home() as memory:
        memory.remember_many(ANNA, [(f"note {number}", {}) for number in range(70)])
        assert vectors_in(memory, NAME)[0] == 70
    with at_home(Halved(offline_model)) as memory:
        assert vectors_in(memory, NAME)[0] == 0
        memory.reembedding.run_in_background()
        until(lambda: memory.reembedding.waiting() == 0)
        until(lambda: vectors_in(memory, NAME)[0] == 70)
