"""A process that works on what was said is killed, frozen or forked: each fact is stored once, and by one of them."""

import contextlib
import itertools
import os
import random
import signal
import threading

import pytest
from sqlalchemy import event

from benchmarks import extraction_jobs
from langmem_plugin import PhoneMemory
from tests.cli.conftest import langmem
from tests.database.conftest import Child
from tests.waiting import freeze, until
from tests.warm_process import WarmProcess
from tests.writing.extraction.conftest import BY_HAND, fact, kept

pytestmark = [
    pytest.mark.both_engines,
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here"),
]

ERIN = "+972501234567"
SAID = "I like tea. I own a boat. I live in Haifa"
FACTS = ["I like tea", "I live in Haifa", "I own a boat"]


def _killed_after(memory, statements, work):
    """A child of this warm process works, and is killed when it has run so many statements; whether it was."""
    pid = os.fork()
    if not pid:
        left = itertools.count(statements, -1)

        def count(*_):
            if next(left) <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(memory.database.engine, "before_cursor_execute", count)
        event.listen(memory.database.engine, "commit", count)
        with contextlib.suppress(BaseException):
            work()
            os._exit(0)
        os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL)
    return status != 0


@pytest.mark.slow
@pytest.mark.spec("W-4", "C-5")
@pytest.mark.parametrize("by_model", [False, True])
def test_however_often_a_worker_is_killed_each_fact_is_stored_once(opened, says, extracting, by_model):
    """The model never words a fact twice in the same way, so nothing hides that it was asked again."""

    def script(_):
        words = ("".join(random.SystemRandom().choices("abcdefgh", k=12)) for _ in FACTS)
        return [fact(f"{each}, {word}", each) for each, word in zip(FACTS, words, strict=True)]

    memory = opened(extraction_model=extracting(script)) if by_model else opened()
    jobs = memory.extraction.jobs
    for statements in itertools.count(1, 9):
        phone = f"+9725012{statements:05}"
        says(memory, phone, SAID)
        killed = _killed_after(memory, statements, lambda phone=phone: memory.extract(phone))
        jobs.release(jobs.held())  # as the others do when they see it stand still
        if killed:  # and who takes over is killed a little later
            _killed_after(memory, statements // 2, lambda phone=phone: memory.extract(phone))
        jobs.release(jobs.held())
        memory.extract(phone)

        stored = memory.service.list_memories(phone, statuses=("active", "pending", "superseded"))
        assert sorted(each.quote for each in stored) == FACTS, f"killed after {statements} statements"
        assert jobs.states(phone) == {"completed": 1}
        if statements > 20 and not killed:
            break


@pytest.mark.slow
@pytest.mark.spec("W-4", "C-5")
@pytest.mark.usefixtures("real_rules")
def test_of_many_conversations_nothing_is_lost_or_doubled_while_workers_are_killed(database_url):
    extraction_jobs.spoken(database_url, 20)
    kills, _ = extraction_jobs.killed_until_done(database_url, random.Random(1))

    assert kills >= 1
    assert extraction_jobs.wrong_in(database_url, 20) == []


@pytest.mark.slow
@pytest.mark.spec("W-4", "C-5")
def test_a_worker_that_stood_still_while_another_took_over_writes_nothing(opened, says, clock, extracting):
    (asked, asks), (goes_on, go_on) = os.pipe(), os.pipe()

    def slow(_):
        os.write(asks, b"x")
        os.read(goes_on, 1)
        return [fact("Likes tea, says the frozen one", "I like tea")]

    memory = opened(extraction_model=(model := extracting(slow)))
    says(memory, ERIN, "I like tea")
    clock.forward(minutes=3)
    frozen = Child(memory.extraction.work.next_done, 180)
    os.read(asked, 1)
    freeze(frozen.pid, memory.database)
    model.script = lambda _: [fact("Likes tea", "I like tea")]
    try:
        memory.extraction._keeper.watch()
        until(memory.extraction.work.next_done, 90)
    finally:
        os.kill(frozen.pid, signal.SIGCONT)
        os.write(go_on, b"x")

    assert frozen.result() is True  # it went on, and found that it had lost its claim
    for end in (asked, asks, goes_on, go_on):
        os.close(end)
    assert kept(memory, ERIN, "active", "pending") == ["Likes tea"]
    assert memory.extraction.jobs.states() == {"completed": 1}


@pytest.mark.slow
@pytest.mark.spec("W-4", "C-27")
def test_a_forked_process_begins_to_extract_with_the_first_session_it_marks(database_url, offline_model, says):
    with PhoneMemory(database_url, settings=BY_HAND, embeddings=offline_model) as memory:

        def serve():
            inherited = memory.extraction.worker.thread
            says(memory, ERIN, "I like tea", "/reset")
            memory.extraction.worker.wake()
            until(lambda: kept(memory, ERIN))
            return inherited, kept(memory, ERIN)

        assert Child(serve, 120).result() == (None, ["I like tea"])
        assert memory.extraction.worker.thread.is_alive()


@pytest.mark.spec("W-4")
def test_its_thread_takes_what_is_due_by_itself_and_the_reply_does_not_wait_for_it(
    database_url, offline_model, says, extracting
):
    asked, go_on = threading.Event(), threading.Event()

    def slow(_):
        asked.set()
        go_on.wait(60)
        return [fact("Likes tea", "I like tea")]

    with PhoneMemory(
        database_url, settings=BY_HAND, embeddings=offline_model, extraction_model=extracting(slow)
    ) as memory:
        says(memory, ERIN, "I like tea", "/reset")
        memory.extraction.worker.wake()
        assert asked.wait(60)
        assert says(memory, ERIN, "hello") == "ok"
        assert kept(memory, ERIN) == []
        go_on.set()
        memory.extraction.worker.stop()
        assert memory.extraction.worker.wait(60)
        assert kept(memory, ERIN) == ["Likes tea"]


WORKER = """
import sys
from langmem_plugin.cli import app
app(["worker", "--database", sys.argv[1], *sys.argv[2:]])
"""


@pytest.mark.slow
@pytest.mark.spec("W-4", "U-5")
@pytest.mark.usefixtures("real_rules")
def test_the_command_works_on_what_is_due(opened, says, database_url):
    memory = opened()
    memory.consent.switch_on(ERIN)  # the command asks for itself
    says(memory, ERIN, "My dentist is Dr. Cohen.", "/reset")

    done = langmem("worker", "--once", "--database", database_url)
    assert done.out.split("\n")[:2] == ["ready", "1 completed"], done.err
    assert len(kept(memory, ERIN)) == 1


@pytest.mark.slow
@pytest.mark.spec("W-4", "U-5")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_command_ends_when_it_is_told_to(opened, says, database_url):
    memory = opened()
    memory.consent.switch_on(ERIN)
    says(memory, ERIN, "My dentist is Dr. Cohen.", "/reset")
    memory.extract(ERIN)
    worker = WarmProcess(WORKER, database_url)
    with worker.stdin, worker.stdout:
        assert worker.stdout.readline() == "ready\n"
        os.kill(worker.pid, signal.SIGTERM)
        assert worker.stdout.readline() == "1 completed\n"
        assert worker.wait(60) == 0


@pytest.mark.slow
@pytest.mark.spec("W-4", "U-5")
def test_the_command_says_so_when_nothing_is_extracted(database_url):
    refused = langmem("worker", "--database", database_url, code=1, LANGMEM_EXTRACTION="off")

    assert "nothing is extracted by these settings" in refused.err
