"""A database is brought to the tables this code needs, also one that the first release wrote."""

import hashlib
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, make_url, text

from langmem_plugin import ConversationSaver, MemoryService, PhoneMemory, SessionManager
from langmem_plugin.database import Database, conversation_tables, memory_tables, migrations, people_tables
from langmem_plugin.database.migrations import HEAD
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory.embedding.unit_vectors import to_bytes
from langmem_plugin.memory.find.message_rows import PastMessage
from langmem_plugin.memory.find.recall import SHARED, search_for

FIRST_RELEASE = Path(__file__).with_name("first_release.db")


@pytest.mark.spec("A-4")
def test_the_migrations_make_exactly_the_tables_the_code_uses(database_url):
    tables = (conversation_tables.session, memory_tables.memory, people_tables.person)
    assert all(each.metadata is metadata for each in tables)
    with Database(database_url) as database, database.engine.connect() as connection:
        compared = MigrationContext.configure(
            connection, opts={"include_object": _is_readable_back, "version_table": "langmem_version"}
        )
        differences = compare_metadata(compared, metadata)
        [on_delete] = [
            each["on_delete"]
            for each in _foreign_keys(connection, "langmem_history_message")
            if each["from"] == "of_session"
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
        service.history.add(
            "+972501234567", [PastMessage("m1", "elsewhere", "user", "I have a red bicycle", service.now())]
        )

    with PhoneMemory(f"sqlite:///{tmp_path}/old.db", embeddings=offline_model) as memory:
        memory.index_past_sessions()
        history = memory.service.history
        [dinner, *_] = history.search("+972501234567", "what dinner did I want?")
        memory.saver.delete_thread("+972501234567")

        assert dinner.message.text == "find me a chicken dinner"
        assert history.count("+972501234567") == 1
        assert [each.message.message_id for each in history.search("+972501234567", "bicycle")] == ["m1"]


@pytest.fixture
def before_scopes(request, engine_of_old, tmp_path, monkeypatch):
    """The URL of a database as it was when what was shared belonged to an owner called "shared"."""
    url = f"sqlite:///{tmp_path}/old.db"
    if engine_of_old == "postgresql":
        server = request.getfixturevalue("postgresql_server")
        name = f"before_scopes_{tmp_path.name}".lower()
        server.psql(f'CREATE DATABASE "{name}";')
        url = server.get_uri(database=name)
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "HEAD", "0003")
        patch.setattr("langmem_plugin.database.engine.refuse_other_tables", lambda _: None)
        Database(url).close()
    return url


@pytest.mark.spec("A-4", "M-16", "P-6")
@pytest.mark.parametrize("engine_of_old", ["sqlite", "postgresql"])
def test_what_was_shared_under_a_persons_name_moves_to_a_key_that_no_person_can_have(before_scopes, offline_model):
    with MemoryService("sqlite://", embeddings=offline_model) as other:
        vector, model = other.embedder.texts(["The shop closes at noon on Fridays"])[0], other.embedder.model
    engine = create_engine(make_url(before_scopes).set(drivername=_DRIVER[before_scopes.partition(":")[0]]))
    with engine.begin() as connection:
        connection.execute(
            text("INSERT INTO langmem_memory_owner VALUES ('shared', 3, 0, :salt)"), {"salt": b"0123456789abcdef"}
        )
        for number, (memory_id, told, source, tags) in enumerate(
            [
                ("m1", "The shop closes at noon on Fridays", "manual", "\nfor clients\n"),
                ("m2", "The shop opens at noon on Fridays", "api_import", ""),
                ("m3", "The shop owes me 5000", "command", ""),
            ],
            1,
        ):
            row = {
                "id": memory_id,
                "n": number,
                "text": told,
                "source": source,
                "tags": tags,
                "digest": memory_id.encode(),
            }
            connection.execute(text(_OLD_MEMORY), row)
            connection.execute(
                text("INSERT INTO langmem_memory_vector VALUES ('shared', :model, :id, :vector)"),
                {"model": model, "id": memory_id, "vector": to_bytes(vector)},
            )
        connection.execute(
            text("INSERT INTO langmem_memory_access VALUES ('shared', 'a1', 'm1', 'cited', NULL, 0.9, 1)")
        )
    engine.dispose()

    with MemoryService(before_scopes, embeddings=offline_model) as service:
        seen = {
            role: {each.memory.id for each in search_for(service, "+972501234567", role, "when is the shop closed?")}
            for role in ("client", "godfather")
        }
        own = [each.id for each in service.list_memories("shared")]
        moved = service.update(SHARED, "m1", category="hours")

    assert seen == {"client": {"m1"}, "godfather": {"m1", "m2"}}
    assert own == ["m3"]
    assert moved.owner == SHARED
    with Database(before_scopes) as database, database.read() as connection:
        accesses = connection.execute(
            text("SELECT owner, memory_id FROM langmem_memory_access WHERE kind = 'cited'")
        ).all()
        vectors = connection.execute(
            text("SELECT owner, memory_id FROM langmem_memory_vector ORDER BY memory_id")
        ).all()
    assert accesses == [(SHARED, "m1")]
    assert vectors == [(SHARED, "m1"), (SHARED, "m2"), ("shared", "m3")]


