"""A process that answers people with a real graph; what runs in it, and how it is spoken to from outside."""

import json
import logging
import os
import re
import resource
import select
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import id as checkpoint_ids
from langgraph.graph import START, StateGraph

from langmem_plugin import MemoryState, PhoneMemory, Settings
from langmem_plugin.errors import LangMemError

_TURN_TIMEOUT = timedelta(seconds=15)
_AT_ONCE = 64
_DIMENSION = 32


class Asked(NamedTuple):
    """A text on its way to a process. `how` is "reply", or the durability of a run with the checkpointer alone."""

    number: int
    phone: str
    said: str
    facts: int
    how: str
    in_turn: bool
    message_id: str


def opened(url: str, **clock: Callable[[], datetime]) -> PhoneMemory:
    settings = Settings(turn_timeout=_TURN_TIMEOUT, min_similarity=0)  # all that is remembered is shown
    return PhoneMemory(url, settings=settings, embeddings=DeterministicFakeEmbedding(size=_DIMENSION), **clock)


def conversation(memory: PhoneMemory):
    """Three steps: a call, its result, and a reply that tells every number the model was shown."""

    def call(state):
        said = state["messages"][-1].text
        wanted = {"name": "think", "args": {"seconds": re.findall(r"[\d.]+(?= s$)", said)[0]}, "id": said}
        return {"messages": AIMessage("", tool_calls=[wanted])}

    def think(state):
        wanted = state["messages"][-1].tool_calls[0]
        time.sleep(float(wanted["args"]["seconds"]))
        found = [{"title": f"Soup {number}", "url": f"https://food/{number}"} for number in range(5)]
        return {"messages": ToolMessage(json.dumps(found), tool_call_id=wanted["id"])}

    def answer(state):
        shown = "\n".join(message.text for message in memory.prompt(state, "Answer."))
        numbers = sorted(set(re.findall(r"\bn\d+\b", shown)))
        said = state["messages"][-2].tool_calls[0]["id"]
        return {"messages": AIMessage(f"You said {said}. I was shown {' '.join(numbers)}")}

    steps = [("recall", memory.recall_node()), call, think, answer, ("write", memory.write_node())]
    return StateGraph(MemoryState).add_sequence(steps).add_edge(START, "recall").compile(checkpointer=memory.saver)


def serve(memory: PhoneMemory, pipe: Connection, of_children: Sequence[Connection] = ()) -> None:
    """Answers all who are asked for at once, each in a thread, until None comes.

    "close" closes the memory, "fork" forks a child on each of the pipes, which serves with the same object; from "full"
    to "room" no file can be written, as on a full disk.
    """
    graph, sending = conversation(memory), threading.Lock()

    def answer(asked: Asked) -> None:
        text, error, told = "", "", False
        try:
            text = _answered(memory, graph, asked)
        except LangMemError as named:
            error, told = f"{type(named).__name__}: {named}", asked.how != "reply"
        except Exception as bug:  # noqa: BLE001 - whatever a person would not have been answered for
            error = f"{type(bug).__module__}.{type(bug).__name__}: {bug}"
        with sending:
            pipe.send((asked.number, time.monotonic(), text, error, told))

    with ThreadPoolExecutor(_AT_ONCE) as people:
        pipe.send(os.getpgrp())
        while asked := pipe.recv():
            if asked == "close":
                memory.close()
            elif asked in ("full", "room"):
                most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
                resource.setrlimit(resource.RLIMIT_FSIZE, (0 if asked == "full" else most, most))
            elif asked == "fork":
                for of_child in of_children:
                    if not os.fork():
                        serve(memory, of_child)
                        os._exit(0)
            else:
                people.submit(answer, asked)


def run(pipe: Connection, url: str, ahead: float | None, of_children: Sequence[Connection]) -> None:
    """A whole process. `ahead` are seconds by which to move its clock, where nothing outside moves it."""
    os.setsid()  # with its children it can be ended from outside, whatever it is doing
    logging.disable()  # what people are told is counted, not how often it is logged
    if "FAKETIME" in os.environ:
        # Where libfaketime leaves the monotonic clock alone, Python's own sleep is an invalid argument.
        time.sleep = partial(select.select, [], [], [])
    clock = {}
    if ahead is not None:
        checkpoint_ids.time = SimpleNamespace(time_ns=lambda: time.time_ns() + int(ahead * 1e9))
        clock["now"] = lambda: datetime.now(UTC) + timedelta(seconds=ahead)
    with opened(url, **clock) as memory:
        serve(memory, pipe, of_children)


def _answered(memory: PhoneMemory, graph: Any, asked: Asked) -> str:
    if asked.facts > 1:
        facts = [(f"{asked.said} {number}", {}) for number in range(asked.facts)]
        vectors = np.random.default_rng(1).standard_normal((asked.facts, _DIMENSION)).tolist()
        memory.service.remember_many(asked.phone, facts, embeddings=vectors)
        return "stored"
    if asked.how == "reply":
        return memory.reply(graph, asked.phone, asked.said, message_id=asked.message_id or None)
    said = {"messages": [HumanMessage(asked.said)]}
    outside = nullcontext({"configurable": {"thread_id": asked.phone}})
    with memory.saver.turn(asked.phone) if asked.in_turn else outside as config:
        return graph.invoke(said, config, durability=asked.how)["messages"][-1].text
