"""A server on each engine that knows its people, and processes that are forked from it or come from elsewhere."""

import contextlib
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import AIMessage
from sqlalchemy import create_engine, make_url, text

from langmem_plugin import MemoryService, PhoneMemory
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings
from tests.chat_graph import chat_graph
from tests.stated import stated

MOM = "+972501234567"
SECOND_STATE = Path(__file__).with_name("second_state.db")
"""A small database as revision 0020 left it."""


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


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request, tmp_path):
    """A database without any table, on each engine in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/shared.db"
    server = request.getfixturevalue("postgresql_server")
    name = "shared_" + re.sub(r"\W", "_", request.node.name)[-50:].lower()
    server.psql(f"CREATE DATABASE {name};")
    return server.get_uri(database=name)


@pytest.fixture
def application(empty_url):
    """The application's own way into the same database."""
    driver = "sqlite" if empty_url.startswith("sqlite") else "postgresql+psycopg"
    engine = create_engine(make_url(empty_url).set(drivername=driver))
    yield engine
    engine.dispose()


@pytest.fixture
def second_state(empty_url, application):
    """The URL of a database as the second state of this program made it."""
    if empty_url.startswith("sqlite"):
        shutil.copy(SECOND_STATE, make_url(empty_url).database)
        return empty_url
    with MemoryService(empty_url, embeddings=OfflineEmbeddings()) as service:
        service.remember(MOM, "My dentist is Dr. Cohen")
    with application.begin() as connection:
        for statement in _UNDONE:
            connection.execute(text(statement))
    return empty_url


_INDEXES = (
    *("session_to_take", "session_current", "session_ended", "thread_owner_noted", "incoming_received"),
    *("question_asked", "memory_over", "memory_expires", "memory_access_at"),
    *("memory_vector_of", "history_vector_of"),
)
_UNDONE = (
    "DROP TABLE langmem_acknowledged",
    "DROP TABLE langmem_memory_index",
    "CREATE TABLE langmem_memory_index (owner VARCHAR, model VARCHAR, change BIGINT, generation INTEGER)",
    *(f"DROP INDEX langmem_{name}" for name in _INDEXES),
    "ALTER TABLE langmem_session DROP COLUMN to_take",
    "CREATE TABLE langmem_searchable (thread VARCHAR, session BIGINT, checkpoint_id VARCHAR)",
    "DROP TABLE langmem_new_link",
    "ALTER TABLE langmem_link_code DROP COLUMN other",
    "ALTER TABLE langmem_audit DROP COLUMN written, ADD COLUMN position BIGINT, ADD COLUMN hash BYTEA",
    "CREATE UNIQUE INDEX langmem_audit_position ON langmem_audit (position)",
    "CREATE TABLE langmem_audit_mark (name VARCHAR PRIMARY KEY, position BIGINT, hash BYTEA, noted_at BIGINT)",
    "ALTER TABLE langmem_person DROP COLUMN shown",
    "ALTER TABLE langmem_incoming DROP COLUMN waited, DROP COLUMN sent_as",
    *(
        f"ALTER TABLE langmem_memory DROP CONSTRAINT langmem_memory_{column}"
        for column in ("confidence", "fact_type", "source_type")
    ),
    "UPDATE langmem_version SET version_num = '0020'",
)
"""What came after revision 0020: each migration adds its line."""
