"""Whatever stands in a stock database, each record is taken over or named, and what was taken over can be read."""

import sqlite3
from contextlib import closing

import ormsgpack
import psycopg
import pytest

from langmem_plugin import ConversationSaver, SessionManager
from langmem_plugin.conversation.storage.session_repair import examine
from langmem_plugin.errors import InvalidInput
from langmem_plugin.portability import source_database
from langmem_plugin.portability.imported_records import ImportedMemory
from langmem_plugin.portability.sources import langgraph_store
from langmem_plugin.portability.sources.langgraph_saver import StockThreads
from langmem_plugin.portability.thread_migration import ThreadMigration
from tests.cases import for_each
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
        for name in there.keys() - {"no messages"}:
            say(echo(saver), name, "go on")
        assert examine(saver) == []

    assert there["T"] == 3
    assert [there[name] for name in ("no parent", "our keys", "😀", "../../etc/passwd")] == [3] * 4
    assert not {"", " "} & there.keys()  # nobody
    places = [each.place for each in report.skipped]
    for name in [*CHANGES, *PARTS, *NAMES]:
        assert name in there or any(place.startswith(f"thread {name!r}") for place in places), name
    assert again.stored["session"] == 0
    assert again.there_already["session"] == len(there)
    assert not any("langmem doctor" in each.reason for each in report.skipped)


_ENDLESS = (
    "CREATE VIEW {table} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT {columns} FROM n, {table}_"
)


@pytest.mark.spec("U-9", "C-13")
@for_each("table", ["checkpoints", "writes"])
def test_a_view_that_never_ends_is_refused_by_its_name(tmp_path, database_url, table):
    file = str(tmp_path / "checkpoints.sqlite")
    with stock_saver(file) as stock:
        say(echo(stock), "T", "hello")
    with closing(sqlite3.connect(file)) as connection:
        columns = ", ".join(each[1] for each in connection.execute(f"PRAGMA table_info({table})"))
        connection.execute(f"ALTER TABLE {table} RENAME TO {table}_")
        connection.execute(_ENDLESS.format(table=table, columns=columns))
        connection.commit()
    with (
        ConversationSaver(database_url) as saver,
        source_database.opened(file) as connection,
        pytest.raises(InvalidInput, match=f"no table '{table}' of its own"),
    ):
        StockThreads(connection, saver.serde)


@pytest.mark.spec("U-9", "C-13")
def test_ids_of_a_wrong_type_damaged_texts_and_values_that_are_too_large_are_named(tmp_path, database_url, monkeypatch):
    monkeypatch.setattr(source_database, "_LARGEST_BYTES", 100_000)
    file = str(tmp_path / "checkpoints.sqlite")
    with stock_saver(file) as stock:
        say(echo(stock), "good", "hello")
    with closing(sqlite3.connect(file)) as connection:
        for table, columns in (("checkpoints", CHECKPOINT_COLUMNS), ("writes", WRITE_COLUMNS)):
            for thread in (b"\x00\xff", "large", "undecodable", "numbers", "parents"):
                connection.execute(
                    f"INSERT INTO {table} (thread_id, {columns}) SELECT ?, {columns} FROM {table} "
                    "WHERE thread_id = 'good'",
                    (thread,),
                )
        change = "UPDATE OR REPLACE checkpoints SET"
        connection.execute(f"{change} checkpoint = zeroblob(200000) WHERE thread_id = 'large'")
        connection.execute(f"{change} checkpoint_id = CAST(x'ff41' AS TEXT) WHERE thread_id = 'undecodable'")
        connection.execute(f"{change} checkpoint_id = x'41' WHERE thread_id = 'numbers'")
        connection.execute(f"{change} parent_checkpoint_id = x'41' WHERE thread_id = 'parents'")
        connection.execute("CREATE TRIGGER t AFTER INSERT ON checkpoints BEGIN SELECT raise(ABORT, 'no'); END")
        connection.commit()
    with ConversationSaver(database_url, silence=None) as saver, source_database.opened(file) as connection:
        report = ThreadMigration(saver).run(StockThreads(connection, saver.serde))
        there = {each.whatsapp_chat for each in SessionManager(saver).sessions()}
    assert there == {"good"}
    places = " ".join(each.place for each in report.skipped)
    for name in ("large", "undecodable", "numbers", "parents", "b'\\x00\\xff'"):
        assert name in places, name


@pytest.mark.spec("U-9", "C-13")
def test_a_store_with_any_types_is_read_to_its_end_and_what_is_none_is_named(tmp_path):
    file = str(tmp_path / "store.sqlite")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE store (prefix, key, value, created_at, updated_at)")
        rows = [("erin", "good", '{"text": "likes tea"}'), (b"\xff", "k", "{}"), (5, 6, "{}"), (None, None, None)]
        rows += [("erin", "same", '{"text": "twice"}')] * 3 + [("erin", b"\x00", b"\x00")]
        connection.executemany("INSERT INTO store (prefix, key, value) VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO store (prefix, key, value) VALUES (CAST(x'ff' AS TEXT), 'k', '{}')")
        connection.commit()
    found = list(langgraph_store.records(file, owner_at=0))
    assert len(found) == len(rows) + 1
    assert [each.text for each in found if isinstance(each, ImportedMemory)] == ["likes tea", "twice", "twice", "twice"]


@pytest.mark.spec("U-9", "C-13")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_view_of_a_server_is_refused_too(database_url, postgresql_server, tmp_path):
    with stock_saver(database_url) as stock:
        say(echo(stock), "T", "hello")
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER TABLE checkpoints RENAME TO before")
        connection.execute("CREATE VIEW checkpoints AS SELECT b.* FROM before b, generate_series(1, 1000000000)")
    with (
        ConversationSaver(f"sqlite:///{tmp_path}/l.db") as saver,
        source_database.opened(database_url) as connection,
        pytest.raises(InvalidInput, match="no table 'checkpoints' of its own"),
    ):
        StockThreads(connection, saver.serde)
