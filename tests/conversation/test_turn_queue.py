"""One turn at a time per phone, first come first served: threads, tasks and processes, and what a crash leaves."""

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import func, select

from langmem_plugin import ConversationSaver, TurnTimeout
from langmem_plugin.conversation.config_keys import ticket_of
from langmem_plugin.conversation.turns.turn_queue import _ABANDONED_SECONDS, Turns, Watch, holds
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import turn
from tests.waiting import freeze, until

MOM, DAD = "+972501234567", "+972507654321"


class Phones:
    """The conversations of a family: turns over one saver, as PhoneMemory wires them."""

    def __init__(self, url: str, timeout: float = 30) -> None:
        self.database = Database(url)
        self.executor = ThreadPoolExecutor(max_workers=4)
        self.saver = ConversationSaver(self.database, executor=self.executor)
        self.turns = Turns(
            self.database, self.saver.sessions.open, lambda _: None, timedelta(seconds=timeout), self.executor
        )

    def turn(self, phone: str):
        return self.turns.turn(phone)

    def waiting(self, phone: str) -> int:
        with self.database.read() as connection:
            line = select(func.count()).select_from(turn).where(turn.c.thread == phone)
            return connection.execute(line).scalar()

    def close(self) -> None:
        self.turns.close()
        self.executor.shutdown()
        self.saver.close()
        self.database.close()


@pytest.fixture
def phones(database_url):
    opened = Phones(database_url)
    yield opened
    opened.close()


def slow_counter(saver):
    """Reads, thinks and writes: the shape that loses updates when two of them overlap."""

    def count(state: MessagesState):
        time.sleep(0.02)
        return {"messages": AIMessage(f"{len(state['messages'])}")}

    return StateGraph(MessagesState).add_node(count).add_edge(START, "count").compile(checkpointer=saver)


@pytest.mark.spec("C-9")
def test_threads_of_one_phone_take_turns_in_the_order_they_came(phones):
    order, threads = [], []

    def take(number):
        with phones.turn(MOM):
            order.append(number)
            time.sleep(0.01)
            order.append(number)

    with phones.turn(MOM):
        for number in range(6):
            threads.append(threading.Thread(target=take, args=[number]))
            threads[-1].start()
            until(lambda: phones.waiting(MOM) == len(threads) + 1)
    for thread in threads:
        thread.join()

    assert order == [each for number in range(6) for each in (number, number)]
    assert phones.waiting(MOM) == 0


@pytest.mark.spec("C-9")
def test_tasks_of_one_phone_take_turns_in_the_order_they_came_and_hold_no_thread_while_they_wait(phones):
    order = []

    async def take(number):
        async with phones.turn(MOM):
            order.append(number)
            await asyncio.sleep(0.005)
            order.append(number)

    async def many():
        tasks = []
        async with phones.turn(MOM):
            for number in range(12):  # three times the threads of the pool
                tasks.append(asyncio.create_task(take(number)))
                await asyncio.to_thread(until, lambda: phones.waiting(MOM) == len(tasks) + 1)
            async with asyncio.timeout(60), phones.turn(DAD):  # the pool is free for another phone
                order.append("dad")
        await asyncio.gather(*tasks)

    asyncio.run(many())

    assert order == ["dad", *(each for number in range(12) for each in (number, number))]


@pytest.mark.spec("C-9")
def test_turns_of_different_phones_run_in_parallel(phones):
    together = threading.Barrier(2, timeout=60)

    def take(phone):
        with phones.turn(phone):
            together.wait()  # passes only if both hold a turn at once

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(take, [MOM, DAD]))


