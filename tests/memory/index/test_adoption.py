"""What another application remembers in a Chroma collection is taken over once, checked and with a report."""

import contextlib
import logging
import sqlite3
import uuid
from datetime import UTC, datetime

import pytest

from langmem_plugin.errors import ConfigurationError, EmbeddingUnavailable, InvalidInput
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.index.stores import chroma
from tests.cases import for_each
from tests.log_events import events
from tests.memory.index.conftest import ANNA, client_of, vectors_in
from tests.waiting import until
from tests.warm_process import ran

pytestmark = [pytest.mark.spec("EDGE-010", "M-4"), pytest.mark.slow]

BEN = "+972501234568"
NAME = "godfather_memory"
FACTS = ["TestCorp owes 5000 shekels", "Dana is allergic to peanuts", "The car is parked on level 3"]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "memory"


@pytest.fixture
def store(folder, offline_model):
    """Stores as that application does, and leaves the folder to us."""

    def stored(texts=FACTS, name=NAME, vectors=None, ids=None, metadatas=None, space="cosine"):
        client = client_of(folder)
        collection = client.get_or_create_collection(name, metadata={"hnsw:space": space})
        ids = ids or [str(uuid.uuid4()) for _ in texts]
        collection.add(
            ids=ids,
            embeddings=vectors or offline_model.embed_documents(list(texts)),
            documents=list(texts),
            metadatas=metadatas or [{"created_at": "2025-11-03T10:00:00.123456", "type": "fact"} for _ in texts],
        )
        client.close()
        return ids

    return stored


@pytest.fixture
def start(tmp_path, folder, clock, offline_model):
    def started(embeddings=offline_model, **options):
        return MemoryService(
            f"sqlite:///{tmp_path}/langmem.db",
            embeddings=embeddings,
            now=clock,
            open_collection=chroma(folder),
            **({"always_indexed": {ANNA: NAME}} | options),
        )

    return started


def texts(memory, owner=ANNA):
    return sorted(each.text for each in memory.list_memories(owner))


def test_documents_become_memories_that_are_found_and_indexed(store, start, folder, caplog):
    ids = store()
    with caplog.at_level(logging.INFO), start() as memory:
        assert texts(memory) == sorted(FACTS)
        assert {each.id for each in memory.list_memories(ANNA)} == set(ids)
        [found] = memory.recall(ANNA, "what must Dana not eat?", limit=1)
        assert found.memory.text == FACTS[1]
        assert found.memory.created_at == datetime(2025, 11, 3, 10, 0, 0, 123456, tzinfo=UTC)
        assert (found.memory.fact_type, found.memory.source_type) == ("fact", "api_import")
        assert found.memory.metadata == {"adopted_from": NAME}
        until(lambda: vectors_in(memory, NAME)[0] == 3)
        assert texts(memory, BEN) == []
    assert events(caplog).count("collection.adopted") == 1
    assert b"peanuts" not in b"".join(each.read_bytes() for each in folder.iterdir() if each.is_file())


@pytest.mark.spec("P-4")
def test_the_vectors_of_what_was_taken_over_are_left_in_no_file(store, start, folder):
    """Nor what else is in their files: Chroma writes memory that was never set, with what others left in it."""
    store()
    [before] = folders(folder)
    with start() as memory:
        assert vectors_in(memory, NAME)[0] == 3
        ours = folders(folder)
        assert len(ours) == 1
        assert before not in ours
        memory.erase(ANNA)
        assert folders(folder).isdisjoint(ours)


def folders(folder):
    return {each.name for each in folder.iterdir() if each.is_dir()}


def test_it_is_done_once_and_what_was_forgotten_does_not_come_back(store, start, caplog):
    store()
    with start() as memory:
        forgotten = memory.list_memories(ANNA)[0]
        memory.forget(ANNA, forgotten.id)
    with caplog.at_level(logging.INFO), start() as memory:
        assert memory.count(ANNA) == 2
        assert vectors_in(memory, NAME)[0] == 2
    assert events(caplog).count("collection.adopted") == 0


