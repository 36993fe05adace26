"""Whoever began before an erasure writes nothing after it: a run, a fact on its way, a worker, an indexer."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage
from sqlalchemy import delete, select

from langmem_plugin.database.conversation_tables import turn
from langmem_plugin.database.operations_tables import erased_key
from langmem_plugin.errors import ErasedMeanwhile, LangMemError, TurnLost, UnknownSession
from langmem_plugin.memory.find.past_messages import PastMessage
from langmem_plugin.memory.write.key_value_memory import KeyValueMemory
from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.privacy.conftest import ANNA, BEN, graph_of, opened, rows

pytestmark = pytest.mark.slow


class Slow:
    """A model that waits, once it is told to, until it may go on."""

    def __init__(self, model):
        self.model = model
        self.asked, self.may_go_on = threading.Event(), threading.Event()
        self.waits = False

    def _wait(self):
        if self.waits:
            self.asked.set()
            assert self.may_go_on.wait(60)

    def embed_documents(self, texts):
        self._wait()
        return self.model.embed_documents(texts)

    def embed_query(self, text):
        return self.model.embed_query(text)


@pytest.fixture
def slow(offline_model):
    return Slow(offline_model)


@pytest.fixture
def theirs(database_url, clock, slow):
    """Another process's, with a model that takes its time."""
    with opened(database_url, slow, clock) as made:
        yield made


@pytest.fixture
def memory(database_url, clock, offline_model):
    with opened(database_url, offline_model, clock) as made:
        yield made


_LATE = {
    "remember": lambda m: m.service.remember(ANNA, "Anna sails"),
    "supersede": lambda m: m.service.supersede(ANNA, m.service.list_memories(ANNA)[0].id, "Anna sails"),
    "update": lambda m: m.service.update(ANNA, m.service.list_memories(ANNA)[0].id, text="Anna sails"),
    "a key's value": lambda m: KeyValueMemory(m.service, ANNA).save_memory("hobby", "sailing"),
    "an entry of a session": lambda m: m.service.create_memory("s", "Anna sails", owner=ANNA),
    "a message": lambda m: m.service.history.add(ANNA, [PastMessage("1", "s", "user", "I sail", m.service.now())]),
    "past sessions": lambda m: m.index_past_sessions(),
}


@pytest.mark.spec("P-4")
@for_each("late", _LATE)
def test_what_was_being_embedded_is_not_written(late, memory, theirs, slow, clock):
    memory.service.remember(ANNA, "Anna was here")
    memory.service.remember(BEN, "Ben is here")
    memory.sessions.add_message(ANNA, "user", "what a day")
    clock.forward(hours=2)
    slow.waits = True
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(_LATE[late], theirs)
        assert slow.asked.wait(60)
        memory.erase(ANNA)
        slow.may_go_on.set()
        try:
            done = writing.result(60)
        except LangMemError as error:
            done = error
    assert rows(memory, [ANNA]) == {}
    if late in {"remember", "an entry of a session", "a message"}:
        assert isinstance(done, ErasedMeanwhile)
    slow.waits = False
    assert theirs.service.remember(ANNA, "Anna begins anew").text == "Anna begins anew"
    memory.restore_erased(ANNA)
    assert {each.text for each in memory.service.list_memories(ANNA)} == {"Anna was here", "Anna begins anew"}


@pytest.mark.spec("P-4")
def test_a_first_fact_on_its_way_is_refused_too(memory, theirs, slow):
    slow.waits = True
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(theirs.service.remember, ANNA, "Anna sails")
        assert slow.asked.wait(60)
        memory.erase(ANNA, now=True)
        slow.may_go_on.set()
        with pytest.raises(ErasedMeanwhile, match="nothing is stored"):
            writing.result(60)
    assert rows(memory, [ANNA]) == {}


@pytest.mark.spec("P-4")
@for_each("now", [False, True])
def test_a_run_that_stood_still_meanwhile_writes_nothing(now, memory, theirs):
    """Its process was frozen, and others have taken its place in the line away."""
    begun, erased = threading.Event(), threading.Event()

    def agent(_state):
        begun.set()
        assert erased.wait(60)
        return {"messages": AIMessage("too late")}

    graph = chat_graph(theirs, agent)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(theirs.reply, graph, ANNA, "remember my cat", message_id="1", raise_errors=True)
        assert begun.wait(60)
        with memory.database.write() as connection:
            connection.execute(delete(turn))
        memory.erase(ANNA, now=now)
        erased.set()
        with pytest.raises((TurnLost, UnknownSession)):
            running.result(60)
    left = rows(memory, [ANNA])
    assert "cat" not in str(left)
    assert left.keys() <= {"langmem_incoming"}


@pytest.fixture
def held_back(theirs, monkeypatch):
    """What their runs write waits, from the first write on, until it may go on."""
    tried, may_go_on = threading.Event(), threading.Event()
    writes = theirs.saver._runs
    write = writes.open

    def late(config, *, durable):
        tried.set()
        assert may_go_on.wait(60)
        return write(config, durable=durable)

    monkeypatch.setattr(writes, "open", late)
    return tried, may_go_on


def too_late(memory):
    return chat_graph(memory, lambda _: {"messages": AIMessage("too late")})


@pytest.mark.spec("P-4")
def test_a_first_run_that_stood_still_before_anything_of_it_was_stored_begins_no_session(memory, theirs, held_back):
    tried, may_go_on = held_back
    given = {"messages": [("user", "remember my cat")]}, {"configurable": {"thread_id": ANNA}}
    with ThreadPoolExecutor() as pool:
        running = pool.submit(too_late(theirs).invoke, *given)
        assert tried.wait(60)
        memory.erase(ANNA)
        may_go_on.set()
        with pytest.raises(ErasedMeanwhile, match="nothing is stored"):
            running.result(60)
    assert rows(memory, [ANNA]) == {}
    too_late(theirs).invoke(*given)
    assert len(rows(memory, [ANNA])["langmem_message"]) == 2