@pytest.mark.spec("C-9")
def test_two_parallel_runs_of_one_phone_lose_no_message(phones):
    graph = slow_counter(phones.saver)

    def say(number):
        with phones.turn(MOM) as config:
            graph.invoke({"messages": [HumanMessage(f"hello {number}")]}, config)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(say, range(8)))

    said = graph.get_state({"configurable": {"thread_id": MOM}}).values["messages"]
    assert sorted(each.text for each in said if isinstance(each, HumanMessage)) == [f"hello {n}" for n in range(8)]
    assert [each.text for each in said if isinstance(each, AIMessage)] == [str(n) for n in range(1, 16, 2)]


@pytest.mark.spec("C-9")
def test_two_parallel_tasks_of_one_phone_lose_no_message(phones):
    graph = slow_counter(phones.saver)

    async def say(number):
        async with phones.turn(MOM) as config:
            await graph.ainvoke({"messages": [HumanMessage(f"hello {number}")]}, config)

    async def all_say():
        await asyncio.gather(*(say(number) for number in range(8)))

    asyncio.run(all_say())

    assert len(graph.get_state({"configurable": {"thread_id": MOM}}).values["messages"]) == 16


class Arrived:
    """A message that came in, of which nothing is noted."""

    def drawn(self, *_):
        pass

    def begun(self, *_):
        pass


@pytest.mark.spec("C-9", "C-23")
def test_the_run_of_a_turn_begins_with_what_was_written_since_the_turn_began(phones):
    graph = slow_counter(phones.saver)
    with phones.saver.turn(MOM, Arrived()) as config:
        graph.invoke({"messages": "first"}, config)
    with phones.saver.turn(MOM, Arrived()) as config:
        graph.update_state(config, {"messages": HumanMessage("written in the turn")})
        said = graph.invoke({"messages": "second"}, config)["messages"]
        again = graph.invoke({"messages": "third"}, config)["messages"]

    assert [each.text for each in said] == ["first", "1", "written in the turn", "second", "4"]
    assert [each.text for each in again[5:]] == ["third", "6"]


@pytest.mark.spec("C-9")
def test_waiting_too_long_is_an_error_that_leaves_the_line(database_url):
    phones = Phones(database_url, timeout=0.05)
    try:
        with phones.turn(MOM):

            def wait_in_thread():
                with phones.turn(MOM):
                    pass

            with ThreadPoolExecutor(1) as pool, pytest.raises(TurnTimeout):
                pool.submit(wait_in_thread).result()

            async def wait():
                async with phones.turn(MOM):
                    pass

            with pytest.raises(TurnTimeout):
                asyncio.run(wait())
            assert phones.waiting(MOM) == 1
        with phones.turn(MOM):
            assert phones.waiting(MOM) == 1
    finally:
        phones.close()


@pytest.mark.spec("C-9")
def test_a_turn_that_fails_frees_its_phone(phones):
    with pytest.raises(ZeroDivisionError), phones.turn(MOM):
        1 / 0  # noqa: B018
    assert phones.waiting(MOM) == 0


