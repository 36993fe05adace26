"""Whatever the database does, who waits for it waits no longer than the timeout, and once."""

import contextlib
import os
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import text

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.agent.replying.languages import ENGLISH
from langmem_plugin.database import Database, opening, postgresql
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import StoreUnavailable
from tests.database.conftest import serving

pytestmark = pytest.mark.slow

TIMEOUT = timedelta(seconds=0.8)
LATEST = TIMEOUT.total_seconds() + 0.5  # psycopg looks at its clock ten times a second, and this machine is busy
MOM = "+972501234567"


@pytest.fixture
def impatient(database_url):
    with Database(database_url, timeout=TIMEOUT) as database:
        yield database


@pytest.fixture
def on_postgresql(postgresql_server):
    with postgresql_server.copy("deadlines") as url:
        yield url


@contextlib.contextmanager
def locked(path):
    """Another writer, who takes their time."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextlib.contextmanager
def stopped(server):
    """Every process of it: nobody reads, nobody writes, and all sockets stay open."""
    postmaster = int((Path(server.pgdata) / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    pids = [postmaster, *map(int, children)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def seconds_of(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def refused(transaction):
    with pytest.raises(StoreUnavailable), transaction() as connection:
        connection.execute(text("SELECT 1"))


@pytest.mark.spec("C-28")
def test_those_who_wait_for_a_locked_file_wait_side_by_side(tmp_path):
    with (
        Database(f"sqlite:///{tmp_path}/langmem.db", timeout=TIMEOUT) as database,
        ThreadPoolExecutor(6) as pool,
        locked(tmp_path / "langmem.db"),
    ):
        waited = list(pool.map(lambda _: seconds_of(lambda: refused(database.write)), range(6)))
        with database.read() as connection:
            assert connection.execute(text("SELECT 1")).scalar() == 1

    assert max(waited) < LATEST
    assert min(waited) > 0.5


@pytest.mark.spec("C-28", "A-5")
def test_a_server_that_was_stopped_is_given_up_in_time_by_everybody(postgresql_server, on_postgresql):
    with Database(on_postgresql, timeout=TIMEOUT) as database, ThreadPoolExecutor(45) as pool:
        refused_nothing(database)
        with stopped(postgresql_server):
            waited = list(pool.map(lambda _: seconds_of(lambda: refused(database.read)), range(45)))
        assert max(waited) < LATEST
        assert [*pool.map(lambda _: refused_nothing(database), range(45))] == [1] * 45


def refused_nothing(database):
    with database.write() as connection:
        return connection.execute(text("SELECT 1")).scalar()


@pytest.mark.spec("C-28", "A-5")
def test_a_server_that_stops_in_the_middle_of_a_transaction_is_given_up_in_time(postgresql_server, on_postgresql):
    with Database(on_postgresql, timeout=TIMEOUT) as database:

        def write():
            with pytest.raises(StoreUnavailable), database.write() as connection, stopped(postgresql_server):
                connection.execute(text("CREATE TABLE t (x int)"))

        assert seconds_of(write) < LATEST
        with database.read() as connection:
            assert connection.execute(text("SELECT to_regclass('t')")).scalar() is None


@pytest.mark.spec("C-28", "A-5")
def test_a_database_that_does_not_answer_cannot_be_opened_and_says_so_in_time(postgresql_server, on_postgresql):
    with stopped(postgresql_server), pytest.raises(StoreUnavailable):
        assert seconds_of(lambda: Database(on_postgresql, timeout=TIMEOUT)) < LATEST
    with pytest.raises(StoreUnavailable):
        Database("postgresql://nobody@127.0.0.1:1/nothing")


@pytest.mark.spec("C-28", "A-5")
def test_a_row_that_another_holds_is_waited_for_no_longer_than_the_timeout(on_postgresql):
    with Database(on_postgresql, timeout=TIMEOUT) as database, Database(on_postgresql) as other:
        with other.write() as connection:
            connection.execute(text("LOCK TABLE langmem_session"))

            def write():
                with pytest.raises(StoreUnavailable), database.write() as refused:
                    refused.execute(text("DELETE FROM langmem_session"))

            assert seconds_of(write) < LATEST
        assert refused_nothing(database) == 1


@pytest.mark.spec("C-28", "A-5")
def test_more_transactions_than_connections_wait_for_a_place_no_longer_than_the_timeout(on_postgresql):
    most = postgresql._CONNECTIONS
    with Database(on_postgresql, timeout=TIMEOUT) as database, ThreadPoolExecutor(most) as pool:
        full, done = threading.Barrier(most + 1), threading.Event()

        def hold(_):
            with database.read():
                full.wait()
                done.wait()

        holding = [pool.submit(hold, number) for number in range(most)]
        full.wait()
        assert seconds_of(lambda: refused(database.read)) < LATEST
        done.set()
        for each in holding:
            each.result()
        assert refused_nothing(database) == 1


@pytest.mark.spec("C-28")
def test_long_work_is_not_cut_short_as_long_as_it_gets_answers(impatient):
    with impatient.write() as connection:
        for _ in range(4):
            connection.execute(text("SELECT 1"))
            time.sleep(0.3)
    assert refused_nothing(impatient) == 1


@pytest.mark.spec("C-28", "A-5")
def test_work_that_keeps_the_server_busy_has_the_time_it_asks_for(on_postgresql):
    with Database(on_postgresql, timeout=TIMEOUT) as database:
        with database.write(patience=timedelta(seconds=10)) as connection:
            connection.execute(text("SELECT pg_sleep(1.2)"))
        with pytest.raises(StoreUnavailable), database.write() as connection:
            connection.execute(text("SELECT pg_sleep(1.2)"))


@pytest.mark.spec("C-28", "A-5")
def test_connections_that_were_killed_between_two_writes_of_a_turn_are_replaced(
    postgresql_server, on_postgresql, offline_model
):
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'deadlines' AND pid <> pg_backend_pid();"
    with PhoneMemory(on_postgresql, embeddings=offline_model) as memory:

        def answer(_state):
            postgresql_server.psql(kill)
            return {"messages": "heard"}

        graph = (
            StateGraph(MessagesState)
            .add_node("answer", answer)
            .add_edge(START, "answer")
            .compile(checkpointer=memory.saver)
        )
        with memory.turn(MOM) as config:
            for said in ("hello", "are you there"):
                graph.invoke({"messages": said}, config, durability="exit")  # nothing is written while it kills
                postgresql_server.psql(kill)
        kept = [each.content for each in memory.sessions.messages(config["configurable"]["langmem_session"])]
    assert kept == ["hello", "heard", "are you there", "heard"]


@pytest.mark.spec("C-28", "M-14")
def test_a_reply_waits_in_vain_once(request, database_url, offline_model, monkeypatch):
    monkeypatch.setattr(opening, "DATABASE_TIMEOUT", TIMEOUT)
    settings = Settings(search_past_sessions=False)
    with PhoneMemory(database_url, settings=settings, embeddings=offline_model) as memory:
        server = serving(memory)
        server.says(MOM, "Where is the key?")
        away = (
            locked(memory.database.path)
            if memory.database.is_sqlite
            else stopped(request.getfixturevalue("postgresql_server"))
        )
        with away:
            begun = time.monotonic()
            answer = server.says(MOM, "Where is the key now?")
            waited = time.monotonic() - begun
        again = server.says(MOM, "And now?")

    assert answer.startswith("Where is the key now? / ")
    assert answer.endswith(f"{ENGLISH.without_memory} {ENGLISH.without_history}")
    assert again.startswith("And now? / ")
    assert ENGLISH.without_memory not in again
    assert waited < 2 * TIMEOUT.total_seconds() + 0.5


@pytest.mark.spec("C-28", "M-14")
def test_a_reply_waits_in_vain_once_for_whoever_holds_the_tables(on_postgresql, offline_model, monkeypatch):
    monkeypatch.setattr(opening, "DATABASE_TIMEOUT", TIMEOUT)
    settings = Settings(search_past_sessions=False)
    with (
        Database(on_postgresql) as other,
        PhoneMemory(on_postgresql, settings=settings, embeddings=offline_model) as memory,
    ):
        server = serving(memory)
        server.says(MOM, "Where is the key?")
        with other.write() as connection:
            connection.execute(text(f"LOCK TABLE {', '.join(metadata.tables)} IN ACCESS EXCLUSIVE MODE"))
            begun = time.monotonic()
            answer = server.says(MOM, "Where is the key now?")
            waited = time.monotonic() - begun

    assert answer.endswith(f"{ENGLISH.without_memory} {ENGLISH.without_history}")
    assert waited < 2 * TIMEOUT.total_seconds()
