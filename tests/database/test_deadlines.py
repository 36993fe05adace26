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
from langmem_plugin.agent.replying.reply_texts import ENGLISH
from langmem_plugin.database import Database, database_from_settings, postgresql
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import StoreUnavailable
from tests.database.conftest import serving
from tests.waiting import until

pytestmark = pytest.mark.slow

TIMEOUT = timedelta(seconds=1.5)
LATEST = TIMEOUT.total_seconds() + 1.5  # psycopg looks at its clock ten times a second, and this machine is busy
MOM = "+972501234567"


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


def is_over_in_time(work, latest=LATEST, meanwhile=contextlib.nullcontext):
    """Tell whether one of three tries is: a machine that stands still for a while makes one of them longer."""

    def tried():
        with meanwhile():
            return seconds_of(work)

    return any(tried() < latest for _ in range(3))


def done_at_last(work):
    """What `work` returns, whose patience a machine that stands still for a while may try more than once."""
    found = []

    def tried():
        with contextlib.suppress(StoreUnavailable):
            found.append(work())
        return found

    return until(tried)[0]


def impatient(url):
    return done_at_last(lambda: Database(url, timeout=TIMEOUT))


def refused(transaction, statement="SELECT 1"):
    with pytest.raises(StoreUnavailable), transaction() as connection:
        connection.execute(text(statement))


def scalar(database, statement="SELECT 1"):
    def asked():
        with database.write() as connection:
            return connection.execute(text(statement)).scalar()

    return done_at_last(asked)


@pytest.mark.spec("C-28")
def test_those_who_wait_for_a_locked_file_wait_side_by_side(tmp_path):
    with (
        impatient(f"sqlite:///{tmp_path}/langmem.db") as database,
        ThreadPoolExecutor(6) as pool,
        locked(tmp_path / "langmem.db"),
    ):

        def wait():
            assert min(pool.map(lambda _: seconds_of(lambda: refused(database.write)), range(6))) > 0.5

        assert is_over_in_time(wait)
        with database.read() as connection:
            assert connection.execute(text("SELECT 1")).scalar() == 1


@pytest.mark.spec("C-28", "A-5")
def test_a_server_that_was_stopped_is_given_up_in_time_by_everybody(postgresql_server, on_postgresql):
    with impatient(on_postgresql) as database, ThreadPoolExecutor(45) as pool:
        assert scalar(database) == 1
        with stopped(postgresql_server):
            assert is_over_in_time(lambda: list(pool.map(lambda _: refused(database.read), range(45))))
        assert [*pool.map(lambda _: scalar(database), range(45))] == [1] * 45


@pytest.mark.spec("C-28", "A-5")
def test_a_server_that_stops_in_the_middle_of_a_transaction_is_given_up_in_time(postgresql_server, on_postgresql):
    with impatient(on_postgresql) as database:

        def write():
            with pytest.raises(StoreUnavailable), database.write() as connection, stopped(postgresql_server):
                connection.execute(text("CREATE TABLE t (x int)"))

        assert is_over_in_time(write)
        assert scalar(database, "SELECT to_regclass('t')") is None


@pytest.mark.spec("C-28", "A-5")
def test_a_database_that_does_not_answer_cannot_be_opened_and_says_so_in_time(postgresql_server, on_postgresql):
    def refuses(url):
        with pytest.raises(StoreUnavailable):
            Database(url, timeout=TIMEOUT)

    with stopped(postgresql_server):
        assert is_over_in_time(lambda: refuses(on_postgresql))
    refuses("postgresql://nobody@127.0.0.1:1/nothing")


@pytest.mark.spec("C-28", "A-5")
def test_a_row_that_another_holds_is_waited_for_no_longer_than_the_timeout(on_postgresql):
    with impatient(on_postgresql) as database, Database(on_postgresql) as other:
        with other.write() as connection:
            connection.execute(text("LOCK TABLE langmem_session"))
            assert is_over_in_time(lambda: refused(database.write, "DELETE FROM langmem_session"))
        assert scalar(database) == 1


