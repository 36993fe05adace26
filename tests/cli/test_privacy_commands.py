"""`langmem erase`, `restore` and `audit`, as an operator runs them: each a process of its own."""

import json
import re

import pytest
from typer.testing import CliRunner

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.cli import app

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"
QUIET = Settings(sweep_every=None, search_past_sessions=False, extraction="off")


@pytest.fixture
def run(database_url, tmp_path, monkeypatch):
    monkeypatch.setenv("LANGMEM_AUDIT_LOG", str(tmp_path / "audit.jsonl"))

    def invoke(*arguments, exit_code=0, **more):
        result = CliRunner().invoke(app, [*arguments, "--database", database_url], **more)
        assert result.exit_code == exit_code, result.output
        return result.output

    return invoke


@pytest.fixture
def erin(database_url, offline_model):
    with PhoneMemory(database_url, settings=QUIET, embeddings=offline_model) as memory:
        memory.service.remember(ERIN, "Erin is allergic to peanuts")
        memory.sessions.add_message(ERIN, "user", "my sister Griselda visits")


def _texts(database_url, offline_model):
    with PhoneMemory(database_url, settings=QUIET, embeddings=offline_model) as memory:
        return [each.text for each in memory.service.list_memories(ERIN)], len(memory.sessions.sessions(ERIN))


@pytest.mark.slow
@pytest.mark.spec("P-4", "U-5")
def test_a_person_is_erased_and_comes_back(run, erin, database_url, offline_model):
    told = run("erase", ERIN, "--yes")
    assert _texts(database_url, offline_model) == ([], 0)
    erasure_id = re.search(r"erasure (\S+): held", told)[1]
    assert f"langmem restore {erasure_id}" in told
    assert "not covered: what they wrote in groups" in told
    assert json.loads(run("erase", "--receipt", erasure_id, "--json"))["state"] == "held"
    assert "say --yes" in run("restore", erasure_id, exit_code=1)
    assert _texts(database_url, offline_model) == ([], 0)
    run("restore", erasure_id, "--yes")
    assert _texts(database_url, offline_model) == (["Erin is allergic to peanuts"], 1)
    assert "cannot be undone" in run("restore", erasure_id, "--yes", exit_code=1)


@pytest.mark.slow
@pytest.mark.spec("P-4", "U-5")
def test_for_good_at_once_after_a_yes(run, erin, database_url, offline_model):
    assert "say --yes" in run("erase", ERIN, "--now", input="y\n", exit_code=1)
    assert _texts(database_url, offline_model)[1] == 1
    told = run("erase", ERIN, "--now", "--yes")
    assert "nothing of it is left" in told
    assert "nothing of them is held" in run("restore", ERIN, "--yes", exit_code=1)


@pytest.mark.spec("P-4", "U-5")
def test_whom_or_which_receipt_has_to_be_said(run):
    assert "say whom to erase" in run("erase", exit_code=1)
    assert "say whom to erase" in run("erase", ERIN, "--receipt", "x", exit_code=1)
    assert "there is no erasure 'x'" in run("erase", "--receipt", "x", exit_code=1)


@pytest.mark.spec("P-5", "U-5")
def test_what_an_operator_reads_is_noted_with_their_name(run, erin):
    run("sessions", "list", ERIN)
    entries = json.loads(run("audit", "--json"))["entries"]
    assert entries[-1]["action"] == "operator.read"
    assert entries[-1]["actor"].startswith("operator")
    assert entries[-1]["owner"] == entries[0]["owner"]
    table = run("audit")
    assert "memory.stored" in table
    assert "4567" not in table


@pytest.mark.slow
@pytest.mark.spec("P-4", "P-5", "U-5")
def test_the_commands_run_as_processes_of_their_own(erin, command):
    assert command("erase", ERIN, "--now", "--yes", "--json").json["state"] == "done"
    assert "erasure.done" in command("audit").out


@pytest.mark.spec("P-4", "C-13")
@pytest.mark.parametrize("mistyped", ["garbage", "0501234567"])
def test_an_erasure_of_a_mistyped_person_is_refused_and_leaves_no_receipt(run, erin, mistyped):
    told = run("erase", mistyped, "--yes", exit_code=1)
    assert "write +972501234567" in told
    done = [each["action"] for each in json.loads(run("audit", "--json"))["entries"]]
    assert [each for each in done if "eras" in each] == []
