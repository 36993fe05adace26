"""Whatever stands in a stock database, each record is taken over or named, and what was taken over can be read."""

import sqlite3
from contextlib import closing

import ormsgpack
import pytest

from langmem_plugin import ConversationSaver, SessionManager
from langmem_plugin.conversation.storage.conversation_doctor import examine
from langmem_plugin.portability import source_database
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from tests.portability.stock import echo, say, stock_saver

UUID6 = "1f1e6d2c-638f-60ed-8001-958cde2b5656"
CHECKPOINT_COLUMNS = "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
WRITE_COLUMNS = "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value"
CHANGES = {
    "own parent": ("checkpoints", "parent_checkpoint_id = checkpoint_id", None),
    "no parent": ("checkpoints", "parent_checkpoint_id = ?", "nowhere"),
    "long namespace": ("checkpoints", "checkpoint_ns = ?", "n" * 3_000),
    "namespace with NUL": ("checkpoints", "checkpoint_ns = ?", "n\x00"),
    "broken metadata": ("checkpoints", "metadata = ?", b"{ broken"),
    "no metadata": ("checkpoints", "metadata = ?", None),
    "our keys": ("checkpoints", "metadata = ?", b'{"langmem_session": "x", "langmem_turn": 1, "step": 1}'),
    "run of no text": ("checkpoints", "metadata = ?", b'{"run_id": 5, "step": 1}'),
    "long run": ("checkpoints", "metadata = ?", b'{"run_id": "' + b"r" * 5_000 + b'", "step": 1}'),
    "step in words": ("checkpoints", "metadata = ?", b'{"step": "one"}'),
    "half a character": ("checkpoints", "metadata = ?", b'{"step": 1, "note": "\\ud800"}'),
    "no checkpoint": ("checkpoints", "checkpoint = ?", None),
    "task with NUL": ("writes", "task_id = ?", "\x00"),
    "channel of bytes": ("writes", "channel = ?", b"\x00\xff"),
    "index in words": ("writes", "idx = 'x' || idx", None),
    "write of another kind": ("writes", "type = ?", "msgpack+aes"),
}
PARTS = {
    "reserved key": {"channel_values": {"a": {"__langmem_rows__": [1]}}},
    "no time": {"ts": "yesterday"},
    "before all time": {"ts": "0001-01-01T00:00:00+14:00"},
    "after all time": {"ts": "9999-12-31T23:59:59-12:00"},
    "no version": {"channel_versions": {"a": None}},
    "version in words": {"channel_versions": {"a": "x"}, "channel_values": {"a": 1}},
    "seen by a number": {"versions_seen": {"a": 1}},
    "channels by numbers": {"channel_values": {1: 2, None: 3}},
    "carried": {"langmem_carried": [1, "messages"]},
    "no messages": {"channel_values": {"messages": ["text", 1, None]}},
    "another id": {"id": "1f1e6d2c-638f-60ed-8001-958cde2b5657"},
}
NAMES = [
    "",
    " ",
    "a\x00b",
    "x" * 3_000,
    "\x1fglobal",
    "\u202ertl",
    "😀",
    "__proto__",
    "../../etc/passwd",
    "%s' OR 1=1 --",
]


@pytest.fixture
def hostile(tmp_path):
    file = str(tmp_path / "checkpoints.sqlite")
    with stock_saver(file) as stock:
        say(echo(stock), "T", "hello", "order it")
    with closing(sqlite3.connect(file)) as connection:
        tables = (("checkpoints", CHECKPOINT_COLUMNS), ("writes", WRITE_COLUMNS))
        for name in [*CHANGES, *NAMES]:
            for table, columns in tables:
                copy = (
                    f"INSERT INTO {table} (thread_id, {columns}) SELECT ?, {columns} FROM {table} WHERE thread_id = 'T'"
                )
                connection.execute(copy, (name,))
        for name, (table, change, value) in CHANGES.items():
            values = [value] if "?" in change else []
            connection.execute(f"UPDATE OR REPLACE {table} SET {change} WHERE thread_id = ?", (*values, name))
        whole = {"v": 4, "id": UUID6, "ts": "2025-01-01T00:00:00+00:00"}
        whole |= {"channel_values": {}, "channel_versions": {}, "versions_seen": {}}
        for name, parts in PARTS.items():
            packed = ormsgpack.packb(whole | parts, option=ormsgpack.OPT_NON_STR_KEYS)
            connection.execute(
                "INSERT INTO checkpoints (thread_id, checkpoint_id, type, checkpoint, metadata) "
                "VALUES (?, ?, 'msgpack', ?, '{\"step\": 1}')",
                (name, whole["id"], packed),
            )
        connection.commit()
    return file


@pytest.mark.spec("U-9", "P-10", "C-13")
def test_whatever_a_database_holds_is_taken_over_or_named(hostile, database_url):
    with ConversationSaver(database_url, silence=None) as saver:
        with source_database.opened(hostile) as connection:
            report = ThreadMigration(saver).run(StockThreads(connection, saver.serde))
            again = ThreadMigration(saver).run(StockThreads(connection, saver.serde))
        manager = SessionManager(saver)
        there = {each.whatsapp_chat: len(manager.messages(each.session_id)) for each in manager.sessions(limit=200)}
        for name in there.keys() - {"", "no messages"}:
            say(echo(saver), name, "go on")
        assert examine(saver) == []

    assert there["T"] == 3
    assert [there[name] for name in ("no parent", "our keys", "", " ", "😀", "../../etc/passwd")] == [3] * 6
    places = [each.place for each in report.skipped]
    for name in [*CHANGES, *PARTS, *NAMES]:
        assert name in there or any(place.startswith(f"thread {name!r}") for place in places), name
    assert again.stored["session"] == 0
    assert again.there_already["session"] == len(there)
    assert not any("langmem doctor" in each.reason for each in report.skipped)
