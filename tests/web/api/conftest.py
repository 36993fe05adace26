"""The application of a memory, asked in this process with one person's, another's and an operator's token."""

import pytest
from fastapi.testclient import TestClient

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.people import rate_limits
from langmem_plugin.people.access_tokens import AccessTokens

ANNA, BEN = "+972501234567", "+972507654321"
HEADER = "Langmem-Phone"


class Asking:
    """Asks with one token. `asking(…)` gives the data of an answer, `asking.refused(…)` the problem."""

    def __init__(self, client, token, **headers):
        self.client = client
        self.headers = {"authorization": f"Bearer {token}", **headers}

    def response(self, method, path, *, headers=None, **given):
        return self.client.request(method, f"/api/{path}", headers=self.headers | (headers or {}), **given)

    def __call__(self, method, path, *, status=None, **given):
        response = self.response(method, path, **given)
        assert response.status_code == (status or response.status_code), response.text
        assert response.is_success, response.text
        answer = response.json()
        assert answer["success"] is True
        return answer["data"]

    def refused(self, method, path, **given):
        response = self.response(method, path, **given)
        problem = response.json()
        assert response.headers["content-type"] == "application/problem+json", response.text
        assert problem["status"] == response.status_code
        assert problem["success"] is False
        assert problem["detail"]
        assert "Traceback" not in response.text
        return problem

    def remember(self, fact, **fields):
        return self("POST", "memory", json={"fact": fact, **fields})["memory"]


def quiet(memory):
    """Its background work does not run by itself: the test says when."""
    memory.past_sessions.close()
    memory.past_sessions.worker.closing.clear()
    return memory


@pytest.fixture
def few_requests(monkeypatch):
    monkeypatch.setattr(rate_limits, "REQUESTS_PER_MINUTE", 3)


@pytest.fixture(scope="module")
def many_requests():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rate_limits, "REQUESTS_PER_MINUTE", 10**9)
        yield


@pytest.fixture
def settings():
    return Settings()


@pytest.fixture
def memory(database_url, clock, offline_model, settings):
    with PhoneMemory(database_url, embeddings=offline_model, settings=settings, now=clock) as opened:
        yield quiet(opened)


@pytest.fixture
def tokens(memory, clock):
    return AccessTokens(memory.database, now=clock)


@pytest.fixture
def client(memory):
    with TestClient(memory.app()) as client:
        yield client


@pytest.fixture
def anna(client, tokens):
    return Asking(client, tokens.new(ANNA)[0])


@pytest.fixture
def ben(client, tokens):
    return Asking(client, tokens.new(BEN)[0])


@pytest.fixture
def operator(client, tokens):
    return Asking(client, tokens.new_operator()[0])


@pytest.fixture
def about_anna(client, tokens):
    """An operator who names Anna."""
    return Asking(client, tokens.new_operator()[0], **{HEADER: ANNA})
