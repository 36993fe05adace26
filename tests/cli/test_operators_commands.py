"""Commands that end and delete: by the service's settings, or not at all; and what is said of a wrong file or name."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, update
from typer.testing import CliRunner

from langmem_plugin import ConversationSaver, PhoneMemory, SessionManager, Settings
from langmem_plugin.cli import app
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import session
from langmem_plugin.database.people_tables import link_code
from tests.cases import for_each

ERIN = "+972501234567"
A_DAY = Settings(session_timeout=timedelta(hours=24), archive_days=None, sweep_every=None, search_past_sessions=False)


@pytest.fixture
def run(database_url):
    """A command on the database; its output, each line of it, with that for errors."""

    def invoke(*arguments, exit_code=0):
        result = CliRunner().invoke(app, [*arguments, "--database", database_url])
        assert result.exit_code == exit_code, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result.output.splitlines()

    return invoke


@pytest.fixture
def config(tmp_path):
    def write(**ours):
        file = tmp_path / "config.json"
        said = {"feature_flags": {"enable_memory_system": True}, "godfather_phone": "+972501112222", "langmem": ours}
        file.write_text(json.dumps(said))
        return str(file)

    return write


def _silent_for(database_url, *, ended=False, settings=None, **amount):
    """A session that was active last so long ago, in a service with these settings."""
    with ConversationSaver.from_settings(settings or Settings(), database_url) as saver:
        manager = SessionManager(saver, settings)
        manager.add_message(ERIN, "user", "hello")
        then = datetime.now(UTC) - timedelta(**amount)
        with saver.database.write() as connection:
            values = {"last_active": then, "ended_at": then if ended else None}
            connection.execute(update(session).values(**values))


def _sessions(database_url):
    """Whether each is current."""
    with ConversationSaver(database_url) as saver:
        return [each.ended_at is None for each in SessionManager(saver).sessions()]


@pytest.mark.spec("U-5", "C-22")
@for_each("content", [None, "{ broken", "[]", b"\xff\xfe"])
def test_a_file_of_settings_that_cannot_be_read_ends_the_command_and_changes_nothing(
    content, run, database_url, tmp_path
):
    _silent_for(database_url, hours=2)
    file = tmp_path / "service.json"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    [line] = run("expire", "--config", str(file), exit_code=1)

    assert line.startswith("langmem: the file ")
    assert "service.json" in line
    assert _sessions(database_url) == [True]


@pytest.mark.spec("U-5", "C-22", "C-3")
def test_a_command_without_settings_ends_nothing_that_the_service_counts_as_alive(run, database_url):
    _silent_for(database_url, settings=A_DAY, hours=23)
    run("expire")
    assert _sessions(database_url) == [True]

    _silent_for(database_url, settings=A_DAY, hours=24)
    run("expire")
    assert _sessions(database_url) == [False]


@pytest.mark.spec("U-5", "C-22", "C-4")
def test_a_command_without_settings_deletes_nothing_that_the_service_keeps(run, database_url):
    _silent_for(database_url, settings=A_DAY, ended=True, days=400)
    run("expire")
    assert _sessions(database_url) == [False]


@pytest.mark.spec("U-5", "C-22", "C-4")
def test_told_by_the_environment_or_a_file_it_ends_and_deletes(run, database_url, monkeypatch, config):
    _silent_for(database_url, hours=2)
    assert "0  sessions archived" in run("expire", "--config", config(session_timeout="3h"))[0]
    monkeypatch.setenv("LANGMEM_SESSION_TIMEOUT", "1h")
    assert "1  sessions archived" in run("expire")[0]
    _silent_for(database_url, ended=True, days=31)
    assert "2  sessions deleted" in run("expire", "--config", config())[1]


@pytest.mark.spec("U-5", "C-22")
def test_a_sweep_by_hand_says_what_it_did_of_each_kind(run, database_url):
    with PhoneMemory(database_url, settings=A_DAY) as memory, memory.database.write() as connection:
        expired = datetime.now(UTC) - timedelta(days=1)
        connection.execute(insert(link_code), {"digest": b"d", "salt": b"s", "person": ERIN, "expires_at": expired})
    _silent_for(database_url, hours=2)

    lines = [line.split(maxsplit=1) for line in run("expire")]

    assert ["1", "sessions archived"] in lines
    assert ["1", "link codes deleted"] in lines
    assert ["0", "memories deleted"] in lines


@pytest.mark.spec("U-5", "P-8")
def test_where_the_memory_is_switched_off_nothing_is_made(tmp_path, config):
    file = config(enable_memory_system=False)
    arguments = ["expire", "--config", file, "--database", f"sqlite:///{tmp_path}/new.db"]
    result = CliRunner().invoke(app, arguments)

    assert result.output == "langmem: the memory is switched off: there is nothing that this could work on\n"
    assert not (tmp_path / "new.db").exists()


@pytest.mark.spec("U-5", "U-8")
def test_every_command_takes_the_services_file(tmp_path, config):
    file = config(database=f"sqlite:///{tmp_path}/service.db", vector_index=f"chroma:{tmp_path}/index")
    Database(f"sqlite:///{tmp_path}/service.db").close()
    said = CliRunner().invoke(app, ["chat", "--phone", ERIN, "--config", file], input="/remember I like tea\n")
    assert "I like tea" in said.output
    for command in (
        ["sessions", "list"],
        ["doctor"],
        ["resolve", "number 2", "--phone", ERIN],
        ["reindex"],
        ["expire"],
    ):
        result = CliRunner().invoke(app, [*command, "--config", file])
        assert result.exit_code == 0, result.output
    assert [*tmp_path.glob("*.db")] == [tmp_path / "service.db"]


@pytest.mark.spec("U-5")
@for_each(
    ("command", "told"),
    [
        (["sessions", "show", "nobody's"], "no session"),
        (["sessions", "purge", "nobody's", "--yes"], "no session"),
        (["sessions", "restore", "\ud800"], "half a character"),
        (["resolve", "number 2"], "--phone or --session"),
        (["resolve", "number 2", "--session", "nobody's"], "no session"),
        (["sessions", "list", "--config", "nowhere.json"], "nowhere.json"),
    ],
)
def test_every_error_is_one_line_and_exit_code_1(command, told, tmp_path, monkeypatch, migrated_file):
    shutil.copy(migrated_file, tmp_path / "langmem.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LANGMEM_DATABASE", f"sqlite:///{tmp_path}/langmem.db")
    _one_line(CliRunner().invoke(app, command), told)


@pytest.mark.spec("U-5", "U-8")
@for_each("command", [["expire"], ["doctor"], ["reindex"]])
def test_a_wrong_variable_is_one_line_for_every_command(command, monkeypatch, tmp_path):
    monkeypatch.setenv("LANGMEM_SESSION_TIMEOUT", "soon")
    monkeypatch.chdir(tmp_path)
    _one_line(CliRunner().invoke(app, command), 'LANGMEM_SESSION_TIMEOUT holds "soon"')
    assert [*tmp_path.iterdir()] == []


@pytest.mark.spec("U-5")
@for_each("command", [["expire"], ["doctor"], ["sessions", "list"]])
def test_a_database_that_is_none_is_one_line_and_stays_as_it_is(command, tmp_path):
    file = tmp_path / "letter.txt"
    file.write_text("Dear Mom, this is a letter. " * 100)
    before = file.read_bytes()
    _one_line(CliRunner().invoke(app, [*command, "--database", f"sqlite:///{file}"]), "not a database")
    assert file.read_bytes() == before


def _one_line(result, told):
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("langmem: ")
    assert told in line