@pytest.mark.spec("C-28", "A-5")
def test_more_transactions_than_connections_wait_for_a_place_no_longer_than_the_timeout(on_postgresql):
    most = postgresql._CONNECTIONS
    with impatient(on_postgresql) as database, ThreadPoolExecutor(most) as pool:
        full, done = threading.Barrier(most + 1, timeout=60), threading.Event()

        def hold():
            with database.read():
                full.wait()
                done.wait(60)

        holding = [pool.submit(done_at_last, hold) for _ in range(most)]
        full.wait()
        assert is_over_in_time(lambda: refused(database.read))
        done.set()
        for each in holding:
            each.result()
        assert scalar(database) == 1


@pytest.mark.spec("C-28")
def test_long_work_is_not_cut_short_as_long_as_it_gets_answers(database_url):
    with impatient(database_url) as database:

        def long_work():
            with database.write() as connection:
                for _ in range(4):
                    connection.execute(text("SELECT 1"))
                    time.sleep(TIMEOUT.total_seconds() / 3)

        done_at_last(long_work)
        assert scalar(database) == 1


@pytest.mark.spec("C-28", "A-5")
def test_work_that_keeps_the_server_busy_has_the_time_it_asks_for(on_postgresql):
    longer = f"SELECT pg_sleep({TIMEOUT.total_seconds() + 0.4})"
    with impatient(on_postgresql) as database:

        def busy():
            with database.write(patience=timedelta(seconds=60)) as connection:
                connection.execute(text(longer))

        done_at_last(busy)
        refused(database.write, "SELECT pg_sleep(60)")


@pytest.mark.spec("C-28", "A-5")
def test_connections_that_were_killed_between_two_writes_of_a_turn_are_replaced(
    postgresql_server, on_postgresql, offline_model
):
    kill = """
        SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
        WHERE datname = 'deadlines' AND pid <> pg_backend_pid()
    """
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


def waits_in_vain_once(url, model, monkeypatch, held):
    """A reply, while `held` gives a context in which the database is held by another."""
    monkeypatch.setattr(database_from_settings, "DATABASE_TIMEOUT", TIMEOUT)
    settings = Settings(search_past_sessions=False)
    with done_at_last(lambda: PhoneMemory(url, settings=settings, embeddings=model)) as memory:
        server = serving(memory)
        answers = []

        @contextlib.contextmanager
        def meanwhile():
            until(lambda: ENGLISH.without_memory not in server.says(MOM, "Where is the key?"))
            with held(memory.database):
                yield

        def reply():
            answers.append(server.says(MOM, "Where is the key now?"))

        assert is_over_in_time(reply, 2 * TIMEOUT.total_seconds(), meanwhile)
        until(lambda: ENGLISH.without_memory not in server.says(MOM, "And now?"))
    assert answers[-1].startswith("Where is the key now? / ")
    assert answers[-1].endswith(f"{ENGLISH.without_memory} {ENGLISH.without_history}")


@pytest.mark.spec("C-28", "M-14")
def test_a_reply_waits_in_vain_once(request, database_url, offline_model, monkeypatch):
    def held(database):
        server = None if database.is_sqlite else request.getfixturevalue("postgresql_server")
        return locked(database.path) if server is None else stopped(server)

    waits_in_vain_once(database_url, offline_model, monkeypatch, held)


@pytest.mark.spec("C-28", "M-14")
def test_a_reply_waits_in_vain_once_for_whoever_holds_the_tables(on_postgresql, offline_model, monkeypatch):
    @contextlib.contextmanager
    def held(_database):
        with other.write() as connection:
            connection.execute(text(f"LOCK TABLE {', '.join(metadata.tables)} IN ACCESS EXCLUSIVE MODE"))
            yield

    with Database(on_postgresql) as other:
        waits_in_vain_once(on_postgresql, offline_model, monkeypatch, held)
