"""A server on each engine that knows its people, and processes that are forked from it or come from elsewhere."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage

from langmem_plugin import PhoneMemory
from tests.chat_graph import chat_graph
from tests.stated import stated


class Server(NamedTuple):
    memory: PhoneMemory
    graph: Any

    def says(self, phone: str, text: str) -> str:
        return self.memory.reply(self.graph, phone, text)

    def history(self, phone: str) -> list[str]:
        state = self.graph.get_state({"configurable": {"thread_id": phone}})
        return [message.text for message in state.values.get("messages", [])]


def serving(memory: PhoneMemory) -> Server:
    """Answers with what it heard and what it was reminded of."""

    def answer(state):
        prompt = memory.prompt(state, "You are Mom Bot.")
        return {"messages": AIMessage(f"{state['messages'][-1].text} / {stated(prompt)}")}

    return Server(memory, chat_graph(memory, answer))


@pytest.fixture
def server(database_url, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model) as memory:
        yield serving(memory)


@pytest.fixture
def elsewhere():
    """Runs Python in a process that has nothing in common with this one; what it printed."""

    def run(code: str) -> str:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    return run


class Child:
    """A forked process. `result` is what its work returned, or raises what the work raised."""

    def __init__(self, work: Callable[[], Any], seconds: int) -> None:
        self._reads, writes = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(writes)
            return
        signal.alarm(seconds)  # one that hangs is killed, and its result is missing
        try:
            outcome = (True, work())
        except BaseException:  # noqa: BLE001 - told by the parent
            outcome = (False, traceback.format_exc())
        with contextlib.suppress(BrokenPipeError), os.fdopen(writes, "wb") as pipe:
            pickle.dump(outcome, pipe)
        os._exit(0)

    def result(self) -> Any:
        with os.fdopen(self._reads, "rb") as pipe:
            told = pipe.read()
        _, status = os.waitpid(self.pid, 0)
        assert told, f"the child ended with status {status} and said nothing"
        succeeded, outcome = pickle.loads(told)
        assert succeeded, outcome
        return outcome


@pytest.fixture
def forked():
    """Forks this process; the child does the work and ends."""

    def fork(work: Callable[[], Any], seconds: int = 90) -> Child:
        return Child(work, seconds)

    return fork
