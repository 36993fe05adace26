"""Back in time with subgraphs that remember: every replay and fork goes as it does on InMemorySaver."""

import asyncio
import functools
import itertools
import operator
import time
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import InvalidUpdateError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, StateSnapshot, interrupt

from tests.cases import for_each

pytestmark = [pytest.mark.slow, pytest.mark.spec("C-25", "C-5")]

THREAD: Any = {"configurable": {"thread_id": "back-in-time"}}


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


class Memories(TypedDict):
    """A subgraph's own: what it was told in all its calls."""

    told: Annotated[list[str], operator.add]
    inner: Annotated[list[str], operator.add]


def chain(builder: Any, *names: str) -> Any:
    for one, other in zip((START, *names), (*names, END), strict=True):
        builder.add_edge(one, other)
    return builder


def remembering(name: str, inner: Any = None, *, asks: bool = False) -> Any:
    """A stateful subgraph of several ticks: what it answers tells how much it remembers of its calls before."""

    def first(state: Memories) -> Any:
        return {"told": [f"{name} first after {len(state['told'])}"]}

    def asking(state: Memories) -> Any:
        answer = interrupt(f"{name} asks after {len(state['told'])}") if asks else "nobody"
        return {"told": [f"{name} heard {answer}"]}

    def within(state: Memories) -> Any:
        found = inner.invoke({"told": [f"{name} calls"]}) if inner else {"told": [], "inner": []}
        return {"inner": [f"{len(found['told'])} and {len(found['inner'])}"]}

    def last(state: Memories) -> Any:
        return {"told": [f"{name} last after {len(state['told'])} and {len(state['inner'])}"]}

    builder = StateGraph(Memories)
    for node in (first, asking, within, last):
        builder.add_node(node)
    return chain(builder, "first", "asking", "within", "last").compile(checkpointer=True)


def calling(sub: Any) -> Callable[[Log], Any]:
    def call(state: Log) -> Any:
        found = sub.invoke({"told": [f"call {len(state['log'])}"]})
        return {"log": [f"{len(found['told'])} and {found['inner'][-1]}"]}

    return call


def noting(name: str) -> Callable[[Log], Any]:
    return lambda state: {"log": [f"{name} after {len(state['log'])}"]}


def three_deep(saver: Any, *, asks: bool = False) -> Any:
    deepest = remembering("deepest", asks=asks)
    outer = remembering("outer", remembering("middle", deepest))
    builder = StateGraph(Log).add_node("before", noting("before")).add_node("call", calling(outer))
    return chain(builder.add_node("after", noting("after")), "before", "call", "after").compile(checkpointer=saver)


def in_a_loop(saver: Any, *, asks: bool = False) -> Any:
    builder = StateGraph(Log).add_node("call", calling(remembering("looped", remembering("within"), asks=asks)))
    builder.add_node("count", noting("count")).add_edge(START, "call").add_edge("call", "count")
    again = lambda state: "call" if len(state["log"]) % 7 else END  # noqa: E731
    return builder.add_conditional_edges("count", again, ["call", END]).compile(checkpointer=saver)


def in_parallel(saver: Any, *, asks: bool = False) -> Any:
    builder = StateGraph(Log).add_node("before", noting("before")).add_node("joined", noting("joined"))
    builder.add_edge(START, "before")
    for name in ("left", "right"):
        builder.add_node(name, calling(remembering(name, asks=asks and name == "right")))
        builder.add_edge("before", name)
    return builder.add_edge(["left", "right"], "joined").add_edge("joined", END).compile(checkpointer=saver)


def as_a_node(saver: Any, *, asks: bool = False) -> Any:
    """The subgraph is the node, and shares a channel with the graph around it."""

    def count(state: Log) -> Any:
        answer = interrupt(f"after {len(state['log'])}") if asks else "nobody"
        return {"log": [f"{len(state['log'])} and {answer}"]}

    within = chain(StateGraph(Log).add_node(count), "count").compile(checkpointer=True)
    sub = chain(StateGraph(Log).add_node("start", noting("start")).add_node("sub", within), "start", "sub")
    builder = StateGraph(Log).add_node("sub", sub.compile(checkpointer=True)).add_node("after", noting("after"))
    return chain(builder, "sub", "after").compile(checkpointer=saver)


GRAPHS = {"three deep": three_deep, "in a loop": in_a_loop, "in parallel": in_parallel, "as a node": as_a_node}


class Traveller:
    """One graph on one saver, and all that comes of it."""

    def __init__(self, graph: Any, durability: str, *, in_async: bool) -> None:
        self.graph, self.durability, self.in_async = graph, durability, in_async

    def run(self, given: Any, config: Any) -> Any:
        if self.in_async:
            result = asyncio.run(self.graph.ainvoke(given, config, durability=self.durability))
        else:
            result = self.graph.invoke(given, config, durability=self.durability)
        asked = sorted(each.value for each in result.get("__interrupt__", ()))
        return result["log"], asked

    def answered(self, given: Any, config: Any) -> list[Any]:
        """The result, and those of answering what it asks for."""
        results = [self.run(given, config)]
        while results[-1][1] and len(results) < 9:
            results.append(self.run(Command(resume=f"yes {len(results)}"), THREAD))
        return results

    def history(self) -> list[Any]:
        return list(self.graph.get_state_history(THREAD))

    def journey(self) -> list[Any]:
        """Two turns; then a replay and a fork of every fourth checkpoint that they left, and one turn more."""
        came: list[Any] = [self.answered({"log": [f"turn {number}"]}, THREAD) for number in range(2)]
        for state in self.history()[::4]:
            came.append(self.answered(None, state.config))
            try:
                forked = self.graph.update_state(state.config, {"log": ["forked"]})
            except InvalidUpdateError as error:  # two nodes ran at once: neither is said to be the one that updates
                came.append(str(error))
                continue
            came += [self.answered(None, forked), seen(self.graph.get_state(forked, subgraphs=True))]
        return [*came, self.answered({"log": ["once more"]}, THREAD), [seen(each) for each in self.history()]]