@pytest.mark.spec("W-6")
@for_each("dated", [True, False])
def test_documents_older_than_a_correction_or_a_forgetting_bring_nothing_back(store, start, clock, dated):
    with start(always_indexed={}) as memory:
        for text in ("I live in Haifa", "I like green tea"):
            memory.remember(ANNA, text)
        clock.forward(days=1)
        memory.remember(ANNA, "I live in Tel Aviv")
        memory.forget(ANNA, memory.list_memories(ANNA)[-1].id)
        clock.forward(days=1)
        assert texts(memory) == ["I live in Tel Aviv"]
    documents = ["I live in Haifa", "My home is in Eilat", "I like green tea"]
    written = {"created_at": "2025-11-03T10:00:00"} if dated else {"type": "fact"}
    store(documents, metadatas=[written] * 3)

    with start() as memory:
        assert texts(memory) == ["I live in Tel Aviv"]


@pytest.mark.spec("W-6")
def test_an_index_that_lags_behind_brings_nothing_back(start, clock, monkeypatch):
    with start(always_indexed={}, index_after=1, owner_limit=100) as memory:
        for number in range(12):
            memory.remember(ANNA, f"The boat number {number} is in Haifa")
        memory.remember(ANNA, "I live in Haifa")
        assert memory.reindex(ANNA)
        monkeypatch.setattr(memory.background, "ask", lambda *_: None)
        clock.forward(days=1)
        memory.remember(ANNA, "I live in Tel Aviv")

        found = memory.search(ANNA, "where do I live?", min_relevance=0.0)
        assert "I live in Haifa" not in {each.memory.text for each in found}


@pytest.mark.parametrize("at", ["keep_within", "remove_foreign"])
def test_a_process_killed_in_the_middle_leaves_each_document_taken_over_once(store, start, tmp_path, folder, at):
    store()
    killed = f"""
        import os
        from langmem_plugin.memory import MemoryService
        from langmem_plugin.memory.index.chroma import ChromaCollections
        from langmem_plugin.memory.index.stores import chroma
        from langmem_plugin.memory.keep.retention import Retention
        for place in (ChromaCollections, Retention):
            if hasattr(place, {at!r}):
                setattr(place, {at!r}, lambda *_: os._exit(9))
        url, names = "sqlite:///{tmp_path}/langmem.db", {{{ANNA!r}: {NAME!r}}}
        MemoryService(url, open_collection=chroma({str(folder)!r}), always_indexed=names)
    """
    ran(killed, ends_with=9)
    with start() as memory:
        assert texts(memory) == sorted(FACTS)
        until(lambda: vectors_in(memory, NAME)[0] == 3)


def test_of_two_that_open_it_at_once_one_takes_over(store, start, caplog):
    store()
    with start() as first:
        with caplog.at_level(logging.WARNING), start() as second:
            assert texts(second) == texts(first) == sorted(FACTS)
            assert "collection.not_adopted" in events(caplog)
            with pytest.raises(TimeoutError):
                second.adopt_collection(NAME, ANNA)
        assert first.adopt_collection(NAME, ANNA) == 0


def test_what_means_nothing_here_is_kept_as_metadata_and_what_says_nothing_or_the_same_is_not_taken(
    store, start, clock
):
    odd = {
        "created_at": "the day before yesterday",
        "type": "debt",
        "source": 7,
        "category": "x" * 2_000,
        "confidence": 3.5,
        "amount": 5000,
    }
    fine = {
        "created_at": "2025-11-03T10:00:00+02:00",
        "type": "preference",
        "source": "command",
        "category": "work",
        "confidence": 0.5,
        "tags": "a, b",
        "session_id": "s1",
    }
    later = {"created_at": "2099-01-01T00:00:00"}
    store(["one", "two", "two", "  ", "three"], metadatas=[odd, fine, fine, fine, later])
    with start(always_indexed={}) as memory:
        assert memory.adopt_collection(NAME, ANNA) == 3
        held = {each.text: each for each in memory.list_memories(ANNA)}
        one, two, three = held["one"], held["two"], held["three"]
        assert one.metadata == {"adopted_from": NAME, **odd}
        assert (one.fact_type, one.created_at, one.confidence, one.category) == ("fact", clock(), 1.0, None)
        assert (two.fact_type, two.source_type, two.category, two.confidence) == ("preference", "command", "work", 0.5)
        assert (two.tags, two.session_id, two.created_at) == (("a", "b"), "s1", datetime(2025, 11, 3, 8, tzinfo=UTC))
        assert three.created_at == clock()
        assert memory.get_memories_by_session("s1") == [two]
        assert memory.adopt_collection(NAME, ANNA) == memory.adopt_collection("memory_nobody", ANNA) == 0


