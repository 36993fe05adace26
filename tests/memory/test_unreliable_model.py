"""A model of anybody's may raise anything, give anything or hang: everybody is told the same, and in time."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from langmem_plugin.errors import EmbeddingUnavailable
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.embedding import embedder
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each
from tests.log_events import events
from tests.unreliable import WAYS, Unreliable
from tests.waiting import until

pytestmark = pytest.mark.slow

ANNA = "+972501234567"
QUESTION = "where do I park?"
HALF_A_SECOND = timedelta(seconds=0.5)
THINGS = ["boiler", "poison", "roof"]


@pytest.fixture
def model(offline_model):
    model = Unreliable(offline_model)
    yield model
    model.goes_on.set()


@pytest.fixture
def memory(database_url, clock, model):
    with MemoryService(database_url, embeddings=model, now=clock, sleep=lambda _: None) as service:
        yield service


def texts(found):
    return [each.memory.text for each in found]


def _outcome(memory, text):
    try:
        memory.remember(ANNA, text)
    except EmbeddingUnavailable:
        return "unavailable"
    return "stored"


@pytest.mark.spec("M-14", "M-3")
@for_each("way", WAYS)
def test_whatever_is_no_vector_is_called_unavailable_and_words_still_find(memory, model, way):
    stored = memory.remember(ANNA, "I park on level 3")
    model.way = WAYS[way]
    for verb in (
        lambda: memory.remember(ANNA, "I park on level 4"),
        lambda: memory.remember_many(ANNA, [("I park on level 4", {}), ("I park on level 5", {})]),
        lambda: memory.supersede(ANNA, stored.id, "I park on level 4"),
        lambda: memory.update(ANNA, stored.id, text="I park on level 4"),
        lambda: memory.create_memory("s1", "I park on level 4", owner=ANNA),
        lambda: memory.search(ANNA, QUESTION),
        lambda: memory.recall(ANNA, QUESTION),
        lambda: memory.history.search(ANNA, QUESTION),
        lambda: memory.history.add(ANNA, [PastMessage("m1", "s1", "user", "I park on level 4", memory.now())]),
    ):
        with pytest.raises(EmbeddingUnavailable):
            verb()
    assert KeyValueMemory(memory, ANNA).save_memory("level", "4")["error"] == "SAVE_FAILED"
    assert texts(memory.search(ANNA, "level", mode="text")) == ["I park on level 3"]
    assert memory.list_memories(ANNA) == [stored]
    assert memory.history.count(ANNA) == 0

    model.way = None
    assert texts(memory.recall(ANNA, QUESTION)) == ["I park on level 3"]


@pytest.mark.spec("M-14")
def test_vectors_of_another_dimension_under_the_same_name_are_not_compared(database_url, clock, offline_model, model):
    with MemoryService(database_url, embeddings=model, now=clock) as memory:
        memory.remember(ANNA, "I park on level 3")
    model.way = WAYS["another dimension"]
    with MemoryService(database_url, embeddings=model, now=clock) as memory:
        memory.remember(ANNA, "My assistant is David")
        assert texts(memory.search(ANNA, "level 3")) == ["I park on level 3"]
        assert texts(memory.search(ANNA, "David")) == ["My assistant is David"]
        assert memory.query_similar_memories("who is my assistant?", session_id=None, owner=ANNA) is not None


@pytest.mark.spec("M-14")
def test_a_call_that_hangs_is_given_up_and_after_four_no_further_one_is_waited_for(
    database_url, clock, model, monkeypatch
):
    with MemoryService(database_url, embeddings=model, now=clock) as memory:
        memory.remember(ANNA, "I park on level 3")
        memory.embedder._timeout = HALF_A_SECOND
        model.hold()
        began = time.monotonic()
        with ThreadPoolExecutor(4) as people:
            for told in people.map(lambda number: _outcome(memory, f"number {number}"), range(4)):
                assert told == "unavailable"
        assert 0.5 <= time.monotonic() - began < 30
        until(lambda: model.hanging == 4)

        memory.embedder._timeout = timedelta(minutes=1)
        monkeypatch.setattr(embedder, "_SECONDS_AT_REST", 60.0)
        began = time.monotonic()
        assert [_outcome(memory, f"more {number}") for number in range(20)] == ["unavailable"] * 20
        assert time.monotonic() - began < 30
        assert model.hanging == 4
        assert texts(memory.search(ANNA, "level", mode="text")) == ["I park on level 3"]

        model.goes_on.set()
        until(lambda: _outcome(memory, "again") == "stored")


@pytest.mark.spec("M-14")
def test_closing_waits_neither_for_a_call_that_hangs_nor_for_the_next_try(database_url, clock, model):
    memory = MemoryService(database_url, embeddings=model, now=clock, embedding_timeout=timedelta(minutes=2))
    memory.remember(ANNA, "I park on level 3")
    model.way, model.about = WAYS["raises OSError"], "retried"
    waits = threading.Event()
    memory.embedder._sleep = lambda _: waits.set() or memory.embedder._closing.wait(60)
    with ThreadPoolExecutor(2) as people:
        retried = people.submit(_outcome, memory, "retried")
        assert waits.wait(60)
        model.about = ""
        model.hold()
        hanging = people.submit(_outcome, memory, "hanging")
        until(lambda: model.hanging)
        began = time.monotonic()
        memory.close()
        assert (retried.result(60), hanging.result(60)) == ("unavailable", "unavailable")
        assert time.monotonic() - began < 30


@pytest.mark.spec("M-14")
def test_a_call_that_hangs_does_not_keep_a_program_from_ending(tmp_path):
    code = f"""
