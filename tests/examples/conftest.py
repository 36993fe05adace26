"""The examples in worker processes, as a server starts them, and what is around them."""

import importlib
import multiprocessing
import os
import socket

import httpx
import pytest

from tests.examples.fakes import Outside

SETTINGS = {
    "whatsapp": {
        "WHATSAPP_TOKEN": "cloud-token",
        "WHATSAPP_APP_SECRET": "app-secret",
        "WHATSAPP_VERIFY_TOKEN": "verify-me",
    },
    "telegram": {"TELEGRAM_TOKEN": "12:bot", "TELEGRAM_SECRET": "hook-secret", "TELEGRAM_BOT_NAME": "family_bot"},
    "twilio": {"TWILIO_AUTH_TOKEN": "12345", "TWILIO_WEBHOOK_URL": "https://mycompany.com/myapp.php?foo=1&bar=2"},
}
ONE_REQUEST_EACH = httpx.Limits(max_connections=None, max_keepalive_connections=0)
"""Of a connection; uvicorn closes one that failed or was quiet, and who writes into it just then reads a reset."""
http = httpx.Client(timeout=90, limits=ONE_REQUEST_EACH)
"""As patient as a provider; a worker on a busy machine takes its time to load its models."""
PRELOADED = ["uvicorn", "fastapi", "httpx", "langchain_openai", "examples.assistant"]


def serve(example, environment, told):
    """What a process does: `uvicorn examples.whatsapp:app` on a port of its own, which it tells."""
    import uvicorn

    os.environ.update(environment)
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    app = importlib.import_module(f"examples.{example}").app
    told.send(listening.getsockname()[1])
    uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none")).run(sockets=[listening])


class Worker:
    def __init__(self, example, environment):
        processes = multiprocessing.get_context("forkserver")
        self._told, its_end = processes.Pipe()
        self._process = processes.Process(target=serve, args=[example, environment, its_end], daemon=True)
        self._process.start()
        its_end.close()

    @property
    def url(self):
        if not hasattr(self, "_url"):
            assert self._told.poll(180), "the worker never began to listen"
            self._url = f"http://127.0.0.1:{self._told.recv()}/webhook"
        return self._url

    def kill(self):
        self._process.kill()
        self._process.join()

    def end(self):
        self._process.terminate()
        self._process.join(120)
        assert self._process.exitcode is not None, "the worker did not end"


def settings(example, outside, database_url, name="one"):
    return {
        "LANGMEM_DATABASE": database_url,
        "LANGMEM_MODEL": "fake",
        "LANGMEM_BASE_URL": f"{outside.url}/{name}/v1",
        "ACKNOWLEDGED_AFTER": "120",  # a busy machine is slow
        "WHATSAPP_API_URL": f"{outside.url}/graph",
        "TELEGRAM_API_URL": f"{outside.url}/telegram",
        **SETTINGS[example],
    }


@pytest.fixture(scope="session")
def fakes():
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
    with Outside() as opened, http:
        yield opened


@pytest.fixture
def outside(fakes):
    """Has heard nothing yet."""
    fakes.forget()
    return fakes


@pytest.fixture(scope="module")
def one_worker(fakes, tmp_path_factory):
    """Starts an example on a SQLite database of its own."""
    started = []

    def start(example):
        folder = tmp_path_factory.mktemp(example)
        started.append(Worker(example, settings(example, fakes, f"sqlite:///{folder}/langmem.db")))
        return started[0]

    yield start
    for worker in started:
        worker.end()


@pytest.fixture
def workers(outside, database_url):
    """Starts workers of an example over one database, by their names."""
    started = []

    def start(example, *names):
        started.extend(Worker(example, settings(example, outside, database_url, name)) for name in names)
        return started[-len(names) :]

    yield start
    outside.held.clear()  # a worker ends when what it was asked is answered
    for worker in started:
        worker.end()
