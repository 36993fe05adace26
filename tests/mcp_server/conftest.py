"""A memory on each engine, served over HTTP by a thread of this process, and the SDK's own client with a token."""

import contextlib
import json
import socket
import threading
from datetime import timedelta

import httpx2
import pytest
import uvicorn
from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from langmem_plugin import PhoneMemory
from langmem_plugin.mcp_server import http_app
from langmem_plugin.people.access_tokens import AccessTokens

ANNA, BEN = "+972501234567", "+972507654321"


class Caller:
    """The SDK's client, called from a test that is not asynchronous."""

    def __init__(self, portal, client):
        self._portal, self.client = portal, client

    def result(self, tool, **arguments):
        return self._portal.call(lambda: self.client.call_tool(tool, arguments))

    def __call__(self, tool, **arguments):
        """What the tool gives, by its schema."""
        result = self.result(tool, **arguments)
        assert not result.is_error, result.content
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    def refused(self, tool, **arguments):
        """The sentence that the model is told."""
        result = self.result(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        [content] = result.content
        assert "Traceback" not in content.text
        assert "pydantic" not in content.text
        return content.text

    def listed(self):
        return self._portal.call(self.client.list_tools)


@contextlib.contextmanager
def calling(transport, **options):
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(transport, **options)) as client:
        yield Caller(portal, client)


@contextlib.contextmanager
def calling_by_http(url, token, **options):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(httpx2.AsyncClient(headers=headers, timeout=90)) as http,
        portal.wrap_async_context_manager(Client(streamable_http_client(url, http_client=http), **options)) as client,
    ):
        yield Caller(portal, client)


@contextlib.contextmanager
def serving(memory):
    """Its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        config = uvicorn.Config(
            http_app(memory, port=port), log_level="warning", timeout_graceful_shutdown=1, timeout_keep_alive=3600
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def memory(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        # Its background work does not run by itself: the test says when.
        opened.past_sessions.close()
        opened.past_sessions.worker.closing.clear()
        yield opened


@pytest.fixture
def tokens(memory, clock):
    return AccessTokens(memory.database, now=clock)


@pytest.fixture
def url(memory):
    with serving(memory) as where:
        yield where


@pytest.fixture
def anna(url, tokens):
    with calling_by_http(url, tokens.new(ANNA)[0]) as caller:
        yield caller


@pytest.fixture
def ben(url, tokens):
    with calling_by_http(url, tokens.new(BEN, timedelta(days=1))[0]) as caller:
        yield caller
