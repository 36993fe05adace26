"""What is past its time goes by itself, by one process at a time, in slices."""

import gc
import itertools
import os
import signal
import threading
import time
import weakref
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import interrupt
from sqlalchemy import BigInteger, func, insert, select, type_coerce, update

from langmem_plugin import ConversationSaver, PhoneMemory, SessionManager, Settings, StoreUnavailable
from langmem_plugin.conversation.turns import turn_queue
from langmem_plugin.database.conversation_tables import incoming, question, session, turn
from langmem_plugin.database.memory_tables import memory_access, memory_owner
from langmem_plugin.database.operations_tables import upkeep
from langmem_plugin.database.people_tables import link_code
from tests.chat_graph import chat_graph
from tests.database.conftest import Child
from tests.log_events import events
from tests.waiting import until

pytestmark = pytest.mark.both_engines

ERIN, MOM = "+972501234567", "+972509999999"
BY_HAND = Settings(sweep_every=None, search_past_sessions=False)


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, settings=BY_HAND, embeddings=offline_model, now=clock) as opened:
        yield opened


def _graph(memory):
    return chat_graph(memory, lambda state: {"messages": AIMessage(f"heard {len(state['messages'])}")})


def _count(memory, table):
    with memory.database.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def _put(memory, table, *rows):
    with memory.database.write() as connection:
        connection.execute(insert(table), list(rows))


class Between:
    """In place of the pause between two transactions of a sweep: does something there."""

    def __init__(self, memory, work):
        self.work, self.pauses = work, 0
        memory.housekeeping.worker.closing = self

    def wait(self, seconds):
        self.pauses += 1
        self.work(self.pauses)

    def is_set(self):
        return False

    def set(self):
        """Nobody closes it."""


@pytest.mark.spec("C-22", "C-3", "C-4")
def test_a_sweep_archives_what_fell_silent_and_deletes_it_a_month_later_with_all_that_belongs_to_it(memory, clock):
    memory.reply(_graph(memory), ERIN, "hello")
    assert memory.housekeeping.sweep() == Counter()

    clock.forward(minutes=30)
    assert memory.housekeeping.sweep() == Counter(sessions_archived=1)
    assert memory.housekeeping.sweep() == Counter()

    clock.forward(days=30)
    assert memory.housekeeping.sweep() == Counter()
    clock.forward(minutes=1)
    assert memory.housekeeping.sweep() == Counter(sessions_deleted=1)
    with memory.database.read() as connection:
        for table in ("session", "message", "checkpoint", "value", "media", "pending"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM langmem_{table}").scalar() == 0, table


@pytest.mark.spec("C-22", "C-4")
def test_kept_for_ever_is_kept_for_ever(database_url, clock, offline_model):
    settings = BY_HAND.model_copy(update={"archive_days": None})
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model, now=clock) as memory:
        memory.reply(_graph(memory), ERIN, "hello")
        clock.forward(days=10_000)
        assert memory.housekeeping.sweep()["sessions_archived"] == 1
        clock.forward(days=10_000)
        assert memory.housekeeping.sweep()["sessions_deleted"] == 0


@pytest.mark.spec("C-22", "M-15")
def test_a_sweep_deletes_memories_and_their_uses_and_owners_of_nothing(memory, clock):
    service = memory.service
    kept = service.remember(ERIN, "I like tea")
    _put(
        memory,
        memory_access,
        {"owner": ERIN, "access_id": "a1", "memory_id": kept.id, "kind": "viewed", "at": clock()},
    )
    service.forget(MOM, service.remember(MOM, "I like coffee").id)

    clock.forward(days=29)
    assert memory.housekeeping.sweep() == Counter()
    clock.forward(days=1)
    assert memory.housekeeping.sweep() == Counter(memories_deleted=1, owners_forgotten=1)
    clock.forward(days=60)
    assert memory.housekeeping.sweep() == Counter(uses_deleted=1)
    assert [each.id for each in service.list_memories(ERIN)] == [kept.id]
    assert _count(memory, memory_owner) == 1


