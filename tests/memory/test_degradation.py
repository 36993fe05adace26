"""When the embedding model fails: tried again, named, and nothing half-stored."""

import pytest
from langchain_core.embeddings import Embeddings

from langmem_plugin.errors import EmbeddingUnavailable
from langmem_plugin.memory import MemoryService

ANNA = "+972501234567"


class Failing(Embeddings):
    """Raises as often as told, then answers."""

    model = "failing"

    def __init__(self, model, failures=0, error=ConnectionError):
        self.inner, self.failures, self.error = model, failures, error

    def embed_documents(self, texts):
        self._fail()
        return self.inner.embed_documents(texts)

    def embed_query(self, text):
        self._fail()
        return self.inner.embed_query(text)

    def _fail(self):
        if self.failures:
            self.failures -= 1
            raise self.error("no route to the model")


@pytest.fixture
def flaky(offline_model):
    return Failing(offline_model)


@pytest.fixture
def waits():
    return []


@pytest.fixture
def memory(database_url, clock, flaky, waits):
    with MemoryService(database_url, embeddings=flaky, now=clock, sleep=waits.append) as service:
        yield service


@pytest.mark.spec("M-14")
def test_a_failing_model_is_tried_three_more_times_after_1_2_and_4_seconds(memory, flaky, waits):
    flaky.failures = 3
    assert memory.remember(ANNA, "I park on level 3").text == "I park on level 3"
    assert waits == [1.0, 2.0, 4.0]


@pytest.mark.spec("M-14")
def test_after_the_last_try_the_caller_is_told_and_nothing_is_stored(memory, flaky, waits):
    flaky.failures = 4
    with pytest.raises(EmbeddingUnavailable):
        memory.remember(ANNA, "I park on level 3")
    assert waits == [1.0, 2.0, 4.0]
    assert memory.list_memories(ANNA) == []
    assert memory.remember(ANNA, "I park on level 3")


@pytest.mark.spec("M-14")
def test_what_needs_no_embedding_works_without_the_model(memory, flaky):
    stored = memory.remember(ANNA, "I park on level 3")
    flaky.failures = 1_000
    assert [each.memory for each in memory.search(ANNA, "level 3", mode="text")] == [stored]
    assert memory.list_memories(ANNA) == [stored]
    memory.forget(ANNA, stored.id)


@pytest.mark.spec("M-14")
def test_a_mistake_in_code_is_not_tried_again(memory, flaky, waits):
    flaky.failures, flaky.error = 1, TypeError
    with pytest.raises(EmbeddingUnavailable, match="TypeError") as raised:
        memory.remember(ANNA, "I park on level 3")
    assert isinstance(raised.value.__cause__, TypeError)
    assert waits == []


@pytest.mark.spec("M-17")
def test_a_text_is_embedded_once_and_a_batch_is_stored_whole_or_not_at_all(memory, flaky):
    facts = [(f"fact number {number}", {}) for number in range(100)]
    stored = memory.remember_many(ANNA, [*facts, facts[0]])
    assert [each.text for each in stored] == [text for text, _ in [*facts, facts[0]]]
    assert memory.count(ANNA) == 100
    flaky.failures = 1_000
    assert memory.remember("+972507654321", "fact number 7")
    with pytest.raises(EmbeddingUnavailable):
        memory.remember_many(ANNA, [("fact number 7", {}), ("a new one", {})])
    assert memory.count(ANNA) == 100