import threading
from datetime import timedelta
from langchain_core.embeddings import Embeddings
from langmem_plugin.errors import EmbeddingUnavailable
from langmem_plugin.memory import MemoryService

class Hanging(Embeddings):
    dimension = 3
    def embed_documents(self, texts):
        threading.Event().wait()
    embed_query = embed_documents

memory = MemoryService("sqlite:///{tmp_path}/x.db", embeddings=Hanging(), embedding_timeout=timedelta(seconds=0.2))
try:
    memory.remember("anna", "I park on level 3")
except EmbeddingUnavailable as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert "no answer in 0.2 seconds" in ended.stdout


@pytest.mark.spec("M-14", "M-7")
@for_each("way", ["NaN", "raises ValueError", "raises its provider's own"])
def test_one_text_that_has_no_vector_keeps_no_other_from_being_found(memory, model, clock, way, caplog):
    model.way, model.about = WAYS[way], "poison"
    said = [PastMessage(f"m{number}", "s1", "user", f"the {what} leaks", clock()) for number, what in enumerate(THINGS)]
    assert memory.history.add(ANNA, said) == len(THINGS)
    assert memory.history.follow(ANNA, "s2", [], lambda _: True) == 0
    assert "embedding.texts_left_out" in events(caplog)
    assert "poison" not in "".join(record.getMessage() for record in caplog.records)

    [found, *_] = memory.history.search(ANNA, "which thing for heating water drips?", mode="semantic")
    assert found.message.text == "the boiler leaks"
    [found, *_] = memory.history.search(ANNA, "poison", mode="text")
    assert found.message.text == "the poison leaks"
    assert memory.reembedding.waiting() == 1
    assert memory.reembedding.run() == 0
    model.way = None
    assert memory.reembedding.run() == 1
    assert memory.reembedding.waiting() == 0


@pytest.mark.spec("M-14")
def test_when_the_model_answers_for_nothing_no_text_is_left_out(memory, model, clock):
    model.way = WAYS["NaN"]
    with pytest.raises(EmbeddingUnavailable):
        memory.history.add(ANNA, [PastMessage("m1", "s1", "user", "the boiler leaks", clock())])
    assert memory.history.count(ANNA) == 0


@pytest.mark.spec("M-14")
def test_the_latest_texts_are_embedded_once_within_a_bound_of_bytes(memory, model):
    asked = []
    inner = model.inner.embed_documents

    class Counting(type(model.inner)):
        def embed_documents(self, texts):
            asked.extend(texts)
            return inner([text[:20] for text in texts])

    model.inner = Counting()
    long = [f"{number} " + "word " * 200_000 for number in range(20)]  # 1 MB each
    for text in ("short", *long, long[-1]):
        memory.embedder.texts([text])
    assert len(asked) == 21
    memory.embedder.texts(["short", long[0]])
    assert len(asked) == 23
    assert sum(len(text) for _, text in memory.embedder._latest._entries) <= 16 * 2**20


@pytest.mark.spec("M-14")
def test_many_texts_are_embedded_two_batches_at_once(offline_model):
    both = threading.Barrier(2)

    class Meeting(type(offline_model)):
        def embed_documents(self, texts):
            both.wait(60)  # of two that go on one after the other the first would wait in vain
            return super().embed_documents(texts)

    texts = [f"locker {number}" for number in range(128)]
    vectors = embedder.Embedder(Meeting()).texts(texts)

    assert [list(each) for each in vectors] == [list(each) for each in embedder.Embedder(offline_model).texts(texts)]
