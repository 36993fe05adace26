"""A guest in somebody else's database: tables with our own prefix, or in a schema of our own, beside any application's."""

import multiprocessing
import re
import shutil
import sqlite3

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Column, Integer, MetaData, String, Table, inspect, text

from langmem_plugin import ConversationSaver, MemoryService, PhoneMemory, SessionManager, Settings
from langmem_plugin.database import Database, people_tables
from langmem_plugin.database.migrations import HEAD
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import ConfigurationError
from tests.cases import for_each
from tests.database.conftest import MOM, SECOND_STATE

_NAMES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'",
    "postgresql": "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
}


def names(engine):
    with engine.connect() as connection:
        return set(connection.execute(text(_NAMES[engine.dialect.name])).scalars())


_ENV = """
from alembic import context
connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=context.config.attributes["metadata"], include_name=
    lambda name, kind, _: not (kind == "table" and name.startswith("langmem_")))
with context.begin_transaction():
    context.run_migrations()
"""
_REVISION = """
import sqlalchemy as sa
from alembic import op
revision, down_revision = "{here}", {before!r}
def upgrade():
    op.create_table("{table}", sa.Column("id", sa.Integer, primary_key=True), sa.Column("name", sa.String))
"""


def alembic_of(application, folder, tables):
    """The application's Alembic, with a revision for each table: 0001, 0002, ..."""
    (folder / "versions").mkdir(parents=True, exist_ok=True)
    (folder / "env.py").write_text(_ENV)
    own, before = MetaData(), None
    for number, table in enumerate(tables, 1):
        here = f"{number:04}"
        (folder / "versions" / f"{here}_.py").write_text(_REVISION.format(here=here, before=before, table=table))
        before = here
        Table(table, own, Column("id", Integer, primary_key=True), Column("name", String))
    config = Config()
    config.set_main_option("script_location", str(folder))
    config.attributes["metadata"] = own

    def run(verb, *arguments):
        with application.begin() as connection:
            config.attributes["connection"] = connection
            return getattr(command, verb)(config, *arguments)

    return run


@pytest.mark.spec("A-4")
def test_an_application_that_uses_alembic_itself_shares_the_database(empty_url, application, tmp_path):
    alembic = alembic_of(application, tmp_path / "app", ["session", "message", "memory", "turn"])
    alembic("upgrade", "0002")
    with application.begin() as connection:
        connection.execute(text("INSERT INTO message VALUES (1, 'theirs')"))

    with ConversationSaver(empty_url) as saver:
        SessionManager(saver).add_message(MOM, "user", "ours")
    alembic("upgrade", "head")
    alembic("check")
    with ConversationSaver(empty_url) as saver:
        manager = SessionManager(saver)
        [session] = manager.sessions(MOM)
        assert [each.content for each in manager.messages(session.session_id)] == ["ours"]

    with application.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all() == ["0004"]
        assert connection.execute(text("SELECT version_num FROM langmem_version")).scalars().all() == [HEAD]
        assert connection.execute(text("SELECT name FROM message")).scalars().all() == ["theirs"]


@pytest.mark.spec("A-4")
def test_every_name_that_is_made_has_the_prefix(empty_url, application):
    Database(empty_url).close()

    made = names(application)
    assert people_tables.person.metadata is metadata
    assert {table.name for table in metadata.sorted_tables} < made
    assert [name for name in made if not name.startswith("langmem_")] == []


@pytest.mark.spec("A-4")
@for_each(
    "theirs",
    [
        "CREATE TABLE langmem_memory (id int)",
        "CREATE VIEW langmem_session AS SELECT 1 AS one",
        "CREATE TABLE langmem_version (release int)",
        "CREATE TABLE langmem_version (version_num int)",
        "CREATE TABLE langmem_memory_key (id int)",
    ],
    ids=["table", "view", "version table", "empty version table", "name of an index"],
)
def test_a_name_of_ours_that_somebody_else_has_is_a_clear_error_and_nothing_is_written(empty_url, application, theirs):
    with application.begin() as connection:
        connection.execute(text(theirs))
    before = names(application)

    with pytest.raises(ConfigurationError, match=r"langmem_.* langmem did not make it"):
        Database(empty_url)

    assert names(application) == before


def _open(url, outcome):
    try:
        with Database(url) as database, database.read() as connection:
            outcome.put(connection.execute(text("SELECT version_num FROM langmem_version")).scalars().all())
    except Exception as error:  # noqa: BLE001 - whatever it is, the test shall see it
        outcome.put(repr(error))