@pytest.mark.spec("C-22")
def test_a_sweep_deletes_claimed_ids_questions_and_codes_when_nobody_needs_them(memory, clock):
    claim = {"thread": ERIN, "position": 1, "attempts": 1, "received_at": clock(), "sent": False}
    _put(
        memory,
        incoming,
        {**claim, "message_id": "answered", "ticket": 1, "reply": b"yes"},
        {**claim, "message_id": "abandoned", "ticket": None, "reply": None},
        {**claim, "message_id": "of a turn that is gone", "ticket": 7, "reply": None},
        {**claim, "message_id": "new", "ticket": 1, "reply": b"yes", "received_at": clock() + timedelta(days=2)},
    )
    _put(memory, question, {"thread": ERIN, "asked_at": clock(), "payload": b"?"})
    in_an_hour = clock() + timedelta(hours=1)
    _put(memory, link_code, {"digest": b"d", "salt": b"s", "person": ERIN, "expires_at": in_an_hour})

    assert memory.housekeeping.sweep() == Counter()
    clock.forward(hours=1)
    assert memory.housekeeping.sweep() == Counter(link_codes_deleted=1)
    clock.forward(hours=23)
    assert memory.housekeeping.sweep() == Counter(questions_dropped=1)
    clock.forward(days=2)
    assert memory.housekeeping.sweep() == Counter(claimed_ids_deleted=3)
    assert _count(memory, incoming) == 1


@pytest.mark.slow
@pytest.mark.spec("C-22", "C-9")
def test_tickets_of_processes_that_are_gone_are_taken_away_and_no_others(memory, monkeypatch):
    monkeypatch.setattr(turn_queue, "_ABANDONED_SECONDS", turn_queue.SILENT_SECONDS)  # nobody waits behind them
    _put(memory, turn, {"thread": MOM, "renewals": 3}, {"thread": "+972508888888", "renewals": 0})

    with memory.turn(ERIN):
        until(lambda: _count(memory, turn) <= 1)
        assert _count(memory, turn) == 1
        assert _first_ticket(memory, ERIN) is not None


@pytest.mark.slow
@pytest.mark.spec("C-9")
def test_who_stood_still_for_a_while_keeps_a_turn_that_nobody_waits_for(memory, monkeypatch):
    monkeypatch.setattr(turn_queue, "SILENT_SECONDS", 0.5)
    _put(memory, turn, {"thread": MOM, "renewals": 3})

    with memory.turn(ERIN):
        time.sleep(3)
        first = _first_ticket(memory, MOM)
        assert first is not None
        _put(memory, turn, {"thread": MOM, "renewals": 0})  # somebody waits behind it
        until(lambda: _count(memory, turn) == 2)
        assert _first_ticket(memory, MOM) not in (None, first)


def _first_ticket(memory, thread):
    with memory.database.read() as connection:
        return connection.execute(select(turn.c.ticket).where(turn.c.thread == thread)).scalar()


@pytest.mark.slow
@pytest.mark.spec("C-22", "C-3")
def test_conversations_that_wait_for_an_answer_do_not_keep_others_from_ending(database_url, clock):
    """The first page of those that are looked at is full of them."""
    with ConversationSaver(database_url, now=clock) as saver, PhoneMemory("sqlite://") as nobody:
        manager = SessionManager(saver)
        graph = chat_graph(nobody, lambda _: {"messages": AIMessage(interrupt("Really?"))}, own_checkpointer=False)
        graph.checkpointer = saver
        for number in range(51):
            graph.invoke({"messages": "order"}, {"configurable": {"thread_id": f"+9725000000{number:02}"}})
        clock.forward(seconds=5)
        for number in range(5):
            manager.add_message(f"+9725100000{number:02}", "user", "hi")

        clock.forward(hours=2)
        assert manager.expire() == (5, 0)
        clock.forward(hours=22)
        assert manager.expire() == (51, 0)


