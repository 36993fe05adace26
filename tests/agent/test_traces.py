"""What a trace backend and a log are given: that the memory worked, and nothing of what was said or is known."""

import json
import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.agent.traced_run import ERIN, JASON

pytestmark = [pytest.mark.spec("P-9"), pytest.mark.slow]

OUR_NODES = {"recall", "write", "PhoneMemoryMiddleware.before_agent", "PhoneMemoryMiddleware.after_agent"}
SECRETS = ("KEPT-SECRET", "SAID-SECRET", "Blue boat")


class Collector(ThreadingHTTPServer):
    """Takes what LangSmith's client posts, run by run: {name: [all that was sent of one run]}."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Taking)
        self.bodies = []

    @property
    def runs(self):
        sent = defaultdict(list)
        for kind, body in self.bodies:
            message = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
            assert message.is_multipart()
            for part in message.get_payload():
                named = re.search(r'name="?(?:post|patch)\.([0-9a-f-]{36})', str(part["Content-Disposition"]))
                if named:
                    sent[named[1]].append(part.get_payload(decode=True).decode())
        named = defaultdict(list)
        for parts in sent.values():
            name = next(found[1] for each in parts if (found := re.search(r'"name":"([^"]+)"', each)))
            named[name].append("\n".join(parts))
        return named


_INGESTING = {
    "use_multipart_endpoint": True,
    "size_limit": 100,
    "size_limit_bytes": 20_000_000,
    "scale_up_nthreads_limit": 2,
    "scale_up_qsize_trigger": 1_000,
    "scale_down_nempty_trigger": 4,
}


class _Taking(BaseHTTPRequestHandler):
    def do_GET(self):
        self._answer(200, json.dumps({"version": "0.9.0", "batch_ingest_config": _INGESTING}).encode())

    def do_POST(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(iter(self._chunk, b""))
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.bodies.append((self.headers["Content-Type"], body))
        self._answer(202, b"{}")

    def _chunk(self):
        size = int(self.rfile.readline(), 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """The runs that LangSmith's endpoint was sent, and what the process says of itself."""
    collector = Collector()
    serving = threading.Thread(target=collector.serve_forever, daemon=True)
    serving.start()
    told = {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
        "LANGSMITH_API_KEY": "none",
        "LANGSMITH_TRACING_MODE": "hybrid",
        "LANGSMITH_DISABLE_RUN_COMPRESSION": "true",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}/otel",
    }
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.agent.traced_run", str(tmp_path_factory.mktemp("traced"))],
        env={**os.environ, **told},
        cwd=root,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    collector.shutdown()
    serving.join()
    collector.server_close()
    assert done.returncode == 0, done.stderr
    return collector.runs, json.loads(done.stdout)


def test_the_collector_sees_what_an_application_traces_of_its_own(traced):
    runs, told = traced

    assert OUR_NODES | {"LangGraph", "Scripted", "agent", "model"} <= set(runs)
    assert len(runs["Scripted"]) == told["model"] >= 8
    assert any("KEPT-SECRET" in each for each in runs["Scripted"])
    assert any("SAID-SECRET" in each for each in runs["agent"])
    assert any("KEPT-SECRET" in text for _, text in told["spans"])
    assert {name for name, _ in told["spans"]} >= OUR_NODES


def test_no_span_of_the_memory_holds_what_was_said_or_is_known(traced):
    runs, told = traced

    ours = [each for name in runs if name in OUR_NODES or "MemoryMiddleware" in name for each in runs[name]]
    ours += [text for name, text in told["spans"] if name in OUR_NODES or "MemoryMiddleware" in name]

    assert len(ours) > 30
    assert [each for each in ours if any(secret in each for secret in SECRETS)] == []


def test_no_span_at_all_holds_the_number_of_a_phone(traced):
    runs, told = traced
    everything = "\n".join([*(text for each in runs.values() for text in each), *(text for _, text in told["spans"])])

    assert not any(phone.lstrip("+") in everything for phone in (ERIN, JASON))


def test_models_that_the_memory_asks_by_itself_are_not_traced(traced):
    runs, told = traced

    assert told["asked"] >= 3
    assert len(runs["Scripted"]) == told["model"]
    for asked in ("Summarise this part of a conversation", "You note what a person has told", "A person texts with"):
        assert not any(asked in text for each in runs.values() for text in each)


def test_no_log_at_any_level_holds_what_was_said_or_is_known_or_a_whole_phone(traced):
    _, told = traced
    ours = [text for name, text in told["logs"] if name.startswith(("langmem_plugin", "sqlalchemy", "alembic"))]
    secret = (*SECRETS, ERIN.lstrip("+"), JASON.lstrip("+"), "Haifa")

    assert len(told["logs"]) > 10
    assert [each for each in ours if any(word in each for word in secret)] == []
