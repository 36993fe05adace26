"""Writes that come late, early, twice, out of order or from many at once, and runs that are cancelled in mid-step."""

import asyncio
import contextlib
import itertools
import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import func, select, text

from langmem_plugin import ConversationSaver, LangMemError
from langmem_plugin.conversation.storage.session_repair import examine
from langmem_plugin.database import conversation_tables as tables
from tests.cases import for_each
from tests.conversation.conftest import history

pytestmark = pytest.mark.slow

MOM = "+972501234567"


def of(phone: str = MOM) -> Any:
    return {"configurable": {"thread_id": phone}}


def texts(saver, config=None) -> list[str]:
    found = saver.get_tuple(config or of())
    return [each.text for each in found.checkpoint["channel_values"].get("messages", ())] if found else []


def checkpoint_of(saver, messages, before=None) -> Any:
    """The next checkpoint of a graph with one channel of messages, and its new versions."""
    versions = {"messages": saver.get_next_version(before and before["channel_versions"]["messages"], None)}
    made: Any = {**empty_checkpoint(), "id": str(uuid6(clock_seq=-1)), "channel_versions": versions}
    return {**made, "channel_values": {"messages": list(messages)}}, versions


# Late: the thread was deleted in the middle


def through_two_nodes(saver, in_the_middle):
    """`in_the_middle` is called once the run has written, and before it writes again."""

    def first(_state: MessagesState):
        return {"messages": AIMessage("first")}

    def second(_state: MessagesState):
        in_the_middle()
        return {"messages": AIMessage("second")}

    builder = StateGraph(MessagesState).add_node(first).add_node(second)
    return builder.add_edge(START, "first").add_edge("first", "second").compile(checkpointer=saver)


def rows_of(saver, phone=MOM):
    with saver.database.read() as connection:
        return {
            table.name: connection.execute(
                select(func.count()).select_from(table).where(table.c.thread == phone)
            ).scalar_one()
            for table in (tables.session, tables.message, tables.checkpoint, tables.pending, tables.value)
        }


@pytest.mark.spec("C-5", "P-4")
@for_each(
    ("durability", "in_a_turn", "earlier"),
    [
        each
        for each in itertools.product(["sync", "async", "exit"], [True, False], [True, False])
        # Outside a turn the first run of a thread may not have written anything yet: there is nothing to delete.
        if each[0] == "sync" or any(each[1:])
    ],
)
@for_each("from_elsewhere", [True, False], ids=["deleted elsewhere", "deleted here"])
def test_a_run_that_outlives_its_thread_brings_nothing_of_it_back(
    saver, fresh, durability, in_a_turn, earlier, from_elsewhere
):
    deleting = fresh() if from_elsewhere else saver
    if earlier:
        through_two_nodes(saver, lambda: None).invoke({"messages": "earlier"}, of())
    graph = through_two_nodes(saver, lambda: deleting.delete_thread(MOM))
    with saver.turn(MOM) if in_a_turn else contextlib.nullcontext(of()) as config, contextlib.suppress(LangMemError):
        graph.invoke({"messages": "hello"}, config, durability=durability)

    assert set(rows_of(saver).values()) == {0}
    for reader in (saver, fresh()):
        assert reader.get_tuple(of()) is None
        assert list(reader.list(of())) == []
    graph = through_two_nodes(saver, lambda: None)
    assert [each.text for each in graph.invoke({"messages": "anew"}, of())["messages"]] == ["anew", "first", "second"]


@pytest.mark.spec("C-5", "P-4")
@for_each("late", ["put", "put_writes"])
def test_a_turns_write_on_top_of_a_checkpoint_that_was_deleted_brings_nothing_back(saver, fresh, late):
    first, versions = checkpoint_of(saver, [HumanMessage("hello", id="1")])
    with saver.turn(MOM) as turn:
        of_turn = {**turn["configurable"], "checkpoint_ns": ""}
        saver.put({"configurable": of_turn}, first, {"step": 0}, versions)
        fresh().delete_thread(MOM)
        config = {"configurable": of_turn | {"checkpoint_id": first["id"]}}
        second, versions = checkpoint_of(saver, [*first["channel_values"]["messages"], AIMessage("late")], first)
        writes = {
            "put": lambda: saver.put(config, second, {"step": 1}, versions),
            "put_writes": lambda: saver.put_writes(config, [("messages", [AIMessage("late")])], "task"),
        }
        with pytest.raises(LangMemError):
            writes[late]()

    assert set(rows_of(saver).values()) == {0}
    assert saver.get_tuple(of()) is None


# Early, twice, out of order: as a saver in memory would have it


