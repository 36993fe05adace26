"""What a balancer, a supervisor and Prometheus are told, over the application in this process."""

import logging
import shutil
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import EmbeddingUnavailable
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.web.health_and_metrics import LEAST_BYTES_FREE

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"


@pytest.fixture
def memory(database_url, clock, offline_model, tmp_path):
    settings = Settings(sweep_every=None, media=tmp_path / "pictures")
    with PhoneMemory(database_url, embeddings=offline_model, settings=settings, now=clock) as opened:
        yield opened


@pytest.fixture
def client(memory):
    with TestClient(memory.app()) as asking:
        yield asking


def _ready(client):
    response = client.get("/health/ready")
    in_the_api = client.get("/api/health")
    assert (in_the_api.status_code, in_the_api.json()) == (response.status_code, response.json())
    return response.status_code, response.json()["status"], response.json()["away"]


@pytest.mark.spec("U-3", "A-6")
def test_a_service_that_is_well_is_ready_and_who_asks_needs_no_token(client):
    assert _ready(client) == (200, "ok", [])
    assert client.get("/health/live").json() == {"status": "ok"}


@pytest.mark.spec("U-3", "M-14")
def test_a_closed_database_is_named_and_the_process_lives_on(client, memory):
    memory.database.close()
    assert _ready(client) == (503, "unavailable", ["database"])
    assert client.get("/health/live").status_code == 200


@pytest.mark.spec("U-3", "M-14")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_file_that_is_gone_is_named(client, memory):
    memory.database.path.unlink()
    assert _ready(client) == (503, "unavailable", ["database"])


@pytest.mark.spec("U-3", "M-14")
def test_keys_that_cannot_be_asked_are_named(tmp_path, clock, offline_model):
    settings = Settings(keys=new_master_key(), sweep_every=None)
    with (
        PhoneMemory(tmp_path / "kept.db", embeddings=offline_model, settings=settings, now=clock) as memory,
        TestClient(memory.app()) as client,
    ):
        assert _ready(client) == (200, "ok", [])
        memory.database.encryption.close()
        assert _ready(client) == (503, "unavailable", ["keys"])


@pytest.mark.spec("U-3", "M-14")
def test_a_disk_that_is_nearly_full_is_named(client, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=LEAST_BYTES_FREE - 1))
    assert _ready(client) == (503, "unavailable", ["disk"])


@pytest.mark.spec("U-3", "M-14")
def test_without_embeddings_it_is_degraded_and_stays_with_its_balancer(client, memory):
    memory.service.embedder.close()
    with pytest.raises(EmbeddingUnavailable):
        memory.service.recall(ERIN, "anything")
    assert _ready(client) == (200, "degraded", ["embedding"])


@pytest.mark.spec("U-3", "A-3", "P-9")
def test_figures_are_for_operators_and_hold_numbers_alone(client, memory, clock):
    memory.service.remember(ERIN, "Leo is allergic to zirconium")
    tokens = AccessTokens(memory.database, now=clock)
    persons, operators = tokens.new(ERIN)[0], tokens.new_operator()[0]

    def asked(token):
        return client.get("/metrics", headers={"authorization": f"Bearer {token}"})

    assert [asked(each).status_code for each in ("none", persons, operators)] == [401, 401, 200]
    told = asked(operators).text
    assert 'langmem_calls{operation="store"} 1.0' in told
    assert 'langmem_seconds{operation="store",quantile="0.95"}' in told
    assert "zirconium" not in told
    assert ERIN not in told


@pytest.mark.spec("U-3", "P-9")
def test_each_request_is_a_line_of_the_log_without_whose_it_is_or_the_key_in_its_path(client, memory, clock, caplog):
    tokens = AccessTokens(memory.database, now=clock)
    link, _ = tokens.new_link(ERIN)
    told = memory.service.remember(ERIN, "Leo is allergic to zirconium")
    with caplog.at_level(logging.INFO, "langmem_plugin.web.access_log"):
        client.get(f"/api/memory/{told.id}", headers={"authorization": f"Bearer {tokens.new(ERIN)[0]}"})
        client.get(f"/me/in/{link}")
        client.get("/nothing/here?search=zirconium")
    lines = [each.getMessage() for each in caplog.records if each.event == "http.request"]

    assert [line.rpartition(" ms=")[0] for line in lines] == [
        "http.request method=GET route=/api/memory/{memory_id} status=200",
        "http.request method=GET route=/me/in/{token} status=200",
        "http.request method=GET route=/… status=404",
    ]
    assert not any(secret in caplog.text for secret in (link, told.id, "zirconium"))
