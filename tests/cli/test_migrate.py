"""`langmem import` of databases and chats, as a command and as a process: what people have elsewhere, and what is said of it."""

import json
import signal
import sqlite3
from contextlib import closing

import pytest
from langgraph.store.sqlite import SqliteStore
from sqlalchemy import select
from typer.testing import CliRunner

from langmem_plugin import ConversationSaver, SessionManager
from langmem_plugin.cli import app
from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory
from tests.cases import for_each
from tests.portability.stock import ERIN, echo, say, stock_saver
from tests.warm_process import ran

DAN = "+972509999999"


@pytest.fixture
def run(database_url):
    """A command on the database: its lines."""

    def invoke(*arguments, exit_code=0):
        result = CliRunner().invoke(app, ["import", *map(str, arguments), "--database", database_url])
        assert result.exit_code == exit_code, result.output
        return result.output.splitlines()

    return invoke


@pytest.mark.spec("U-9", "U-5")
def test_a_stock_database_is_migrated_with_a_mapping_and_a_report(run, database_url, tmp_path):
    source = str(tmp_path / "checkpoints.sqlite")
    with stock_saver(source) as stock:
        say(echo(stock), "thread-1", "hello")
        say(echo(stock), ERIN, "hi")
        say(echo(stock), "broken", "hi")
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("UPDATE checkpoints SET type = 'pickle' WHERE thread_id = 'broken'")
        connection.commit()
    mapping = tmp_path / "phones.csv"
    mapping.write_text("thread-1,+972 50-999-9999\n", encoding="utf-8")

    told = run(source, "--phone-of", mapping)

    assert "stored: 2 sessions, 4 messages" in told
    assert "skipped: 3" in told
    assert any("thread 'broken' checkpoint" in line and "pickle" in line for line in told)
    with ConversationSaver(database_url) as saver:
        assert {each.whatsapp_chat for each in SessionManager(saver).sessions()} == {ERIN, DAN}

    report = json.loads("\n".join(run(source, "--from", "langgraph-saver", "--phone-of", mapping, "--json")))
    assert report["there_already"] == {"session": 2}
    assert len(report["skipped"]) == 3


