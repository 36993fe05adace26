"""`langmem serve` as the process that it is."""

import contextlib
import re
import signal
import socket
import subprocess
import sys

import httpx2
import pytest
from typer.testing import CliRunner

from langmem_plugin.cli import app
from langmem_plugin.cli.demo_agent import demo_agent
from langmem_plugin.cli.serve_and_mcp import graph_named
from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.people.access_tokens import AccessTokens
from tests.cases import for_each
from tests.web.api.conftest import ANNA, HEADER

COMMAND = [sys.executable, "-c", "from langmem_plugin.cli import app; app()", "serve", "--port", "0"]


@pytest.fixture
def file(tmp_path, migrated_file):
    path = tmp_path / "langmem.db"
    path.write_bytes(migrated_file.read_bytes())
    return path


@pytest.mark.slow
@pytest.mark.spec("U-3", "U-5")
def test_it_serves_with_a_first_token_chats_and_stops_when_it_is_told(file):
    graph = "langmem_plugin.cli.demo_agent:demo_agent"
    arguments = [*COMMAND, "--database", f"sqlite:///{file}", "--graph", graph, "--log-level", "info"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            where = re.match(r"listening on (http://127\.0\.0\.1:(\d+)) ", process.stdout.readline())
            token = process.stdout.readline().rpartition(" ")[2].strip()
            assert "langmem keys new" in process.stdout.readline()  # what lies in the open
            headers = {"authorization": f"Bearer {token}", HEADER: ANNA}
            with httpx2.Client(base_url=f"{where[1]}/api", headers=headers, timeout=60) as client:
                told = client.post("chat", json={"message": "/remember Leo is allergic to peanuts"}).json()
                assert "Remembered" in told["response"]
                assert client.get("memory").json()["data"]["total"] == 1
                assert "server" not in client.get(f"{where[1]}/health/live").headers
                # What a proxy says is not believed: the failures of one machine are one machine's.
                guesses = [
                    client.get("memory", headers={"authorization": "Bearer x", "x-forwarded-for": f"10.0.0.{number}"})
                    for number in range(22)
                ]
                assert guesses[-1].status_code == 429
                with socket.create_connection(("127.0.0.1", int(where[2]))) as raw:
                    with contextlib.suppress(ConnectionError):  # it may be refused before all of it is sent
                        raw.sendall(b"GET /api/memory?search=" + b"x" * 2**17 + b" HTTP/1.1\r\nhost: x\r\n\r\n")
                    assert raw.recv(12) == b"HTTP/1.1 400"
                assert client.get(f"{where[1]}/health/ready").status_code == 200
        finally:
            process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "INFO http.request method=POST route=/api/chat status=200" in logged
        assert ANNA not in logged
        assert "peanuts" not in logged
        assert not file.with_name("langmem.db-wal").exists()  # it was closed
    with Database(f"sqlite:///{file}") as database:
        [access] = AccessTokens(database).listed()
        assert (access.kind, (access.expires_at - access.created_at).total_seconds()) == ("operator", 8 * 3600)


@pytest.mark.spec("U-5", "C-13", "P-6")
@for_each(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "langmem token new --operator"),
        (["--graph", "nothing:here"], "there is no module nothing here"),
        (["--graph", "nothing"], "say package.module:name"),
        (["--graph", "langmem_plugin.cli.serve_and_mcp:PORT"], "no function that gives one"),
        (["--host", "192.0.2.1", "--port", "0"], "langmem token new"),
    ],
)
def test_a_mistake_is_told_in_one_line_and_nothing_is_served(arguments, told, file):
    result = CliRunner().invoke(app, ["serve", *arguments, "--database", f"sqlite:///{file}"])
    assert result.exit_code == 1
    [line] = result.stderr.splitlines()
    assert line.startswith("langmem: ")
    assert told in line
    assert "listening" not in result.stdout


@pytest.mark.spec("U-5")
def test_a_database_or_port_that_is_not_there_is_told(file, tmp_path):
    missing = CliRunner().invoke(app, ["serve", "--database", f"sqlite:///{tmp_path}/typo.db"])
    assert "there is no database" in missing.stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(app, ["serve", "--port", port, "--database", f"sqlite:///{file}"])
    assert "name another port" in result.stderr


@pytest.mark.spec("U-5")
def test_a_graph_is_made_of_the_memory_that_is_served(file, offline_model):
    from langmem_plugin import PhoneMemory

    with PhoneMemory(f"sqlite:///{file}", embeddings=offline_model) as memory:
        assert graph_named("langmem_plugin.cli.demo_agent:demo_agent", memory).name == demo_agent(memory).name
        with pytest.raises(ConfigurationError, match="no compiled graph"):
            graph_named("builtins:repr", memory)
        with pytest.raises(ConfigurationError, match="module:name"):
            graph_named(":", memory)
