"""A database is brought to the tables this code needs, also one of the second state."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from langchain_core.vectorstores import InMemoryVectorStore
from sqlalchemy import inspect, text

from langmem_plugin import ConversationSaver, PhoneMemory, Settings
from langmem_plugin.database import Database, conversation_tables, memory_tables, people_tables
from langmem_plugin.database.migrations import HEAD
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.memory import MemoryService
from tests.cases import for_each
from tests.database.conftest import MOM, SECOND_STATE
from tests.memory.index.conftest import InProcess

GONE = "+972509999999"
QUIET = Settings(sweep_every=None, search_past_sessions=False, extraction="off")
SOON_AFTER = datetime(2026, 3, 5, tzinfo=UTC)


@pytest.mark.spec("A-4")
def test_the_migrations_make_exactly_the_tables_the_code_uses(database_url):
    tables = (conversation_tables.session, memory_tables.memory, people_tables.person)
    assert all(each.metadata is metadata for each in tables)
    with Database(database_url) as database, database.engine.connect() as connection:
        differences = _differences(connection)
        [on_delete] = [
            each["on_delete"]
            for each in _foreign_keys(connection, "langmem_history_message")
            if each["from"] == "of_session"
        ]

    assert differences == []
    assert on_delete == "CASCADE"


def _differences(connection):
    compared = MigrationContext.configure(
        connection, opts={"include_object": _is_readable_back, "version_table": "langmem_version"}
    )
    return compare_metadata(compared, metadata)


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
def test_the_second_state_gets_the_tables_of_a_new_database(second_state, tmp_path):
    with Database(second_state) as database, database.engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM langmem_version")).scalars().all() == [HEAD]
        assert _differences(connection) == []
        if database.is_sqlite:
            with Database(f"sqlite:///{tmp_path}/new.db") as other, other.engine.connect() as fresh:
                assert _columns(connection) == _columns(fresh)
                assert _without_row_ids(connection) == _without_row_ids(fresh)


@pytest.mark.spec("A-4", "P-4")
def test_the_vectors_that_an_index_had_of_the_second_state_go_with_their_owner(
    second_state, application, offline_model
):
    with application.begin() as connection:
        mom = {"owner": MOM}
        salt = connection.execute(text("SELECT salt FROM langmem_memory_owner WHERE owner = :owner"), mom).scalar_one()
        connection.execute(text("INSERT INTO langmem_memory_index VALUES (:owner, 'a model', 5, 2)"), mom)
    hashed = blake2b(f"a model\n{MOM}".encode(), key=salt, digest_size=16).hexdigest()
    name = f"memories{hashed}g2"
    stores = InProcess("", Path())
    stores.opened[name] = InMemoryVectorStore(offline_model)
    with MemoryService(second_state, embeddings=offline_model, open_collection=stores) as service:
        service.erase(MOM)

        assert name not in stores.opened


def _columns(connection):
    found = inspect(connection)
    return {
        table: sorted((each["name"], str(each["type"]), each["nullable"]) for each in found.get_columns(table))
        for table in found.get_table_names()
    }


def _without_row_ids(connection):
    return set(connection.execute(text("SELECT name FROM pragma_table_list WHERE wr")).scalars())


@pytest.mark.spec("A-4", "P-4")
def test_what_goes_with_a_deleted_row_is_found_by_an_index(database_url):
    with Database(database_url) as database, database.engine.connect() as connection:
        found, lacking = inspect(connection), []
        for table in found.get_table_names():
            keys = [found.get_pk_constraint(table)["constrained_columns"]]
            keys += [each["column_names"] for each in found.get_indexes(table)]
            for each in found.get_foreign_keys(table):
                columns = each["constrained_columns"]
                if columns not in [key[: len(columns)] for key in keys]:
                    lacking.append((table, columns))

    assert lacking == []


@pytest.mark.slow
@pytest.mark.spec("A-4")
@for_each(
    ("revision", "lacks"),
    [
        ("0020", ()),
        ("0025", ("ALTER TABLE langmem_incoming DROP COLUMN sent_as",)),
        ("0028", ("DROP TABLE langmem_acknowledged",)),
        ("0037", ("DROP INDEX langmem_memory_vector_of", "DROP INDEX langmem_history_vector_of")),
    ],
)
def test_what_the_second_state_holds_is_there(tmp_path, offline_model, revision, lacks):
    shutil.copy(SECOND_STATE, tmp_path / "old.db")
    url = f"sqlite:///{tmp_path}/old.db"
    if lacks:  # all but the last of what came after 0020
        Database(url).close()
        with closing(sqlite3.connect(tmp_path / "old.db")) as connection, connection:
            for each in lacks:
                connection.execute(each)
            connection.execute("UPDATE langmem_version SET version_num = ?", (revision,))
    with PhoneMemory(url, embeddings=offline_model, settings=QUIET, now=lambda: SOON_AFTER) as memory:
        [newest, first] = memory.sessions.sessions(MOM)
        assert [each.content for each in memory.sessions.messages(first.session_id)] == [
            "find me a chicken dinner",
            "1. Lemon chicken\n2. Pasta",
        ]
        assert {each.text for each in memory.service.list_memories(MOM)} == {
            "I am allergic to peanuts",
            "My dentist is Dr. Cohen",
        }
        assert [each.text for each in memory.instructions.list_instructions(MOM)] == ["never use emojis"]
        assert memory.people.resolve("telegram:4242") == MOM
        assert memory.consent.of(MOM).extraction.allowed
        for asked in ("chicken dinner", "an evening meal with poultry"):
            assert [each.message.text for each in memory.service.history.search(MOM, asked, limit=1)]
        memory.restore_erased(GONE)
        assert [each.text for each in memory.service.list_memories(GONE)] == ["Gone likes tea"]
        memory.sessions.add_message(MOM, "user", "still here")
        assert memory.audit.newest(1)
    assert newest.session_id != first.session_id


@pytest.mark.spec("A-4", "M-1")
def test_confidence_and_types_are_the_databases_to_keep_and_a_row_beyond_them_stops_no_migration(
    second_state, application
):
    row = "UPDATE langmem_memory SET {} WHERE owner = :owner"
    with application.begin() as connection:
        connection.execute(text(row.format("confidence = 7, fact_type = 'fect'")), {"owner": MOM})

    with Database(second_state) as database:
        with database.read() as connection:
            kept = text("SELECT DISTINCT confidence, fact_type FROM langmem_memory WHERE owner = :owner")
            assert connection.execute(kept, {"owner": MOM}).all() == [(1, "fact")]
        for wrong in ("confidence = 1.01", "confidence = -1", "fact_type = 'fect'", "source_type = 'x'"):
            with pytest.raises(Exception, match=r"(?i)check"), database.engine.begin() as connection:
                connection.execute(text(row.format(wrong)), {"owner": MOM})


@pytest.mark.spec("A-4")
def test_a_state_before_the_second_is_refused_in_one_line(database_url):
    with Database(database_url) as database, database.write() as connection:
        connection.execute(text("UPDATE langmem_version SET version_num = '0011'"))
    with pytest.raises(ConfigurationError, match="never released"):
        Database(database_url)


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
