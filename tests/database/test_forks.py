"""A process that is forked after the memory was made, as preloading servers do, works as one started anew."""

import asyncio
import os
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import select, text

from langmem_plugin import MemoryService, PhoneMemory, Settings
from langmem_plugin.cached_property import cached_property
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import turn
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.memory.index.stores import chroma
from tests.database.conftest import serving

# Python 3.12 warns of what is tried here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.slow,
]

PEOPLE = [f"+97250123456{number}" for number in range(4)]
SECRETS = {phone: f"My cat is called {name}" for phone, name in zip(PEOPLE, ("Ari", "Bo", "Coco", "Dov"), strict=True)}


@pytest.mark.spec("C-27", "C-1", "A-5")
def test_the_children_of_a_preloading_server_each_serve_their_own_person(server, forked):
    for phone, secret in SECRETS.items():
        server.memory.service.remember(phone, secret)
        server.says(phone, "hello there")

    def serve(phone):
        answers = [server.says(phone, f"What is my cat called? {number}") for number in range(6)]
        listed = [server.memory.command(phone, "/memories") for _ in range(6)]
        return answers, listed

    children = {phone: forked(lambda phone=phone: serve(phone)) for phone in PEOPLE}
    for phone, child in children.items():
        answers, listed = child.result()
        for number, answer in enumerate(answers):
            assert answer.startswith(f"What is my cat called? {number} / ")
        for shown in answers + listed:
            assert [secret for secret in SECRETS.values() if secret in shown] == [SECRETS[phone]]
        assert len(server.history(phone)) == 2 * 7


@pytest.mark.spec("C-27")
def test_a_fork_in_the_midst_of_everything_leaves_no_child_waiting(server, forked):
    stopped = threading.Event()

    def keep_busy(phone):
        while not stopped.is_set():
            server.says(phone, "Where is the key?")

    # LangGraph works out parts of a graph when they are first asked for, under a lock that a child would inherit.
    server.says(PEOPLE[0], "Where is the key?")
    threads = [threading.Thread(target=keep_busy, args=(phone,)) for phone in PEOPLE[:2]]
    for thread in threads:
        thread.start()
    try:
        for number in range(8):
            child = forked(lambda number=number: server.says(PEOPLE[3], f"What is up, {number}?"), seconds=60)
            assert child.result().startswith(f"What is up, {number}? / ")
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
    assert len(server.history(PEOPLE[3])) == 2 * 8


@pytest.mark.spec("C-27")
def test_a_fork_while_a_value_is_worked_out_leaves_no_child_waiting_for_it(forked):
    begun, go_on = threading.Event(), threading.Event()

    class Answer:
        def __init__(self, hold):
            self.hold = hold

        @cached_property
        def text(self):
            if self.hold:
                begun.set()
                go_on.wait()
            return "forty-two"

    thread = threading.Thread(target=lambda: Answer(hold=True).text)
    thread.start()
    begun.wait()
    try:
        assert forked(lambda: Answer(hold=False).text, seconds=20).result() == "forty-two"
    finally:
        go_on.set()
        thread.join()


@pytest.mark.spec("C-27", "C-5")
def test_a_child_goes_on_when_its_parent_has_closed_and_others_come_and_go(tmp_path, forked, elsewhere, offline_model):
    """SQLite in a child must hold locks of its own: else the other process deletes the log that it writes to."""
    path = tmp_path / "langmem.db"
    memory = PhoneMemory(f"sqlite:///{path}", embeddings=offline_model)
    said, go_on = os.pipe(), os.pipe()

    def serve():
        memory.saver.end_session(PEOPLE[0])
        memory.service.remember(PEOPLE[0], "before")
        os.write(said[1], b".")
        os.read(go_on[0], 1)
        memory.service.remember(PEOPLE[0], "after")
        return path.with_name("langmem.db-wal").exists()

    memory.service.remember(PEOPLE[0], "in the parent")
    child = forked(serve)
    os.read(said[0], 1)
    memory.close()
    elsewhere(
        f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('SELECT * FROM langmem_session'); c.close()"
    )
    os.write(go_on[1], b".")

    assert child.result()
    with MemoryService(f"sqlite:///{path}", embeddings=offline_model) as service:
        assert {each.text for each in service.list_memories(PEOPLE[0])} == {"in the parent", "before", "after"}
    for end in (*said, *go_on):
        os.close(end)


@pytest.mark.spec("C-27", "C-9")
def test_a_child_renews_the_turns_it_holds_and_leaves_the_parents_to_the_parent(server, forked):
    def renewals():
        with server.memory.database.read() as connection:
            return dict(connection.execute(select(turn.c.thread, turn.c.renewals)).all())

    def hold():
        with server.memory.turn(PEOPLE[1]):
            before, begun = renewals(), time.monotonic()
            while (after := renewals())[PEOPLE[1]] < before[PEOPLE[1]] + 2 and time.monotonic() < begun + 60:
                time.sleep(0.05)
            return before, after, time.monotonic() - begun

    with server.memory.turn(PEOPLE[0]):
        before, after, seconds = forked(hold).result()
        assert after[PEOPLE[1]] > before[PEOPLE[1]]
        assert after[PEOPLE[0]] <= before[PEOPLE[0]] + seconds + 1  # once a second, by the parent alone
        assert renewals().keys() == {PEOPLE[0]}