@pytest.mark.slow
@pytest.mark.spec("C-22", "A-5")
def test_a_reply_gets_through_in_the_middle_of_a_sweep_over_20_000_rows(memory, clock):
    graph = _graph(memory)
    memory.reply(graph, ERIN, "hello")
    doomed = {"digest": b"d", "salt": b"s", "expires_at": clock() - timedelta(days=1)}
    _put(memory, link_code, *({**doomed, "person": f"{number}"} for number in range(20_000)))
    left, replies = [], []

    with ThreadPoolExecutor(1) as other:

        def reply(pause):
            left.append(_count(memory, link_code))
            if left[-1] in (19_500, 10_000):
                replies.append(other.submit(memory.reply, graph, ERIN, "are you there?").result(60))

        Between(memory, reply)
        assert memory.housekeeping.sweep() == Counter(link_codes_deleted=20_000)

    assert replies == ["heard 3", "heard 5"]
    assert max(before - after for before, after in itertools.pairwise(left)) <= 500


@pytest.mark.spec("C-22", "C-4")
def test_many_sessions_are_deleted_a_few_at_a_time(memory, clock):
    for number in range(45):
        memory.sessions.add_message(f"+9725012345{number:02}", "user", "hi")
    with memory.database.write() as connection:
        connection.execute(update(session).values(ended_at=clock() - timedelta(days=31)))
    left = []
    Between(memory, lambda _: left.append(_count(memory, session)))

    assert memory.housekeeping.sweep()["sessions_deleted"] == 45
    assert [count for count in left if count] == [45, 25, 5]


@pytest.mark.spec("C-22", "A-5")
def test_there_are_never_two_sweeps_of_a_database_at_once(memory, database_url, clock, offline_model):
    seen = []
    with PhoneMemory(database_url, settings=BY_HAND, embeddings=offline_model, now=clock) as another:
        with ThreadPoolExecutor(1) as other:

            def sweep_too(pause):
                if not seen:
                    seen.extend(other.submit(each.housekeeping.sweep).result(60) for each in (memory, another))

            Between(memory, sweep_too)
            assert memory.housekeeping.sweep() == Counter()
        assert seen == [None, None]
        assert another.housekeeping.sweep() == Counter()


@pytest.mark.spec("C-22")
def test_the_lock_of_a_file_is_for_nobody_else_to_read(tmp_path, clock, offline_model):
    url = f"sqlite:///{tmp_path}/langmem.db"
    with PhoneMemory(url, settings=BY_HAND, embeddings=offline_model, now=clock) as memory:
        memory.housekeeping.sweep()
    assert {path.stat().st_mode & 0o777 for path in Path(tmp_path).iterdir()} == {0o600}


@pytest.mark.spec("C-22")
def test_a_database_in_memory_is_swept_too(clock, offline_model):
    with PhoneMemory("sqlite://", settings=BY_HAND, embeddings=offline_model, now=clock) as memory:
        memory.reply(_graph(memory), ERIN, "hello")
        clock.forward(days=1)
        assert memory.housekeeping.sweep() == Counter(sessions_archived=1)


@pytest.mark.slow
@pytest.mark.spec("C-22", "C-5")
def test_a_process_that_is_killed_in_the_middle_of_a_sweep_holds_others_up_for_30_seconds_at_most(memory):
    """On a server, where what it holds is made older in place of waiting; in a file not at all."""
    reads, writes = os.pipe()

    def sweep_for_ever():
        memory.housekeeping._swept = lambda: os.write(writes, b".") and time.sleep(600)
        memory.housekeeping.sweep()

    process = Child(sweep_for_ever, 120)
    assert os.read(reads, 1) == b"."
    assert memory.housekeeping.sweep() is None
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(AssertionError, match="ended with status 9"):
        process.result()
    for end in (reads, writes):
        os.close(end)
    if not memory.database.is_sqlite:
        _made_older(memory, seconds=5)
        assert memory.housekeeping.sweep() is None
        _made_older(memory, seconds=25)
    assert memory.housekeeping.sweep() == Counter()


def _made_older(memory, seconds):
    with memory.database.write() as connection:
        held = update(upkeep).where(upkeep.c.name.startswith("alone:"))
        noted = type_coerce(upkeep.c.noted_at, BigInteger)
        assert connection.execute(held.values(noted_at=noted - seconds * 1_000_000)).rowcount == 1


