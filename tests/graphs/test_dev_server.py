"""`langgraph dev` serves both assistants with our checkpointer; driven with its own SDK."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_sync_client

ROOT = Path(__file__).parents[2]
STARTS_WITHIN = 90  # seconds; usually about 12
BOTH = pytest.mark.parametrize("assistant", ["family_assistant", "family_agent"])


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LANGMEM_", "LANGSMITH_"))}
    environment |= {
        "LANGMEM_DATABASE": f"sqlite:///{folder}/langmem.db",
        "HOUSEHOLD_DB": f"{folder}/household.db",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGSMITH_TRACING": "false",
    }
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with (folder / "log").open("w+") as log:
        server = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            _wait_until_up(f"http://127.0.0.1:{port}", server, folder / "log")
            with get_sync_client(url=f"http://127.0.0.1:{port}") as client:
                yield client
        finally:
            _end(server)


def _end(server):
    """By the group it was started in: nobody else's."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        if server.poll() is None:
            os.killpg(server.pid, how)
            try:
                server.wait(timeout=15)
            except subprocess.TimeoutExpired:
                continue


def _wait_until_up(url, server, log):
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until and server.poll() is None:
        try:
            if httpx.get(f"{url}/ok", timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    pytest.fail(f"langgraph dev did not start: {log.read_text()[-3000:]}")


_numbers = itertools.count(100)


class Thread:
    """One conversation on the server, of a phone or of somebody new."""

    def __init__(self, client, assistant, phone=None):
        self.client = client
        self.assistant = assistant
        self.phone = phone or f"+1202555{next(_numbers):04}"
        self.id = client.threads.create()["thread_id"]

    def __call__(self, text):
        asked = {"messages": [{"role": "user", "content": text}]}
        values = self.client.runs.wait(self.id, self.assistant, input=asked, context={"phone": self.phone})
        return values["messages"][-1]["content"]

    def messages(self):
        return self.client.threads.get_state(self.id)["values"]["messages"]


@pytest.mark.timeout(180)
@pytest.mark.spec("U-6", "R-1", "C-1")
@BOTH
def test_a_run_knows_its_phone_and_what_number_2_means(client, assistant):
    erin, jason = Thread(client, assistant), Thread(client, assistant)
    erin("find me a chicken dinner")
    jason("find me a vegetarian lunch")
    assert erin("save number 2") == "Creamy chicken and mushroom pasta (saved)"
    assert jason("what did I save?") == "No recipe is saved yet."


@pytest.mark.timeout(180)
@pytest.mark.spec("U-6")
@BOTH
def test_state_and_history_of_a_thread_can_be_read(client, assistant):
    erin = Thread(client, assistant)
    erin("what's on our calendar this week?")
    assert [message["type"] for message in erin.messages()] == ["human", "ai", "tool", "ai"]
    history = client.threads.get_history(erin.id, limit=20)
    lengths = [len(state["values"].get("messages", [])) for state in history]
    assert lengths[0] == 4
    assert sorted(lengths, reverse=True) == lengths


@pytest.mark.timeout(180)
@pytest.mark.spec("U-6")
def test_two_threads_of_one_phone_are_two_conversations_with_one_household(client):
    first = Thread(client, "family_assistant")
    second = Thread(client, "family_assistant", first.phone)
    first("add milk and eggs to the grocery list")
    assert second("show my grocery list") == "1. milk\n2. eggs"
    assert len(second.messages()) == 4


@pytest.mark.timeout(180)
@pytest.mark.spec("U-6")
def test_a_thread_can_be_deleted(client):
    erin = Thread(client, "family_assistant")
    erin("what's on our calendar this week?")
    client.threads.delete(erin.id)
    with pytest.raises(httpx.HTTPStatusError):
        client.threads.get_state(erin.id)


@pytest.mark.timeout(180)
@pytest.mark.spec("U-6")
def test_a_run_that_names_nobody_belongs_to_its_thread_alone(client):
    nobody, somebody = Thread(client, "family_assistant"), Thread(client, "family_assistant")
    asked = {"messages": [{"role": "user", "content": "add milk and eggs to the grocery list"}]}
    client.runs.wait(nobody.id, "family_assistant", input=asked)
    assert somebody("show my grocery list") == "The grocery list is empty."
    assert len(nobody.messages()) == 4