@pytest.mark.slow
@pytest.mark.spec("A-4")
@for_each("state", ["empty", "second_state"])
def test_processes_that_open_it_at_once_migrate_it_once(request, empty_url, state):
    if state == "second_state":
        request.getfixturevalue(state)
    context = multiprocessing.get_context("fork")
    outcome = context.SimpleQueue()
    processes = [context.Process(target=_open, args=(empty_url, outcome)) for _ in range(4)]
    for each in processes:
        each.start()
    found = [outcome.get() for _ in processes]
    for each in processes:
        each.join()

    assert found == [[HEAD]] * 4


@pytest.fixture
def server_url(request, postgresql_server):
    name = "schemas_" + re.sub(r"\W", "_", request.node.name)[-50:].lower()
    postgresql_server.psql(f"CREATE DATABASE {name};")
    return postgresql_server.get_uri(database=name)


@pytest.mark.spec("A-4", "C-1")
def test_each_schema_of_a_postgresql_is_a_database_of_its_own(server_url):
    said = {None: "in public", "assistant": "in assistant", "another one": "in another"}
    for schema, words in said.items():
        with Database(server_url, schema=schema) as database, ConversationSaver(database) as saver:
            SessionManager(saver).add_message(MOM, "user", words)

    for schema, words in said.items():
        with Database(server_url, schema=schema) as database, ConversationSaver(database) as saver:
            manager = SessionManager(saver)
            [session] = manager.sessions(MOM)
            assert [each.content for each in manager.messages(session.session_id)] == [words]
            with database.read() as connection:
                assert inspect(connection).has_table("langmem_session", schema=schema or "public")


@pytest.mark.spec("A-4")
def test_a_schema_of_the_url_holds_everything(server_url, offline_model):
    settings = Settings(database=f"{server_url}{'&' if '?' in server_url else '?'}schema=assistant")
    with PhoneMemory(settings=settings, embeddings=offline_model) as memory:
        memory.service.remember(MOM, "TestCorp owes me ₪5000")
        memory.saver.current_session(MOM)
        with memory.database.read() as connection:
            assert inspect(connection).get_table_names("public") == []
            assert len(inspect(connection).get_table_names("assistant")) == len(metadata.sorted_tables) + 1
    with (
        Database(server_url, schema="assistant") as database,
        MemoryService(database, embeddings=offline_model) as kept,
    ):
        assert [each.text for each in kept.list_memories(MOM)] == ["TestCorp owes me ₪5000"]


@pytest.mark.spec("A-4")
def test_sqlite_has_no_schemas(tmp_path):
    with pytest.raises(ConfigurationError, match="SQLite has no schemas"):
        Database(f"sqlite:///{tmp_path}/x.db", schema="assistant")

    assert not (tmp_path / "x.db").exists()


@pytest.mark.spec("P-5")
@for_each(
    "url",
    [
        "postgresql:/me:hunter2@host/db",
        "postgresql://me:hunter2@host:port/db",
        "me:hunter2@host",
        "mysql://me:hunter2@host/db",
        "postgresql://me:hunt@er2@host/db",
    ],
)
def test_the_password_of_a_url_that_cannot_be_used_is_never_shown(url):
    with pytest.raises(ConfigurationError) as raised:
        Database(url)

    shown = f"{raised.value!r} {raised.value.__cause__!r}"
    assert "hunter2" not in shown
    assert "er2" not in shown


@pytest.mark.spec("A-4")
def test_what_an_application_added_to_the_tables_of_the_second_state_is_still_there(second_state, application):
    with application.begin() as connection:
        connection.execute(text('CREATE INDEX "IX-session" ON langmem_session (created_at)'))
        connection.execute(text("CREATE VIEW sessions_of_mine AS SELECT session_id FROM langmem_session"))

    Database(second_state).close()

    with application.connect() as connection:
        connection.execute(text("SELECT * FROM sessions_of_mine"))
        assert any("IX-session" in index["name"] for index in inspect(connection).get_indexes("langmem_session"))


@pytest.mark.spec("A-4")
def test_a_broken_view_in_a_file_of_the_second_state_is_named_and_nothing_is_written(tmp_path):
    shutil.copy(SECOND_STATE, tmp_path / "x.db")
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE VIEW theirs AS SELECT * FROM nowhere")
        before = connection.execute("SELECT name FROM sqlite_master").fetchall()

    with pytest.raises(ConfigurationError, match="error in view theirs"):
        Database(f"sqlite:///{tmp_path}/x.db")

    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == before
    connection.close()
