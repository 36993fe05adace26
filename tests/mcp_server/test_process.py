"""`langmem mcp` as the process that a desktop program starts, driven by the SDK's own client."""

import os
import signal
import sys

import httpx2
import pytest
from langchain_core.messages import HumanMessage
from mcp.client.stdio import StdioServerParameters
from typer.testing import CliRunner

from langmem_plugin import ConversationSaver, SessionManager
from langmem_plugin.cli import app
from langmem_plugin.database import Database
from langmem_plugin.people.access_tokens import AccessTokens
from tests.cases import for_each
from tests.mcp_server.conftest import ANNA, BEN, calling, calling_by_http
from tests.warm_process import WarmProcess

COMMAND = ["-c", "from langmem_plugin.cli import app; app()", "mcp"]


def _by_stdio(url, phone):
    arguments = [*COMMAND, "--phone", phone, "--database", url]
    return calling(StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ)))


@pytest.mark.slow
@pytest.mark.spec("U-1", "P-6", "M-14")
def test_two_processes_serve_two_people_and_outlive_a_database_that_was_away(tmp_path, migrated_file):
    file = tmp_path / "langmem.db"
    file.write_bytes(migrated_file.read_bytes())
    with ConversationSaver(f"sqlite:///{file}") as saver:
        SessionManager(saver).record(BEN, HumanMessage("hello from Ben"))

    with (
        _by_stdio(f"sqlite:///{file}", "whatsapp:+972 50-123-4567") as anna,
        _by_stdio(f"sqlite:///{file}", BEN) as ben,
    ):
        fact = anna("remember_fact", text="I live in Haifa")["fact"]
        order = anna("add_instruction", text="Always answer in Spanish")["instruction"]
        assert anna("recall_facts", query="where do I live?")["found"][0]["fact"] == fact
        assert anna("update_fact", fact_id=fact["id"], text="I live in Haifa, by the sea")["outcome"] == "changed"
        assert anna("explain_fact", fact_id=fact["id"])["fact"]["text"] == "I live in Haifa, by the sea"
        assert anna("switch_instruction", instruction_id=order["id"], on=False)["is_on"] is False
        assert anna("search_conversations", query="hello from Ben") == {"messages": []}

        assert "no such fact" in ben.refused("forget_fact", fact_id=fact["id"])
        assert "no such fact" in ben.refused("decline_fact", fact_id=fact["id"])
        assert ben("list_facts")["total"] == 0
        assert "follows from the connection" in ben.refused("list_facts", phone=ANNA)

        file.rename(tmp_path / "away")
        assert "cannot be reached right now" in anna.refused("remember_fact", text="I like tea")
        (tmp_path / "away").rename(file)
        assert anna("remember_fact", text="I like tea")["outcome"] == "stored"

        assert anna("forget_fact", fact_id=fact["id"])["state"] == "forgotten"
        assert anna("restore_fact", fact_id=fact["id"])["state"] == "active"
        assert anna("remove_instruction", instruction_id=order["id"])["id"] == order["id"]
        assert anna("list_instructions")["instructions"] == []


@pytest.mark.slow
@pytest.mark.spec("U-1", "P-6")
def test_a_process_serves_http_to_those_with_a_token(tmp_path, migrated_file):
    file = tmp_path / "langmem.db"
    file.write_bytes(migrated_file.read_bytes())
    with Database(f"sqlite:///{file}") as database:
        token, _ = AccessTokens(database).new(ANNA)
    process = WarmProcess(COMMAND[1], "mcp", "--http", "0", "--database", f"sqlite:///{file}")
    with process.stdin, process.stdout:
        try:
            where = process.stdout.readline().removeprefix("listening on ").strip()
            assert httpx2.post(where, json={}, timeout=90).status_code == 401
            with calling_by_http(where, token) as anna:
                assert anna("remember_fact", text="I live in Haifa")["outcome"] == "stored"
        finally:
            os.kill(process.pid, signal.SIGTERM)
        assert process.wait(90) in (0, -15)


@pytest.mark.spec("U-5", "C-13")
@for_each(
    ("arguments", "told"),
    [
        ([], "--phone PHONE"),
        (["--phone", ANNA, "--http", "8080"], "--phone PHONE"),
        (["--phone", " "], "names nobody"),
        (["--http", "0", "--host", "0.0.0.0"], "langmem token new"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, told, tmp_path, migrated_file):
    file = tmp_path / "langmem.db"
    file.write_bytes(migrated_file.read_bytes())
    result = CliRunner().invoke(app, ["mcp", *arguments, "--database", f"sqlite:///{file}"])

    assert result.exit_code == 1
    [line] = result.stderr.splitlines()
    assert line.startswith("langmem: ")
    assert told in line


@pytest.mark.spec("U-8")
@for_each("way", [("--phone", ANNA), ("--http", "0")])
@for_each("place", ["option", "environment"])
def test_a_mistyped_database_is_an_error_and_none_is_made(tmp_path, monkeypatch, way, place):
    url = f"sqlite:///{tmp_path}/mistyped.db"
    monkeypatch.setenv("LANGMEM_DATABASE", url if place == "environment" else "sqlite://")
    done = CliRunner().invoke(app, ["mcp", *way, *(["--database", url] if place == "option" else [])])
    assert done.exit_code != 0
    assert "no database of langmem" in done.output
    assert list(tmp_path.iterdir()) == []
