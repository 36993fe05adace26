"""A database is brought to the tables this code needs, also one that the first release wrote."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from langmem_plugin import ConversationSaver, MemoryService, PhoneMemory, SessionManager
from langmem_plugin.database import Database, conversation_tables, memory_tables
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.history import Said

FIRST_RELEASE = Path(__file__).with_name("first_release.db")


@pytest.mark.spec("A-4")
def test_the_migrations_make_exactly_the_tables_the_code_uses(database_url):
    assert conversation_tables.session.metadata is memory_tables.memory.metadata is metadata
    with Database(database_url) as database, database.engine.connect() as connection:
        compared = MigrationContext.configure(connection, opts={"include_object": _is_readable_back})
        differences = compare_metadata(compared, metadata)
        [on_delete] = [
            each["on_delete"] for each in _foreign_keys(connection, "history_message") if each["from"] == "of_session"
        ]

    assert differences == []
    assert on_delete == "CASCADE"


def _is_readable_back(found, _name, kind, *_):
    """SQLAlchemy cannot read the ON DELETE of a reference that was added to a table of SQLite with its column."""
    return kind != "foreign_key_constraint" or [column.name for column in found.columns] != ["of_session"]


def _foreign_keys(connection, table):
    if connection.dialect.name == "sqlite":
        return connection.execute(text(f"PRAGMA foreign_key_list({table})")).mappings().all()
    return [
        {"from": found["constrained_columns"][0], "on_delete": found["options"].get("ondelete")}
        for found in inspect(connection).get_foreign_keys(table)
    ]


@pytest.mark.spec("A-4")
def test_a_database_of_the_first_release_is_read_and_written(tmp_path, offline_model):
    shutil.copy(FIRST_RELEASE, tmp_path / "old.db")
    url = f"sqlite:///{tmp_path}/old.db"

    with ConversationSaver(url) as saver:
        manager = SessionManager(saver)
        [session] = manager.sessions("+972501234567")
        texts = [message.content for message in manager.messages(session.session_id)]
        manager.add_message("+972501234567", "user", "still here")
    with MemoryService(url, embeddings=offline_model) as service:
        [found] = service.recall("+972501234567", "What about TestCorp?")

    assert texts == ["find me a chicken dinner", "1. Lemon chicken\n2. Chicken soup"]
    assert found.memory.text == "TestCorp owes me ₪5000"


@pytest.mark.spec("A-4", "M-7")
def test_what_was_said_under_the_first_release_becomes_searchable(tmp_path, offline_model):
    shutil.copy(FIRST_RELEASE, tmp_path / "old.db")
    with MemoryService(f"sqlite:///{tmp_path}/old.db", embeddings=offline_model) as service:
        service.history.add("+972501234567", [Said("m1", "elsewhere", "user", "I have a red bicycle", service.now())])

    with PhoneMemory(f"sqlite:///{tmp_path}/old.db", embeddings=offline_model) as memory:
        memory.index_past_sessions()
        history = memory.service.history
        [dinner, *_] = history.search("+972501234567", "what dinner did I want?")
        memory.saver.delete_thread("+972501234567")

        assert dinner.message.text == "find me a chicken dinner"
        assert history.count("+972501234567") == 1
        assert [each.message.message_id for each in history.search("+972501234567", "bicycle")] == ["m1"]


@pytest.mark.spec("A-4")
def test_many_that_open_an_empty_database_at_once_migrate_it_once(tmp_path):
    url = f"sqlite:///{tmp_path}/new.db"

    def opened(_):
        with Database(url) as database, database.read() as connection:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()

    with ThreadPoolExecutor(6) as pool:
        assert {tuple(found) for found in pool.map(opened, range(6))} == {("0004",)}


@pytest.mark.spec("A-4")
def test_a_database_of_a_newer_version_is_refused_in_one_line(database_url):
    with Database(database_url) as database, database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(ConfigurationError, match="newer than this program") as raised:
        ConversationSaver(database_url)

    assert "\n" not in str(raised.value)


@pytest.mark.spec("C-18")
def test_files_are_private_to_their_user(tmp_path):
    with Database(f"sqlite:///{tmp_path}/made/here/x.db") as database, database.write() as connection:
        connection.execute(text("CREATE TABLE t (x int)"))
        modes = {file.name: file.stat().st_mode & 0o777 for file in (tmp_path / "made/here").iterdir()}

    assert set(modes.values()) == {0o600}
    assert "x.db-wal" in modes
    assert [(tmp_path / part).stat().st_mode & 0o777 for part in ("made", "made/here")] == [0o700, 0o700]


@pytest.mark.spec("A-4")
def test_a_write_ahead_log_stays_small_and_is_folded_back_at_the_end(tmp_path):
    with Database(f"sqlite:///{tmp_path}/x.db") as database:
        with database.write() as connection:
            connection.execute(text("CREATE TABLE t (x blob)"))
        for _ in range(400):
            with database.write() as connection:
                connection.execute(text("INSERT INTO t VALUES (randomblob(4000))"))
        assert (tmp_path / "x.db-wal").stat().st_size <= 512_000

    assert not (tmp_path / "x.db-wal").exists()
    assert sqlite3.connect(tmp_path / "x.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)