class Beside:
    """The same calls to our saver and to one in memory, on a conversation of one message."""

    def __init__(self, saver):
        self.ours, self.stock = saver, InMemorySaver()
        self.first, versions = checkpoint_of(saver, [HumanMessage("hello", id="1")])
        self.second, self.versions = checkpoint_of(
            saver, [*self.first["channel_values"]["messages"], AIMessage("one", id="2")], self.first
        )
        self.put(self.first, versions, parent=None)

    def at(self, checkpoint_id=None):
        known = {"thread_id": MOM, "checkpoint_ns": ""}
        return {"configurable": known | ({"checkpoint_id": checkpoint_id} if checkpoint_id else {})}

    def put(self, checkpoint, versions, parent):
        for each in (self.ours, self.stock):
            each.put(self.at(parent and parent["id"]), checkpoint, {"step": 1}, versions)

    def write(self, checkpoint, task, *said):
        for each in (self.ours, self.stock):
            each.put_writes(
                self.at(checkpoint["id"]), [("messages", [AIMessage(text, id=text)]) for text in said], task
            )

    def assert_same(self, *others):
        expected = history(self.stock, MOM)
        for each in (self.ours, *others):
            assert history(each, MOM) == expected


@pytest.fixture
def beside(saver):
    return Beside(saver)


@pytest.mark.spec("C-5")
def test_writes_that_come_before_their_checkpoint_are_on_it(beside, fresh):
    beside.write(beside.second, "task", "early", "early too")
    beside.put(beside.second, beside.versions, beside.first)
    beside.write(beside.second, "other task", "in time")
    beside.assert_same(fresh())
    assert len(beside.ours.get_tuple(beside.at()).pending_writes) == 3


@pytest.mark.spec("C-2")
def test_two_equal_messages_that_are_named_in_one_step_keep_their_names(saver, fresh):
    """Another channel holds one that is equal to both and has no name."""
    made, versions = checkpoint_of(saver, [AIMessage("ok", id="first"), AIMessage("ok", id="second")])
    made["channel_values"] = {"last": {"said": AIMessage("ok")}, **made["channel_values"]}
    versions["last"] = versions["messages"]
    config = saver.put({"configurable": {**of()["configurable"], "checkpoint_ns": ""}}, made, {}, versions)
    for each in (saver, fresh()):
        values = each.get_tuple(config).checkpoint["channel_values"]
        assert [message.id for message in values["messages"]] == ["first", "second"]
        assert values["last"]["said"].id is None


@pytest.mark.spec("C-5")
def test_what_is_written_twice_is_there_once(beside, fresh):
    for saver in (beside.ours, fresh()):
        beside.ours = saver
        for _ in range(2):
            beside.write(beside.first, "task", "once", "and no more")
            beside.put(beside.second, beside.versions, beside.first)
            beside.write(beside.second, "task", "again")
    beside.assert_same(fresh())
    with beside.ours.database.read() as connection:
        counted = select(func.count()).select_from(tables.checkpoint)
        assert connection.execute(counted).scalar_one() == 2


@pytest.mark.spec("C-5", "C-9")
def test_writes_of_eight_threads_in_any_order_are_all_there_in_the_order_of_the_graph(saver, fresh):
    beside = Beside(saver)
    tasks = [f"task-{number}" for number in range(8)]
    for task in tasks:
        beside.stock.put_writes(
            beside.at(beside.second["id"]),
            [("messages", [AIMessage(f"{task} {n}", id=f"{task} {n}")]) for n in range(4)],
            task,
        )
    beside.stock.put(beside.at(beside.first["id"]), beside.second, {"step": 1}, beside.versions)
    start = threading.Barrier(8)
    savers = [saver, fresh()]

    def write(task):
        start.wait()
        ours, number = savers[tasks.index(task) % 2], tasks.index(task)
        said = [("messages", [AIMessage(f"{task} {n}", id=f"{task} {n}")]) for n in range(4)]
        if number == 4:
            ours.put(beside.at(beside.first["id"]), beside.second, {"step": 1}, beside.versions)
        for _ in range(2):
            ours.put_writes(beside.at(beside.second["id"]), said, task)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, tasks))
    beside.assert_same(fresh())
    assert len(saver.get_tuple(beside.at()).pending_writes) == 32


# Cancelled in mid-step


def asynchronous(saver):
    async def answer(state: MessagesState):
        return {"messages": AIMessage(f"{len(state['messages'])}")}

    return StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


@contextlib.contextmanager
def no_writing(database):
    """Whoever writes a checkpoint or a task's result waits until the block ends."""
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("LOCK TABLE langmem_checkpoint, langmem_pending IN EXCLUSIVE MODE"))
        yield