_DRIVER = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
_OLD_MEMORY = """
    INSERT INTO langmem_memory (owner, memory_id, change, position, revision, status, text, text_digest, fact_type, confidence,
        source_type, tags, metadata, private, access_count, created_at, updated_at)
    VALUES ('shared', :id, :n, :n, 1, 'active', :text, :digest, 'fact', 1, :source, :tags, '{}', false, 0, :n, :n)
"""


@pytest.mark.spec("A-4", "M-1")
@pytest.mark.parametrize("engine_of_old", ["sqlite", "postgresql"])
def test_confidence_and_types_are_the_databases_to_keep_and_a_row_beyond_them_stops_no_migration(before_scopes):
    engine = create_engine(make_url(before_scopes).set(drivername=_DRIVER[before_scopes.partition(":")[0]]))
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO langmem_memory_owner VALUES ('shared', 3, 0, :salt)"), {"salt": b"0" * 16})
        for number, (memory_id, source) in enumerate((("m1", "manual"), ("m2", "somewhere")), 1):
            row = {
                "id": memory_id,
                "n": number,
                "text": "t",
                "source": source,
                "tags": "",
                "digest": memory_id.encode(),
            }
            connection.execute(text(_OLD_MEMORY), row)
        connection.execute(text("UPDATE langmem_memory SET confidence = 7, fact_type = 'fect' WHERE memory_id = 'm2'"))
    engine.dispose()

    with Database(before_scopes) as database:
        kept = "SELECT confidence, fact_type, source_type FROM langmem_memory ORDER BY memory_id"
        with database.read() as connection:
            rows = connection.execute(text(kept)).all()
        assert rows == [(1, "fact", "manual"), (1, "fact", "api_import")]
        for wrong in ("confidence = 1.01", "confidence = -1", "fact_type = 'fect'", "source_type = 'x'"):
            with pytest.raises(Exception, match=r"(?i)check"), database.engine.begin() as connection:
                connection.execute(text(f"UPDATE langmem_memory SET {wrong} WHERE memory_id = 'm1'"))
        with database.write() as connection:
            connection.execute(text("UPDATE langmem_memory SET asked_at = 5, confidence = 0 WHERE memory_id = 'm1'"))


@pytest.mark.spec("A-4")
def test_many_that_open_an_empty_database_at_once_migrate_it_once(tmp_path):
    url = f"sqlite:///{tmp_path}/new.db"

    def opened(_):
        with Database(url) as database, database.read() as connection:
            return connection.execute(text("SELECT version_num FROM langmem_version")).scalars().all()

    with ThreadPoolExecutor(6) as pool:
        assert {tuple(found) for found in pool.map(opened, range(6))} == {(HEAD,)}


@pytest.mark.spec("A-4")
def test_a_database_of_a_newer_version_is_refused_in_one_line(database_url):
    with Database(database_url) as database, database.write() as connection:
        connection.execute(text("UPDATE langmem_version SET version_num = '9999'"))

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
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.spec("A-4", "W-6")
@pytest.mark.parametrize("engine_of_old", ["sqlite", "postgresql"])
def test_a_fact_that_was_stored_with_a_full_stop_is_found_again_without_one(
    request, engine_of_old, tmp_path, monkeypatch, offline_model
):
    url = f"sqlite:///{tmp_path}/old.db"
    if engine_of_old == "postgresql":
        server = request.getfixturevalue("postgresql_server")
        server.psql("CREATE DATABASE before_digests;")
        url = server.get_uri(database="before_digests")
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "HEAD", "0011")
        patch.setattr("langmem_plugin.database.engine.refuse_other_tables", lambda _: None)
        Database(url).close()
    engine = create_engine(make_url(url).set(drivername=_DRIVER[url.partition(":")[0]]))
    with engine.begin() as connection:
        salt = b"0123456789abcdef"
        connection.execute(text("INSERT INTO langmem_memory_owner VALUES ('anna', 1, 0, :salt)"), {"salt": salt})
        said = "I park on level 3."
        digest = hashlib.blake2b(f"\n{said.casefold()}".encode(), key=salt, digest_size=16).digest()
        row = {"id": "m1", "n": 1, "text": said, "source": "manual", "tags": "", "digest": digest}
        connection.execute(text(_OLD_MEMORY.replace("'shared'", "'anna'")), row)
    engine.dispose()

    with MemoryService(url, embeddings=offline_model) as service:
        again = service.remember("anna", "I park on level 3")

    assert (again.outcome, again.id) == ("duplicate", "m1")
