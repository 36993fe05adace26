"""A memory on each engine behind the web application, a person's browser by TestClient, and a real one."""

import contextlib
import re
import shutil
import socket
import threading

import pytest
import uvicorn
from starlette.testclient import TestClient

from langmem_plugin import PhoneMemory, Settings
from tests.web.sample_person import ERIN

ADDRESS = "https://bot.example"
_CHROMIUM = "/usr/bin/chromium-headless-shell"


class Visitor:
    """A browser without scripts, let in by the link of a chat reply."""

    def __init__(self, memory, who):
        self.memory, self.who = memory, who
        self.client = TestClient(memory.app(), base_url=ADDRESS, follow_redirects=True)
        self.enter()

    def link(self):
        return link_in(self.memory.command(self.who, "/memories"))

    def enter(self):
        path = self.link().removeprefix(ADDRESS)
        page = self.client.get(path)
        assert page.status_code == 200, page.text
        entered = self.send("/me/in", token=hidden(page.text, "token"))
        assert entered.status_code == 200, entered.text
        assert entered.url.path == "/me/"

    def see(self, place="", status=200):
        """The page's text, as HTML."""
        page = self.client.get(f"/me/{place}")
        assert page.status_code == status, page.text
        return page.text

    def send(self, path, **fields):
        """As the browser does that shows our own page."""
        return self.client.post(path, data=fields, headers={"sec-fetch-site": "same-origin"})

    def do(self, place, status=200, **fields):
        answer = self.send(f"/me/{place}", **fields)
        assert answer.status_code == status, answer.text
        return answer.text


def link_in(reply):
    return re.search(r"\S*/me/in/\S+", reply)[0]


def hidden(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page)[1]


@pytest.fixture
def page_settings():
    return Settings(page_address=ADDRESS, sweep_every=None)


@pytest.fixture
def memory(database_url, clock, offline_model, page_settings):
    with PhoneMemory(database_url, embeddings=offline_model, settings=page_settings, now=clock) as opened:
        # Its background work does not run by itself: the test says when.
        opened.past_sessions.close()
        opened.past_sessions.worker.closing.clear()
        yield opened


@pytest.fixture
def erin(memory):
    return Visitor(memory, ERIN)


@contextlib.contextmanager
def served_at(make_app):
    """Its address: a real server on loopback, in a thread. `make_app` is given the address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(make_app(address), log_config=None, timeout_graceful_shutdown=1, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="package")
def chromium():
    """One for all of these tests. Not for the whole run: while it is open, this thread has an event loop."""
    from playwright.sync_api import sync_playwright

    if shutil.which(_CHROMIUM) is None:
        pytest.fail(f"there is no {_CHROMIUM}: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM)
        yield browser
        browser.close()
