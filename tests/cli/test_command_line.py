"""The langmem command on a real database."""

import json
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from langmem_plugin import ConversationSaver, SessionManager
from langmem_plugin.cli import COMMANDS, app, loaded

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"


@pytest.fixture
def run(database_url):
    def invoke(*arguments, exit_code=0, **options):
        result = CliRunner().invoke(app, [*arguments, "--database", database_url], **options)
        assert result.exit_code == exit_code, result.output
        return result.output

    return invoke


@pytest.fixture
def session_id(database_url):
    with ConversationSaver(database_url) as saver:
        manager = SessionManager(saver)
        manager.add_message(ERIN, "user", "find me a chicken dinner")
        manager.add_message(ERIN, "assistant", "1. Lemon chicken\n2. Chicken soup")
        return manager.get_session(ERIN).session_id


@pytest.mark.spec("U-5", "C-4")
def test_sessions_are_listed_and_shown(run, session_id):
    assert session_id in run("sessions", "list")
    assert "find me a chicken dinner" in run("sessions", "show", session_id)
    said = json.loads(run("sessions", "show", session_id, "--json"))["messages"]
    assert [(each["order_num"], each["role"]) for each in said] == [(1, "user"), (2, "assistant")]


@pytest.mark.spec("U-5", "C-4")
def test_a_session_is_purged_only_after_a_yes(run, session_id):
    run("sessions", "purge", session_id, input="n\n", exit_code=1)
    assert session_id in run("sessions", "list")

    run("sessions", "purge", session_id, "--yes")

    assert session_id not in run("sessions", "list")
    run("sessions", "show", session_id, exit_code=1)


@pytest.mark.spec("U-5", "R-4", "R-6")
def test_an_utterance_is_explained_against_a_session(run, session_id):
    assert "Chicken soup" in run("resolve", "save number 2", "--phone", ERIN)
    assert "Chicken soup" in run("resolve", "save number 2", "--session", session_id)
    assert "refers to nothing" in run("resolve", "save number 9", "--phone", ERIN)
    assert "refers to nothing" in run("resolve", "good morning", "--phone", ERIN)


@pytest.mark.spec("U-5", "P-9")
def test_the_doctor_says_what_there_is_and_nobodys_number(run, session_id):
    run("memories", "add", ERIN, "the dose is 5 mg")
    report = run("doctor")

    assert "1 sessions, 2 messages, 1 memories of 1 people" in report
    assert len(report.splitlines()) <= 6
    assert ERIN not in report
    assert "dose" not in report


@pytest.mark.spec("C-15", "U-5")
def test_a_damaged_session_is_reported_and_rebuilt_from_its_messages(run, session_id, database_url):
    assert "every session can be read" in run("doctor")
    with ConversationSaver(database_url) as saver, saver.database.write() as connection:
        connection.exec_driver_sql("UPDATE langmem_checkpoint SET payload = substr(payload, 1, 20)")

    report = run("doctor", exit_code=1)
    assert session_id in report
    assert "2 messages kept, 0 lost" in run("doctor", "--rebuild")

    assert "every session can be read" in run("doctor")
    assert "1. Lemon chicken" in run("sessions", "show", session_id)
    assert "Chicken soup" in run("resolve", "save number 2", "--phone", ERIN)


@pytest.mark.spec("M-18", "U-5")
def test_a_damaged_memory_is_reported_without_its_text(run, database_url):
    run("memories", "add", ERIN, "the dose is 5 mg")
    with ConversationSaver(database_url) as saver, saver.database.write() as connection:
        connection.exec_driver_sql("UPDATE langmem_memory SET text = 'the dose is 9 mg'")

    report = run("doctor", exit_code=1)

    assert "memory of …567: not what was written" in report
    assert "dose" not in report
    assert "dose" not in run("memories", "list", ERIN)


@pytest.mark.spec("C-15")
def test_a_lost_message_costs_that_message_and_nothing_else(run, session_id, database_url):
    with ConversationSaver(database_url) as saver, saver.database.write() as connection:
        connection.exec_driver_sql("UPDATE langmem_message SET payload = substr(payload, 1, 20) WHERE row = 1")

    assert "1 messages kept, 1 lost" in run("doctor", "--rebuild")
    assert "2. Chicken soup" in run("sessions", "show", session_id)


@pytest.mark.spec("C-15")
def test_a_person_whose_session_is_damaged_is_answered_in_a_fresh_one(session_id, database_url):
    with ConversationSaver(database_url) as saver:
        with saver.database.write() as connection:
            connection.exec_driver_sql("UPDATE langmem_checkpoint SET payload = substr(payload, 1, 20)")
        manager = SessionManager(saver)

        manager.add_message(ERIN, "user", "hello?")

        assert manager.get_conversation_history(ERIN) == [{"role": "user", "content": "hello?"}]
        with saver.database.read() as connection:
            assert len(connection.exec_driver_sql("SELECT session_id FROM langmem_session").all()) == 2


def test_a_database_that_cannot_be_used_is_one_line_and_exit_code_1(tmp_path):
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(app, ["doctor", "--database", f"sqlite:///{tmp_path}/file/x.db"])

    assert result.exit_code == 1
    assert "there is no database" in result.stderr


@pytest.mark.spec("U-5")
def test_the_list_of_commands_imports_none_of_them_and_says_of_each_what_it_says_itself():
    script = (
        "import sys; from typer.testing import CliRunner; from langmem_plugin.cli import app\n"
        "out = CliRunner().invoke(app, ['--help']).output\n"
        "assert 'restore' in out and 'people' in out, out\n"
        "print([each for each in ('sqlalchemy', 'langgraph', 'numpy') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    listed = get_command(app)
    for name in COMMANDS:
        itself = loaded(name)
        assert itself.name == name
        assert itself.help.split() == listed.get_command(None, name).help.split(), name