def seen(state: Any) -> Any:
    within = [seen(task.state) for task in state.tasks if isinstance(task.state, StateSnapshot)]
    return state.values, state.next, sorted(each.value for each in state.interrupts), within


@functools.cache
def stock_journey(build: Any, asks: bool, durability: str) -> list[Any]:
    """It is the same for both engines, and by invoke and ainvoke."""
    return Traveller(build(InMemorySaver(), asks=asks), durability, in_async=False).journey()


@for_each(
    ("asks", "durability", "in_async"),
    [
        (False, "sync", False),
        (False, "async", True),
        (True, "async", False),
        (True, "sync", True),
        (True, "exit", True),
    ],
)
@for_each("build", GRAPHS.values(), ids=GRAPHS)
def test_every_replay_and_fork_finds_each_subgraph_as_it_was(saver, build, asks, durability, in_async):
    ours = Traveller(build(saver, asks=asks), durability, in_async=in_async)

    assert ours.journey() == stock_journey(build, asks, durability)


# The order of a session, whatever namespace a checkpoint is in


def put(
    saver: Any, namespace: str, checkpoint_id: str, around: dict[str, str] | None = None, parent: str | None = None
) -> None:
    config: Any = {"configurable": {"thread_id": "back-in-time", "checkpoint_ns": namespace, "checkpoint_id": parent}}
    metadata: Any = {"source": "loop", "step": 0, "parents": around or {}}
    saver.put(config, {**empty_checkpoint(), "id": checkpoint_id}, metadata, {})


def ids(saver: Any, namespace: str | None, before: str) -> list[str]:
    config: Any = {"configurable": {"thread_id": "back-in-time"}}
    if namespace is not None:
        config["configurable"]["checkpoint_ns"] = namespace
    found = saver.list(config, before={"configurable": {"checkpoint_id": before}})
    return [each.config["configurable"]["checkpoint_id"] for each in found]


def made(count: int) -> list[str]:
    return [str(uuid6(clock_seq=number)) for number in range(count)]


def test_a_run_goes_on_from_what_was_stored_last_though_a_clock_went_back(saver):
    late, early = reversed(made(2))
    put(saver, "", late)
    put(saver, "", early, parent=late)

    newest = saver.get_tuple({"configurable": {"thread_id": "back-in-time"}})
    assert newest.config["configurable"]["checkpoint_id"] == early


def test_a_checkpoint_that_is_stored_after_those_of_its_subgraphs_comes_before_them(saver):
    first, second, within, deeper, third = made(5)
    put(saver, "", first)
    put(saver, "sub", within, around={"": second})
    put(saver, "sub|deep", deeper, around={"": second})
    put(saver, "", third, parent=second)
    put(saver, "", second, parent=first)

    assert ids(saver, "sub", second) == []
    assert ids(saver, "sub|deep", second) == []
    assert ids(saver, "sub", third) == [within]
    assert ids(saver, None, third) == [deeper, within, second, first]


def test_in_whatever_order_a_run_is_stored_it_is_listed_as_it_was_made(saver):
    root, sub, sub_two, deep, deep_two = made(5)
    older = [(sub, root), (sub_two, sub), (deep, sub_two), (deep_two, deep)]
    puts = [
        ("", root, None, None),
        ("sub", sub, {"": root}, None),
        ("sub", sub_two, {"": root}, sub),
        ("sub|deep", deep, {"": root, "sub": sub_two}, None),
        ("sub|deep", deep_two, {"": root, "sub": sub_two}, deep),
    ]
    for order in itertools.permutations(puts):
        for each in order:
            put(saver, *each)

        found = ids(saver, None, "2")
        assert all(found.index(one) < found.index(other) for one, other in older), order
        assert ids(saver, "sub|deep", sub_two) == []
        assert ids(saver, "sub", root) == []
        saver.delete_thread("back-in-time")


def test_what_is_before_a_checkpoint_that_is_gone_goes_by_its_id(saver):
    first, gone, second = made(3)
    put(saver, "sub", first)
    put(saver, "sub", second)

    assert ids(saver, "sub", gone) == [first]


def test_a_replay_of_an_archived_session_finds_its_subgraphs(saver, clock):
    graph = three_deep(saver)
    expected = three_deep(InMemorySaver())
    for each in (graph, expected):
        each.invoke({"log": ["one"]}, THREAD)
        each.invoke({"log": ["two"]}, THREAD)
    states = list(graph.get_state_history(THREAD))
    stock = list(expected.get_state_history(THREAD))
    saver.end_session("back-in-time")
    graph.invoke({"log": ["another session"]}, THREAD)
    time.sleep(0.001)

    for ours, theirs in zip(states, stock, strict=True):
        assert graph.invoke(None, ours.config) == expected.invoke(None, theirs.config)