@pytest.fixture
def by_itself(tmp_path, offline_model):
    """A memory that sweeps five times a second; closed at the end."""
    settings = Settings(sweep_every=timedelta(milliseconds=200), search_past_sessions=False)
    with PhoneMemory(f"sqlite:///{tmp_path}/langmem.db", settings=settings, embeddings=offline_model) as memory:
        yield memory


@pytest.mark.spec("C-22")
def test_it_sweeps_by_itself_and_a_sweep_that_fails_is_tried_again(by_itself, monkeypatch, caplog):
    begun, again = [], threading.Event()

    def fail(_self):
        begun.append(True)
        if len(begun) > 3:
            again.set()
            return
        raise (StoreUnavailable("away"), OSError("no lock"), KeyError("a mistake"))[len(begun) - 1]

    monkeypatch.setattr("langmem_plugin.housekeeping.Housekeeping.sweep", fail)
    assert again.wait(60)
    assert events(caplog).count("sweep.failed") == 3


@pytest.mark.spec("C-22")
def test_what_is_silent_ends_without_anybody_asking(by_itself):
    by_itself.sessions.add_message(ERIN, "user", "hello")
    with by_itself.database.write() as connection:
        connection.execute(update(session).values(last_active=datetime.now(UTC) - timedelta(hours=1)))
    until(lambda: by_itself.sessions.sessions(ERIN)[0].ended_at is not None)


@pytest.mark.spec("C-22")
def test_closing_ends_a_sweep_between_two_transactions(by_itself):
    expired = {"digest": b"d", "salt": b"s", "expires_at": datetime.now(UTC) - timedelta(days=1)}
    _put(by_itself, link_code, *({**expired, "person": f"{number}"} for number in range(2_000)))
    housekeeping = by_itself.housekeeping
    housekeeping.close()
    assert not housekeeping.worker.thread.is_alive()
    assert housekeeping.sweep() == Counter()


@pytest.mark.spec("C-22", "C-3")
def test_what_a_service_with_a_longer_silence_counts_as_alive_is_left_to_it(database_url, clock, offline_model):
    longer = BY_HAND.model_copy(update={"session_timeout": timedelta(hours=24), "archive_days": 365})
    with (
        PhoneMemory(database_url, settings=longer, embeddings=offline_model, now=clock) as patient,
        PhoneMemory(database_url, settings=BY_HAND, embeddings=offline_model, now=clock) as hasty,
    ):
        patient.reply(_graph(patient), ERIN, "hello")
        hasty.reply(_graph(hasty), MOM, "hello")
        clock.forward(hours=2)
        assert hasty.housekeeping.sweep() == Counter()
        clock.forward(hours=22)
        assert hasty.housekeeping.sweep() == Counter(sessions_archived=2)
        clock.forward(days=31)
        assert hasty.housekeeping.sweep() == Counter()


@pytest.mark.spec("C-22", "P-8")
def test_a_memory_that_is_switched_off_is_not_swept():
    with PhoneMemory(settings=Settings(enable_memory_system=False)) as memory:
        assert memory.housekeeping.worker.thread is None


@pytest.mark.spec("C-22", "A-5")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_does_not_inherit_it(by_itself):
    child = os.fork()
    if not child:
        inherited = by_itself.housekeeping.worker.thread is not None
        os._exit(inherited or threading.active_count() > 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert by_itself.housekeeping.worker.thread.is_alive()


@pytest.mark.slow
@pytest.mark.spec("C-22")
def test_its_thread_keeps_nobody_alive(offline_model):
    memory = PhoneMemory("sqlite://", settings=Settings(search_past_sessions=False), embeddings=offline_model)
    thread, found = memory.housekeeping.worker.thread, weakref.ref(memory.housekeeping)
    assert thread.is_alive()
    memory.database.close()
    del memory
    gc.collect()
    assert found() is None
    thread.join(60)
    assert not thread.is_alive()