@pytest.mark.spec("P-4")
def test_a_turn_that_stood_still_before_anything_of_it_was_stored_writes_nothing(memory, theirs, held_back):
    tried, may_go_on = held_back
    with ThreadPoolExecutor() as pool:
        reply = (theirs.reply, too_late(theirs), ANNA, "remember my cat")
        running = pool.submit(*reply, message_id="1", raise_errors=True)
        assert tried.wait(60)
        with memory.database.write() as connection:
            connection.execute(delete(turn))
        memory.erase(ANNA)
        may_go_on.set()
        with pytest.raises(UnknownSession):
            running.result(60)
    assert rows(memory, [ANNA]) == {}


@pytest.mark.spec("P-4")
def test_a_run_that_goes_on_from_an_erased_session_begins_with_nothing_of_it(memory, theirs, clock, monkeypatch):
    theirs.reply(too_late(theirs), ANNA, "my cat is called Mitzi", message_id="1")
    clock.forward(hours=2)
    anew = theirs.saver.sessions.archive

    def after_the_erasure(*arguments, **named):
        memory.erase(ANNA)
        return anew(*arguments, **named)

    monkeypatch.setattr(theirs.saver.sessions, "archive", after_the_erasure)
    with pytest.raises(ErasedMeanwhile):
        too_late(theirs).invoke({"messages": [("user", "and my dog?")]}, {"configurable": {"thread_id": ANNA}})
    assert rows(memory, [ANNA]) == {}


@pytest.mark.spec("P-4", "C-21")
def test_a_message_whose_turn_was_lost_is_not_answered_anew_after_the_erasure(memory, theirs, held_back, monkeypatch):
    tried, may_go_on = held_back
    in_turn = theirs.channel._in_turn

    def lost(*arguments):
        try:
            return (yield from in_turn(*arguments))
        except TurnLost:
            memory.erase(ANNA)
            raise

    monkeypatch.setattr(theirs.channel, "_in_turn", lost)
    with ThreadPoolExecutor() as pool:
        reply = (theirs.reply, too_late(theirs), ANNA, "remember my cat")
        running = pool.submit(*reply, message_id="1", raise_errors=True)
        assert tried.wait(60)
        with memory.database.write() as connection:
            connection.execute(delete(turn))
        memory.reply(graph_of(memory), ANNA, "hello", message_id="2")
        may_go_on.set()
        with pytest.raises(UnknownSession):
            running.result(60)
    assert rows(memory, [ANNA]) == {}
    assert theirs.reply(too_late(theirs), ANNA, "here I am again", message_id="3") == "too late"


@pytest.mark.spec("P-4")
def test_a_turn_that_runs_is_waited_for_and_goes_too(memory, theirs):
    begun = threading.Event()

    def agent(_state):
        begun.set()
        threading.Event().wait(0.3)
        return {"messages": AIMessage("just in time")}

    graph = chat_graph(theirs, agent)
    with ThreadPoolExecutor() as pool:
        running = pool.submit(theirs.reply, graph, ANNA, "my cat is called Mitzi", message_id="1")
        assert begun.wait(60)
        receipt = memory.erase(ANNA)
        assert running.result(60) == "just in time"
    assert receipt.counts["langmem_message"] == 2
    assert rows(memory, [ANNA]) == {}


@pytest.mark.spec("P-4", "C-21")
def test_who_writes_while_they_are_erased_is_answered_and_begins_anew(memory, theirs, monkeypatch):
    graph = chat_graph(theirs, lambda state: {"messages": AIMessage(f"heard {len(state['messages'])}")})
    theirs.reply(graph, ANNA, "one", message_id="1")
    waiting = []
    take_out = memory.erasure.__class__._note
    pool = ThreadPoolExecutor()

    def with_a_message(*arguments):
        take_out(*arguments)
        waiting.append(pool.submit(theirs.reply, graph, ANNA, "two", message_id="2"))
        if memory.database.is_sqlite:
            return  # whoever writes waits for this transaction
        threading.Event().wait(0.3)

    monkeypatch.setattr(memory.erasure.__class__, "_note", with_a_message)
    memory.erase(ANNA)
    assert waiting[0].result(60) == "heard 1"
    assert theirs.reply(graph, ANNA, "two", message_id="2").repeated
    pool.shutdown()


@pytest.mark.spec("P-4")
def test_a_worker_that_reads_what_they_said_stores_nothing_after_it(database_url, clock, offline_model):
    with opened(database_url, offline_model, clock, extraction="rules") as memory:
        memory.consent.switch_on(ANNA)
        clock.forward(minutes=1)
        graph = chat_graph(memory, lambda _: {"messages": AIMessage("nice")})
        memory.reply(graph, ANNA, "I live in Haifa", message_id="1")
        work = memory.extraction.work
        read = work._extractor.facts_in

        class Erases:
            close = staticmethod(lambda: None)

            def facts_in(self, said):
                facts = read(said)
                assert facts
                memory.erase(ANNA)
                return facts

        work._extractor = Erases()
        memory.extract(ANNA)
        assert rows(memory, [ANNA]) == {}


@pytest.mark.spec("P-4")
def test_what_keeps_late_writers_out_names_nobody(memory):
    memory.service.remember(ANNA, "Anna was here")
    memory.erase(ANNA, now=True)
    with memory.database.read() as connection:
        [(hashed, number)] = connection.execute(select(erased_key.c.hash, erased_key.c.number)).all()
    assert (len(hashed), number) == (16, 1)
