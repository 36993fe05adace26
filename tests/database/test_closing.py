"""What was closed says so; what nobody closed is reported, and leaves nothing behind."""

import asyncio
import gc
import threading
import warnings
from pathlib import Path

import pytest

from langmem_plugin import ConversationSaver, MemoryService, PhoneMemory, SessionManager
from langmem_plugin.database import Database
from langmem_plugin.errors import StoreUnavailable
from tests.cases import for_each
from tests.database.conftest import serving
from tests.waiting import until

pytestmark = pytest.mark.slow

MOM = "+972501234567"


def at_last(reached):
    """What a background thread has begun it ends, and only then can its owner go."""
    return until(lambda: gc.collect() >= 0 and reached())


@pytest.mark.spec("C-26")
@for_each("kind", [Database, ConversationSaver, SessionManager, MemoryService, PhoneMemory])
def test_what_goes_unclosed_is_reported(database_url, offline_model, kind):
    named = {"embeddings": offline_model} if kind in (MemoryService, PhoneMemory) else {}

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", ResourceWarning)
        kind(database_url, **named)
        assert at_last(lambda: warned)

    [warning] = warned
    assert warning.category is ResourceWarning
    assert "was not closed" in str(warning.message)


@pytest.mark.spec("C-26")
def test_many_that_were_used_and_not_closed_leave_no_threads_and_no_open_files(database_url, offline_model):
    async def in_turn(server):
        async with server.memory.turn(MOM) as config:
            await server.graph.ainvoke({"messages": "hello"}, config)

    def use():
        server = serving(PhoneMemory(database_url, embeddings=offline_model))
        server.says(MOM, "/remember I like tea")
        server.says(MOM, "hello")
        asyncio.run(in_turn(server))

    others = threading.enumerate()

    def threads():
        names = [each.name for each in threading.enumerate() if each not in others]
        return [each for each in names if each.startswith("langmem")]

    def files():
        return len(list(Path("/proc/self/fd").iterdir()))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        use()
        assert at_last(lambda: not threads())
        before = files()
        for _ in range(6):
            use()
        assert at_last(lambda: not threads() and files() <= before)


@pytest.mark.spec("C-26")
def test_what_was_closed_says_so_and_opens_nothing_again(database_url, offline_model):
    memory = PhoneMemory(database_url, embeddings=offline_model)
    server = serving(memory)
    server.says(MOM, "hello")
    memory.close()
    memory.close()

    async def in_turn():
        async with memory.turn(MOM):
            pass

    for use in (
        lambda: memory.service.list_memories(MOM),
        lambda: memory.saver.get_tuple({"configurable": {"thread_id": MOM}}),
        lambda: memory.sessions.sessions(MOM),
        lambda: memory.turn(MOM).__enter__(),
        lambda: asyncio.run(in_turn()),
        lambda: asyncio.run(memory.saver.aget_tuple({"configurable": {"thread_id": MOM}})),
    ):
        with pytest.raises(StoreUnavailable, match="closed"):
            use()
    assert memory.database.engine.pool.checkedin() == 0


@pytest.mark.spec("C-26", "C-5")
def test_closing_lets_a_running_transaction_end(database_url):
    database = Database(database_url)
    inside, closed = threading.Event(), threading.Event()

    def write():
        with database.write():
            inside.set()
            assert not closed.wait(0.3)

    writing = threading.Thread(target=write)
    writing.start()
    inside.wait()
    database.close()
    closed.set()
    writing.join()
    assert database.engine.pool.checkedin() == 0
