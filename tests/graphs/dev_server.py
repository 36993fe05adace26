"""Starts `langgraph dev` for a test and ends it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from benchmarks.faults.pooler import free_port

ROOT = Path(__file__).parents[2]
STARTS_WITHIN = 150  # seconds; usually about 12


@contextmanager
def dev_server(served, folder, **environment):
    """The URL of a server of `served`, a folder with a langgraph.json; its database and log are in `folder`."""
    port = free_port()
    known = {name: value for name, value in os.environ.items() if not name.startswith(("LANGMEM_", "LANGSMITH_"))}
    known |= {
        "LANGMEM_DATABASE": f"sqlite:///{folder}/langmem.db",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGSMITH_TRACING": "false",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with (folder / "log").open("w+") as log:
        server = subprocess.Popen(
            command, cwd=served, env=known | environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            _wait_until_up(f"http://127.0.0.1:{port}", server, folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            _end(server)


def _end(server):
    """By the group it was started in: nobody else's."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        if server.poll() is None:
            os.killpg(server.pid, how)
            try:
                server.wait(timeout=60)
            except subprocess.TimeoutExpired:
                continue


def _wait_until_up(url, server, log):
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until and server.poll() is None:
        try:
            if httpx.get(f"{url}/ok", timeout=60).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.3)
    pytest.fail(f"langgraph dev did not start: {log.read_text()[-3000:]}")