@pytest.mark.spec("U-9", "U-5", "C-13")
@for_each(
    ("arguments", "said"),
    [
        (("none.db", "--from", "langgraph-saver"), "there is no none.db"),
        (("mapping.csv", "--from", "langgraph-saver"), "no SQLite database"),
        (("mapping.csv", "--from", "langgraph-saver", "--phone", ERIN), "which thread is whose"),
        (("mapping.csv",), "cannot be told"),
        (("mapping.csv", "--from", "mem0", "--phone-of", "bad.csv"), "bad.csv:2: a line is `name there,phone here`"),
        (("mapping.csv", "--from", "mem0", "--phone-of", "two.csv"), "two.csv:2: 'a' stands for another phone above"),
        (("mapping.csv", "--from", "langgraph-store"), "say whose it is"),
        (("mapping.csv", "--from", "whatsapp"), "say who is who"),
        (("mapping.csv", "--phone", ERIN, "--bot", "Shop"), "no WhatsApp chat"),
    ],
)
def test_what_cannot_be_migrated_is_said_in_one_line(arguments, said, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mapping.csv").write_text("a,+972501234567\n")
    (tmp_path / "bad.csv").write_text("a,+972501234567\nb\n")
    (tmp_path / "two.csv").write_text("a,+972501234567\na,+972501234568\n")

    told = run(*arguments, exit_code=1)

    assert told[-1].startswith("langmem: ")
    assert said in told[-1]


@pytest.mark.slow
@pytest.mark.spec("U-9", "U-5")
def test_memories_and_chats_are_migrated_once(run, database_url, tmp_path):
    store = str(tmp_path / "store.sqlite")
    with SqliteStore.from_conn_string(store) as opened:
        opened.setup()
        opened.put((ERIN, "memories"), "a", {"text": "Erin lives in Haifa"})
    export = tmp_path / "mem0.json"
    item = {"id": "1", "memory": "Dan is allergic to nuts", "hash": "h", "user_id": "dan", "created_at": "2026-01-02"}
    export.write_text(json.dumps({"results": [item, {"id": "2"}]}), encoding="utf-8")
    chat = tmp_path / "chat.txt"
    chat.write_text("13/02/2026, 10:00 - Erin: hello\n13/02/2026, 10:01 - Shop: hi\n", encoding="utf-8")
    names = tmp_path / "names.csv"
    names.write_text(f"dan,{DAN}\n")
    commands = (
        (store, "--owner-at", "0"),
        (export, "--phone-of", names),
        (chat, "--phone", ERIN, "--bot", "Shop"),
    )

    first = [run(*each) for each in commands]
    again = [run(*each) for each in commands]

    assert [any(line.startswith("stored: 1 memory") for line in each) for each in first] == [True, True, False]
    assert "stored: 2 messages, 1 session" in first[2]
    assert any("mem0.json record 2: it has no text" in line for line in first[1])
    assert ["stored: nothing" in each for each in again] == [True] * 3
    assert sorted(_memories(database_url)) == [(ERIN, "Erin lives in Haifa"), (DAN, "Dan is allergic to nuts")]


@pytest.mark.slow
@pytest.mark.spec("U-9", "C-4")
def test_an_old_chat_stays_for_as_long_as_what_ends_today_and_a_longer_export_adds_what_is_new(
    run, database_url, tmp_path, monkeypatch
):
    lines = [
        "13/02/2020, 10:00 - Erin: hello",
        "13/02/2020, 10:01 - Shop: hi",
        "13/02/2020, 10:02 - Erin: a table for two",
        "14/02/2020, 10:00 - Erin: thanks",
    ]
    monkeypatch.setenv("LANGMEM_ARCHIVE_DAYS", "30")
    for many, stored in ((2, "2 messages, 1 session"), (4, "2 messages, 2 sessions"), (4, "nothing")):
        chat = tmp_path / "chat.txt"
        chat.write_text("\n".join(lines[:many]), encoding="utf-8")
        assert f"stored: {stored}" in run(chat, "--phone", ERIN, "--bot", "Shop")
        assert CliRunner().invoke(app, ["expire", "--database", database_url]).exit_code == 0

    with ConversationSaver(database_url) as saver:
        manager = SessionManager(saver)
        said = [message for each in manager.sessions(ERIN) for message in manager.messages(each.session_id)]
    assert sorted(each.content for each in said) == ["a table for two", "hello", "hi", "thanks"]
    assert {each.timestamp.year for each in said} == {2020}


def _memories(database_url):
    with Database(database_url) as database, database.read() as connection:
        return [tuple(row) for row in connection.execute(select(memory.c.owner, memory.c.text))]


_KILLED_MIDWAY = """
import itertools, os, signal
from langmem_plugin.cli import app
from langmem_plugin.portability.thread_migration import ThreadMigration

stored, steps = ThreadMigration._stored, itertools.count()

def killed(*arguments):
    if next(steps) == 500:
        os.kill(os.getpid(), signal.SIGKILL)
    return stored(*arguments)

ThreadMigration._stored = killed
app()
"""


@pytest.mark.slow
@pytest.mark.spec("U-9", "C-5")
def test_a_killed_process_is_finished_by_the_next(tmp_path):
    source, target = str(tmp_path / "checkpoints.sqlite"), f"sqlite:///{tmp_path}/langmem.db"
    with stock_saver(source) as stock:
        say(echo(stock), "+972500000000", *(f"message {number}" for number in range(20)))
    with closing(sqlite3.connect(source)) as connection:
        for table, columns in (
            ("checkpoints", "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"),
            ("writes", "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value"),
        ):
            of_first = f"SELECT ?, {columns} FROM {table} WHERE thread_id = '+972500000000'"
            for number in range(1, 30):
                connection.execute(f"INSERT INTO {table} (thread_id, {columns}) {of_first}", (f"+97250{number:07}",))
        connection.commit()
    command = ["import", source, "--create", "--database", target]

    ran(_KILLED_MIDWAY, *command, ends_with=-signal.SIGKILL)
    before = _sessions(tmp_path / "langmem.db")
    told = CliRunner().invoke(app, command).stdout.splitlines()

    assert 0 < before < 30
    assert told[0].startswith(f"stored: {30 - before} session")
    assert told[1].startswith(f"there already: {before} session")
    with ConversationSaver(target) as saver:
        found = SessionManager(saver).sessions(limit=100)
    assert [each.message_counter for each in found] == [40] * 30


def _sessions(file):
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM langmem_session").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