class Threads(ThreadPoolExecutor):
    """Keeps what it was given, so that what cancelled runs have handed to it can be waited for."""

    def __init__(self):
        super().__init__(8)
        self.given = []

    def submit(self, *given, **named):
        self.given.append(super().submit(*given, **named))
        return self.given[-1]


@pytest.fixture
def threads():
    with Threads() as opened:
        yield opened


def assert_whole(saver, threads, fresh):
    """Every message has what belongs to it, and a process that knows nothing reads the same."""
    wait(threads.given)
    said = texts(saver)
    assert said == texts(fresh())
    assert history(saver, MOM) == history(fresh(), MOM)
    assert examine(saver) == []
    return said


@pytest.mark.spec("C-5", "C-13")
@for_each("in_a_turn", [True, False], ids=["in a turn", "without a turn"])
def test_a_run_cancelled_while_it_writes_leaves_a_conversation_that_goes_on(threads, fresh, in_a_turn):
    saver, other = fresh(executor=threads), fresh()
    graph = asynchronous(saver)

    async def ask(said):
        async with saver.turn(MOM) if in_a_turn else contextlib.nullcontext(of()) as config:
            return await graph.ainvoke({"messages": HumanMessage(said)}, config)

    async def conversation():
        around = asyncio.all_tasks()
        await ask("first")
        for number, delay in enumerate((0.0, 0.02, 0.1)):
            with no_writing(other.database):
                running = asyncio.create_task(ask(f"cancelled {number}"))
                await asyncio.sleep(delay)
                running.cancel()
                await asyncio.sleep(0.02)
            with pytest.raises(asyncio.CancelledError):
                await running
            if not in_a_turn:  # only a turn shuts out what the cancelled run has still to write
                while (
                    left := asyncio.all_tasks() - around
                ):  # LangGraph ends a run that is cancelled at its end by itself
                    await asyncio.wait(left)
                await asyncio.to_thread(wait, threads.given)
            await ask(f"after {number}")

    asyncio.run(asyncio.wait_for(conversation(), 200))
    said = assert_whole(saver, threads, fresh)
    kept = [each for each in said if each.startswith(("first", "after"))]
    assert kept == ["first", "after 0", "after 1", "after 2"]
    for place, each in enumerate(said):
        if each in kept:
            assert said[place + 1] == str(place + 1)


@pytest.mark.spec("C-5", "C-13")
def test_a_run_cancelled_at_any_moment_leaves_a_conversation_that_goes_on(threads, fresh):
    saver, acknowledged = fresh(executor=threads), []
    graph = asynchronous(saver)

    async def ask(said):
        async with saver.turn(MOM) as config:
            await graph.ainvoke({"messages": HumanMessage(said)}, config)
        acknowledged.append(said)

    async def conversation():
        for number in range(25):
            running = asyncio.create_task(ask(f"maybe {number}"))
            await asyncio.sleep(number * 0.002)
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            await ask(f"sure {number}")

    asyncio.run(asyncio.wait_for(conversation(), 200))
    said = assert_whole(saver, threads, fresh)
    assert [each for each in said if each in set(acknowledged)] == acknowledged
    assert len(set(said)) == len(said)


# Many at once


def take_turns_elsewhere(url, name, count):
    with ConversationSaver(url) as saver:
        take_turns(saver, name, count)


def take_turns(saver, name, count):
    def answer(state: MessagesState):
        return {"messages": AIMessage(f"answer {len(state['messages'])}")}

    graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)
    for number in range(count):
        with saver.turn(MOM) as config:
            graph.invoke({"messages": HumanMessage(f"{name} {number}")}, config)


@pytest.mark.spec("C-5", "C-9")
def test_eight_threads_and_two_processes_on_one_phone_lose_nothing_and_keep_their_order(database_url):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    processes = [context.Process(target=take_turns_elsewhere, args=(database_url, f"process {n}", 3)) for n in range(2)]
    for each in processes:
        each.start()
    with ConversationSaver(database_url) as saver, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: take_turns(saver, f"thread {n}", 2), range(8)))
    for each in processes:
        each.join(200)
        assert each.exitcode == 0

    with ConversationSaver(database_url) as reader:
        said = texts(reader)
    assert said[1::2] == [f"answer {place}" for place in range(1, len(said), 2)]
    asked = said[::2]
    assert len(asked) == 8 * 2 + 2 * 3
    for name in {each.rpartition(" ")[0] for each in asked}:
        own = [each for each in asked if each.startswith(f"{name} ")]
        assert own == [f"{name} {number}" for number in range(len(own))]