@pytest.mark.spec("C-9")
def test_a_cancelled_task_gives_its_place_away(phones):
    async def wait():
        async with phones.turn(MOM):
            pass

    async def cancel():
        async with phones.turn(MOM):
            task = asyncio.create_task(wait())
            await asyncio.to_thread(until, lambda: phones.waiting(MOM) == 2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        until(lambda: phones.waiting(MOM) == 0)

    asyncio.run(cancel())


@pytest.mark.spec("C-9")
def test_a_task_cancelled_while_its_ticket_is_being_drawn_leaves_none_behind(phones):
    drawing, go_on = threading.Event(), threading.Event()
    take = phones.turns._take

    def slow_take(*place):
        drawing.set()
        go_on.wait(60)
        return take(*place)

    async def cancel():
        phones.turns._take = slow_take
        task = asyncio.create_task(phones.turn(MOM).__aenter__())
        await asyncio.to_thread(drawing.wait, 60)
        task.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        phones.turns._take = take
        async with asyncio.timeout(60), phones.turn(MOM):
            pass

    asyncio.run(cancel())
    until(lambda: phones.waiting(MOM) == 0)


# Processes, forked from a clean one that has imported all they need


def work(url: str, told) -> None:
    """Holds the turn of each phone it is told, until it is told to go on."""
    phones = Phones(url)
    told.send("ready")
    while True:
        with phones.turn(told.recv()):
            told.send("holds")
            told.recv()
        told.send("free")


class Worker:
    def __init__(self, processes, url: str) -> None:
        self.pipe, its_end = processes.Pipe()
        self.process = processes.Process(target=work, args=[url, its_end], daemon=True)
        self.process.start()
        its_end.close()

    def says(self, word: str) -> None:
        assert self.pipe.poll(60), f"it never said {word!r}"
        assert self.pipe.recv() == word

    def tell(self, line: str) -> None:
        self.pipe.send(line)

    def signal(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


@pytest.fixture(scope="module")
def processes():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@pytest.fixture
def workers(processes, database_url, phones):
    started = []
    for _ in range(2):
        started.append(Worker(processes, database_url))
        started[-1].says("ready")
    yield started
    for worker in started:
        worker.end()


@pytest.mark.slow
@pytest.mark.spec("C-9", "C-5")
def test_a_killed_holder_frees_its_phone_and_a_stopped_one_takes_nobody_elses_place(phones, workers):
    killed, stopped = workers
    held = []

    def take():
        with phones.turn(MOM):
            held.append(time.monotonic())

    killed.tell(MOM)
    killed.says("holds")
    stopped.tell(DAD)
    stopped.says("holds")
    waiting = threading.Thread(target=take)
    waiting.start()
    until(lambda: phones.waiting(MOM) == 2)
    time.sleep(0.1)
    assert held == []  # another process has the turn

    killed.signal(signal.SIGKILL)
    freeze(stopped.process.pid, phones.database)
    at = time.monotonic()
    waiting.join(60)
    assert held[0] - at < _ABANDONED_SECONDS

    with phones.turn(DAD):  # its holder did not renew its place in time
        stopped.signal(signal.SIGCONT)
        stopped.tell("go on")
        stopped.says("free")
        assert phones.waiting(DAD) == 1


@pytest.mark.spec("C-9")
def test_processes_that_wait_for_one_phone_get_it_in_the_order_they_came(phones, workers):
    first, second = workers
    held = []

    def take():
        with phones.turn(MOM):
            held.append("third")

    with phones.turn(MOM):
        first.tell(MOM)
        until(lambda: phones.waiting(MOM) == 2)
        second.tell(MOM)
        until(lambda: phones.waiting(MOM) == 3)
        third = threading.Thread(target=take)
        third.start()
        until(lambda: phones.waiting(MOM) == 4)
    first.says("holds")
    assert not second.pipe.poll(0.3)
    first.tell("go on")
    first.says("free")
    second.says("holds")
    assert held == []
    second.tell("go on")
    second.says("free")
    third.join(60)
    assert held == ["third"]


class _Late:
    """A watch that finds all others silent, and while it did the holder was only slow."""

    def __init__(self, meanwhile):
        self._meanwhile = meanwhile

    def gone(self, renewals, at):
        self._meanwhile()
        return list(renewals.items())


@pytest.mark.spec("C-4", "C-23")
def test_a_holder_that_renews_while_it_is_found_silent_keeps_its_place(phones, database_url):
    other, over = Phones(database_url), threading.Event()

    def wait_for_it():
        with other.turn(MOM):
            over.set()

    waiting = threading.Thread(target=wait_for_it)
    try:
        with phones.turn(MOM) as config:
            waiting.start()
            until(lambda: phones.waiting(MOM) == 2)
            other.turns.renew(_Late(lambda: phones.turns.renew(Watch())))
            with phones.database.read() as connection:
                assert holds(connection, MOM, ticket_of(config))
            assert not over.is_set()
        waiting.join(30)
        assert over.is_set()
    finally:
        other.close()