@pytest.mark.spec("C-27", "C-9")
def test_a_child_that_ends_in_its_parents_turn_leaves_the_turn_to_the_parent(server, forked):
    with (begun := server.memory.turn(PEOPLE[0])):
        forked(lambda: begun.__exit__(None, None, None)).result()  # as where it raises or exits
        with server.memory.database.read() as connection:
            assert connection.execute(select(turn.c.thread)).scalars().all() == [PEOPLE[0]]


@pytest.mark.spec("C-27")
def test_asynchronous_turns_work_in_a_child(server, forked):
    async def run(phone, words):
        async with server.memory.turn(phone) as config:
            result = await server.graph.ainvoke({"messages": words}, config)
        return result["messages"][-1].text

    assert asyncio.run(run(PEOPLE[0], "before")).startswith("before / ")
    assert forked(lambda: asyncio.run(run(PEOPLE[0], "in the child"))).result().startswith("in the child / ")
    assert [said.split(" / ")[0] for said in server.history(PEOPLE[0])] == ["before"] * 2 + ["in the child"] * 2


@pytest.mark.spec("C-27", "M-7")
def test_what_past_sessions_said_becomes_searchable_in_a_child(server, forked):
    def serve():
        server.says(PEOPLE[0], "I have a red bicycle")
        server.says(PEOPLE[0], "/newsession")
        server.memory.saver.end_session(PEOPLE[0])
        server.memory.index_past_sessions()
        return [each.message.text for each in server.memory.service.history.search(PEOPLE[0], "bicycle")]

    assert any("red bicycle" in found for found in forked(serve).result())


@pytest.mark.spec("C-27")
def test_a_vector_index_that_the_parent_has_open_is_done_without(tmp_path, forked, offline_model):
    url, stores = f"sqlite:///{tmp_path}/langmem.db", chroma(tmp_path / "index")
    with MemoryService(url, embeddings=offline_model, open_collection=stores, index_after=3) as service:
        service.remember_many(
            "bob", [(f"The {thing} is in the cellar", {}) for thing in ("saw", "axe", "rope", "bell")]
        )
        assert service.reindex("bob")

        def search():
            [found] = service.search("bob", "Where is the rope?", limit=1)
            service.close()
            return found.memory.text

        assert forked(search).result() == "The rope is in the cellar"
        assert service.search("bob", "Where is the bell?", limit=1)[0].memory.text == "The bell is in the cellar"


@pytest.mark.spec("C-27")
def test_a_database_in_memory_is_refused_in_a_child_and_goes_on_in_the_parent(forked):
    with Database("sqlite://") as database:

        def read():
            with pytest.raises(StoreUnavailable, match="in memory"), database.read():
                pass
            with Database("sqlite://") as own, own.read() as connection:
                return connection.execute(text("SELECT count(*) FROM langmem_session")).scalar()

        assert forked(read).result() == 0
        with database.read() as connection:
            assert connection.execute(text("SELECT count(*) FROM langmem_session")).scalar() == 0


@pytest.mark.spec("C-27")
def test_a_switched_off_memory_still_answers_in_a_child(forked, offline_model):
    with PhoneMemory(settings=Settings(enable_memory_system=False), embeddings=offline_model) as memory:
        server = serving(memory)
        assert forked(lambda: server.says(PEOPLE[0], "hello")).result().startswith("hello / ")


@pytest.mark.spec("C-27")
def test_a_fork_in_the_middle_of_a_transaction_is_refused_where_it_cannot_be_made_good(tmp_path, forked):
    with Database(f"sqlite:///{tmp_path}/langmem.db") as database:

        def read():
            with pytest.raises(StoreUnavailable, match="forked in the middle"), database.read():
                pass

        with database.write() as connection:
            connection.execute(text("CREATE TABLE t (x int)"))
            forked(read).result()
            connection.execute(text("INSERT INTO t VALUES (1)"))
        with database.read() as connection:
            assert connection.execute(text("SELECT x FROM t")).scalars().all() == [1]


@pytest.mark.spec("C-27", "A-5")
def test_a_child_holds_no_connection_of_its_parent(postgresql_server, forked):
    """Also one that a transaction is on: the server would keep it for as long as the child lives."""
    with postgresql_server.copy("inherited") as url, Database(url) as database, database.read() as connection:
        raw = connection.connection.dbapi_connection
        held = f"/proc/self/fd/{raw.fileno()}"
        child = forked(lambda: (str(Path(held).readlink()), _asked(database)), seconds=60)
        assert child.result() == ("/dev/null", 1)
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1  # the parent's own goes on
    raw.close()  # it belongs to no pool any more


def _asked(database):
    with database.read() as connection:
        return connection.exec_driver_sql("SELECT 1").scalar()
