"""Another embedding model on the same database."""

import threading

import pytest
from langchain_core.embeddings import Embeddings
from sqlalchemy import event, select

from langmem_plugin.database.memory_tables import history_vector, memory_vector
from langmem_plugin.errors import EmbeddingUnavailable
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.find.past_messages import PastMessage
from tests.log_events import events
from tests.waiting import until

pytestmark = pytest.mark.slow

ANNA = "+972501234567"


class Renamed(Embeddings):
    """The offline model's vectors turned round: another space under another name."""

    model = "another model"

    def __init__(self, inner):
        self.inner, self.broken_after = inner, None

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        if self.broken_after is not None:
            if self.broken_after == 0:
                raise ConnectionError
            self.broken_after -= 1
        return self.inner.embed_query(text)[::-1]


@pytest.fixture
def other(offline_model):
    return Renamed(offline_model)


@pytest.fixture
def after_change(memory, database_url, clock, other):
    memory.remember_many(ANNA, [(f"note {number} on the garden", {}) for number in range(70)])
    memory.remember(ANNA, "My assistant is David")
    memory.history.add(ANNA, [PastMessage("m1", "s1", "user", "I park on level 3", clock())])
    with MemoryService(database_url, embeddings=other, now=clock, sleep=lambda _: None) as service:
        yield service


@pytest.mark.spec("M-3", "M-4")
def test_a_new_model_never_meets_old_vectors_and_words_find_meanwhile(after_change):
    assert after_change.search(ANNA, "who helps me at work?", mode="semantic", limit=3) == []
    assert [each.memory.text for each in after_change.search(ANNA, "assistant David", limit=1)] == [
        "My assistant is David"
    ]
    assert after_change.reembedding.waiting() == 72


@pytest.mark.spec("M-4")
def test_re_embedding_gives_every_text_its_vector_and_drops_the_old_ones(after_change):
    done = []
    assert after_change.reembedding.run(done.append) == 72
    assert done == [64, 71, 72]
    assert after_change.reembedding.waiting() == 0
    with after_change.database.read() as connection:
        for table in (memory_vector, history_vector):
            assert set(connection.execute(select(table.c.model)).scalars()) == {"another model"}
    assert [
        each.memory.text for each in after_change.search(ANNA, "who helps me at work?", mode="semantic", limit=1)
    ] == ["My assistant is David"]
    assert after_change.history.search(ANNA, "where is my car?", mode="semantic")[0].message.message_id == "m1"
    assert after_change.reembedding.run() == 0


@pytest.mark.spec("M-14")
def test_re_embedding_goes_on_where_it_was_stopped(after_change, other):
    other.broken_after = 66
    with pytest.raises(EmbeddingUnavailable):
        after_change.reembedding.run()
    assert after_change.reembedding.waiting() == 8
    other.broken_after = None
    assert after_change.reembedding.run() == 8


@pytest.mark.spec("M-4", "M-10")
def test_vectors_of_another_model_are_looked_for_once_and_again_after_a_change(
    memory, database_url, clock, other, offline_model
):
    memory.remember(ANNA, "My assistant is David")

    def looks(service):
        """How many statements a start asks of the vectors."""
        asked = []

        def noted(_connection, _cursor, statement, *_):
            if threading.current_thread() is threading.main_thread():  # the background asks for itself
                asked.append("_vector" in statement and statement.startswith("SELECT"))

        event.listen(service.database.engine, "before_cursor_execute", noted)
        service.background.ask = lambda *_: None
        service.reembedding.begin_after_change()
        event.remove(service.database.engine, "before_cursor_execute", noted)
        return sum(asked)

    assert looks(memory) == 2
    assert looks(memory) == 0
    with MemoryService(database_url, embeddings=other, now=clock) as changed:
        assert looks(changed) >= 1
        assert looks(changed) >= 1  # as long as it was not embedded anew
        changed.reembedding.run()
        assert looks(changed) == 0
    with MemoryService(database_url, embeddings=offline_model, now=clock) as back:
        assert looks(back) >= 1


@pytest.mark.spec("M-14")
def test_re_embedding_that_failed_in_the_background_is_done_again_by_itself(after_change, other, monkeypatch, caplog):
    monkeypatch.setattr("langmem_plugin.memory.calls_with_timeout._AGAIN_SECONDS", 0.05)
    other.broken_after = 66
    after_change.reembedding.run_in_background()
    until(lambda: "background.failed" in events(caplog))
    other.broken_after = None
    until(lambda: after_change.reembedding.waiting() == 0)