class Counting:
    """The offline model, counted, and failing when it is told to."""

    model, dimension = "counting", 384

    def __init__(self, inner):
        self.inner, self.texts, self.fails = inner, 0, False

    def embed_documents(self, texts):
        if self.fails:
            raise PermissionError("no key")
        self.texts += len(texts)
        return self.inner.embed_documents(texts)

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def test_the_texts_are_embedded_anew_whatever_model_was_there(store, start):
    many = [f"note {number} about the garden" for number in range(40)]
    store(many, vectors=[[0.1 + at, *[1.0] * 383] for at in range(40)])
    with start() as memory:
        found = memory.query_similar_memories(many[7], owner=ANNA, limit=1)
        assert found[0].signals["cosine"] > 0.999


def test_without_the_model_nothing_is_changed_and_the_next_start_takes_over(store, start, offline_model, caplog):
    store()
    model = Counting(offline_model)
    model.fails = True
    with caplog.at_level(logging.WARNING), start(model) as memory:
        assert "collection.not_adopted" in events(caplog)
        with pytest.raises(EmbeddingUnavailable):
            memory.adopt_collection(NAME, ANNA)
        assert texts(memory) == []
        memory.remember(ANNA, "My assistant is David", embedding=offline_model.embed_query("David"))
        assert not memory.reindex(ANNA)  # else the documents would be lost
    model.fails = False
    with start(model) as memory:
        assert texts(memory) == sorted([*FACTS, "My assistant is David"])


@for_each("other", [{"space": "l2"}, {"vectors": [[1.0] * 1_536] * 3}], ids=["distance", "dimension"])
def test_what_lies_in_another_distance_or_dimension_is_taken_over_too(store, start, other):
    store(**other)
    with start() as memory:
        assert texts(memory) == sorted(FACTS)
        assert memory.reindex(ANNA)
        assert memory.search(ANNA, "peanuts")[0].memory.text == "Dana is allergic to peanuts"


def test_what_chromadb_0_4_has_left_is_taken_over(store, start, folder):
    """It noted the distance in the metadata alone."""
    store()
    with contextlib.closing(sqlite3.connect(folder / "chroma.sqlite3")) as connection:
        connection.execute("UPDATE collections SET config_json_str = NULL, schema_str = NULL")
        connection.commit()
    for _ in range(2):  # nothing is taken twice
        with start() as memory:
            assert texts(memory) == sorted(FACTS)


def test_hostile_documents_are_taken_as_they_can_be_stored(store, start):
    hostile = ["NUL \x00 inside", "\u202eright to left", "x" * 64_000, "[" * 5_000, "/forget everything"]
    store(hostile, ids=["a", "b", "c\u202e", "d" * 900, "x/y"], metadatas=[{"type": "\u202e"} for _ in hostile])
    with start() as memory:
        assert texts(memory) == sorted(each.replace("\x00", "") for each in hostile)


def test_an_owner_that_spells_a_scope_and_a_service_without_a_folder_are_refused(store, start, tmp_path, offline_model):
    store()
    with start(always_indexed={}) as memory, pytest.raises(InvalidInput):
        memory.adopt_collection(NAME, "\x1fshared")
    service = MemoryService(f"sqlite:///{tmp_path}/other.db", embeddings=offline_model)
    with service as memory, pytest.raises(ConfigurationError, match="chroma"):
        memory.adopt_collection(NAME, ANNA)
