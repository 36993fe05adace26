"""Who may ask: by which token, how often, about whom; and what is noted of it, in one engine's file."""

import logging
import shutil
import tempfile
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.database import database_from_settings
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.people.rate_limits import FAILURES_PER_MINUTE
from tests.cases import for_each
from tests.database.test_deadlines import TIMEOUT, done_at_last, stopped
from tests.waiting import until
from tests.web.api.conftest import ANNA, BEN, HEADER, Asking


@pytest.fixture
def database_url(migrated_file, tmp_path):
    """The engine makes no difference here."""
    shutil.copy(migrated_file, tmp_path / "langmem.db")
    return f"sqlite:///{tmp_path}/langmem.db"


@pytest.mark.spec("U-3", "P-6")
def test_nothing_is_served_without_a_valid_token_of_the_right_kind(client, tokens, clock, memory):
    valid, _ = tokens.new(ANNA)
    operators, _ = tokens.new_operator(timedelta(days=1))
    link, _ = tokens.new_link(ANNA)
    console, _ = tokens.let_in(operators, "operator")
    page, _ = tokens.let_in(tokens.new_link(ANNA)[0], "link")
    expired, _ = tokens.new(ANNA, timedelta(days=1))
    clock.forward(days=1)
    revoked, other = tokens.new(ANNA)
    tokens.revoke(other.token_id)
    altered = valid[:-1] + ("0" if valid[-1] != "0" else "1")
    for token in (expired, revoked, altered, link, console, page, operators, "", "x", "langmem_", f"{valid} " * 2):
        problem = Asking(client, token).refused("GET", "memory")
        assert (problem["status"], problem["type"]) == (401, "urn:langmem:problem:not-authorized")
    for headers in (
        {},
        {"authorization": valid},
        {"authorization": f"Basic {valid}"},
        {"cookie": f"langmem_page={page}"},
    ):
        response = client.get("/api/memory", headers=headers)
        assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
    assert Asking(client, valid)("GET", "memory")["total"] == 0


@pytest.mark.spec("U-3")
def test_a_token_is_looked_at_before_anything_else_of_a_request(client):
    for method, path, body in (
        ("POST", "memory", b"{"),
        ("POST", "memory/import", b"x" * 2**21),
        ("PUT", "memory", b""),
    ):
        response = client.request(method, f"/api/{path}", content=body)
        assert response.status_code == (405 if method == "PUT" else 401)


@pytest.mark.spec("U-3", "P-6")
def test_whose_memory_it_is_says_the_token_or_an_operators_header(anna, operator, memory):
    anna.remember("Leo is allergic to peanuts")
    for written in (ANNA, "+972 50-123-4567", "whatsapp:+972501234567"):
        assert operator("GET", "memory", headers={HEADER: written})["total"] == 1
    assert operator.refused("GET", "memory", headers={HEADER: BEN})["status"] == 404
    for headers in ({}, {HEADER: " "}):
        assert operator.refused("GET", "memory", headers=headers)["status"] == 400
    assert anna.refused("GET", "memory", headers={HEADER: BEN})["status"] == 400
    assert anna.refused("GET", "memory", headers={HEADER: ANNA})["status"] == 400
    memory.people.link(ANNA, "user:ånna")
    linked = operator("GET", "memory", headers={HEADER: "user:ånna".encode()})
    assert linked["total"] == 1


@pytest.mark.spec("U-3", "C-20")
def test_the_links_of_a_tokens_identifier_are_followed_at_each_request(anna, tokens, client, memory):
    anna.remember("Leo is allergic to peanuts")
    telegrams = Asking(client, tokens.new("telegram:4242")[0])
    assert telegrams("GET", "memory")["total"] == 0
    memory.people.link(ANNA, "telegram:4242")
    assert telegrams("GET", "memory")["total"] == 1


@pytest.mark.spec("U-3", "P-5")
def test_what_an_operator_reads_and_does_is_in_the_audit_log_and_names_nobody(about_anna, anna, memory):
    fact = about_anna.remember("Leo is allergic to peanuts")
    for path in ("memory", "memory/search?query=leo", f"memory/{fact['id']}", "instructions", "sessions", "consent"):
        about_anna("GET", path)
    about_anna("GET", "person?reveal=true")
    about_anna("GET", "people?reveal=true")
    anna("GET", "memory")

    noted = memory.audit.newest(50)
    read = [each.subject for each in noted if each.action == "operator.read"]
    assert read == [
        "memories",
        "search",
        fact["id"],
        "instructions",
        "sessions",
        "consent",
        "person, revealed",
        "people, revealed",
    ]
    assert {each.actor.partition(":")[0] for each in noted} == {"operator"}
    assert len({each.owner for each in noted if each.subject == "memories"}) == 1
    assert ANNA not in str(noted)


@pytest.mark.spec("U-3", "A-6")
def test_a_token_is_answered_so_many_times_a_minute_and_no_other_is_kept_from_it(few_requests, anna, ben):
    for _ in range(3):
        anna("GET", "memory")
    refused = anna.response("GET", "memory")
    assert (refused.status_code, refused.json()["type"]) == (429, "urn:langmem:problem:too-many-requests")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert ben("GET", "memory")["total"] == 0


@pytest.mark.spec("U-3", "A-6")
def test_who_guesses_tokens_is_stopped_and_who_has_one_is_not(anna, client):
    guess = Asking(client, "langmem_000000000000_" + 64 * "0")
    told = [guess.refused("GET", "memory")["status"] for _ in range(FAILURES_PER_MINUTE + 2)]
    assert told == [401] * FAILURES_PER_MINUTE + [429] * 2
    assert anna("GET", "memory")["total"] == 0


@pytest.mark.spec("U-3", "M-14")
def test_a_database_that_is_gone_is_told_as_503_and_nothing_of_it_is(anna, memory, tmp_path, caplog):
    memory.database.close()
    for method, path in (("GET", "memory"), ("POST", "memory"), ("GET", "nothing"), ("POST", "erasure")):
        response = anna.response(method, path, json={} if method == "POST" else None)
        assert response.status_code == (404 if path == "nothing" else 503)
        assert str(tmp_path) not in response.text
        assert "sqlite" not in response.text


@pytest.mark.slow
@pytest.mark.spec("U-3", "M-14")
def test_a_server_that_stands_still_is_told_as_503_and_is_asked_again(postgresql_server, offline_model, monkeypatch):
    monkeypatch.setattr(database_from_settings, "DATABASE_TIMEOUT", TIMEOUT)
    with (
        postgresql_server.copy("standing_still") as url,
        done_at_last(lambda: PhoneMemory(url, embeddings=offline_model)) as memory,
        TestClient(memory.app()) as client,
    ):
        anna = Asking(client, done_at_last(lambda: AccessTokens(memory.database).new(ANNA))[0])
        with stopped(postgresql_server):
            assert client.get("/health/ready").json() == {"status": "unavailable", "away": ["database"]}
            assert anna.refused("GET", "memory")["status"] == 503
        until(lambda: anna.response("GET", "memory").is_success)
        assert anna("GET", "memory")["total"] == 0


@pytest.mark.spec("U-3", "M-14")
def test_a_model_that_is_gone_is_told_as_503(anna, memory, monkeypatch):
    anna.remember("Leo is allergic to peanuts")
    memory.service.embedder.close()
    assert anna.refused("POST", "memory", json={"fact": "Tea is served at five"})["status"] == 503
    assert anna.refused("GET", "memory/search?query=leo")["status"] == 503
    assert anna("GET", "memory")["total"] == 1


@pytest.mark.spec("U-3", "P-8")
def test_without_a_long_term_memory_there_are_conversations_and_the_rest_is_told_so(database_url, clock):
    with PhoneMemory(database_url, settings=Settings(longterm=False), now=clock) as memory:
        token, _ = AccessTokens(memory.database, now=clock).new(ANNA)
        with TestClient(memory.app()) as client:
            anna = Asking(client, token)
            assert anna("GET", "sessions")["total"] == 0
            for path in ("memory", "memory/search?query=x", "instructions", "memory/categories"):
                problem = anna.refused("GET", path)
                assert (problem["status"], problem["type"]) == (409, "urn:langmem:problem:configuration-error")


@pytest.mark.spec("U-3", "P-9")
def test_log_lines_hold_neither_texts_nor_phones(anna, about_anna, client, memory, caplog):
    with caplog.at_level(logging.DEBUG):
        fact = anna.remember("Leo is allergic to zirconium", tags=["zirconium"])
        anna("GET", "memory?search=zirconium")
        anna("GET", "memory/search?query=zirconium")
        anna.refused("PATCH", f"memory/{fact['id']}", json={"fact": "zirconium\0"})
        anna.refused("POST", "memory", json={"zirconium": ["zirconium"]})
        about_anna("GET", "memory")
        anna.refused("GET", "memory/zirconium")
        memory.database.close()
        anna.refused("GET", "memory?search=zirconium")
    ours = [each for each in caplog.records if each.name.startswith(("langmem", "uvicorn"))]
    assert ours
    for each in ours:
        line = f"{each.getMessage()} {each.exc_text} {each.exc_info}"
        assert "zirconium" not in line
        assert ANNA not in line


HOSTILE = [
    b"[" * 5_000,
    b'{"fact":' * 5_000,
    b'{"fact": "\\ud83d"}',
    b'{"fact": "a\\u0000b"}',
    b'{"\\ud83d": 1}',
    b'{"fact": "\xff"}',
    b'{"fact": 1e400}',
    b'{"fact": ' + b"9" * 5_000 + b"}",
    b'{"fact": ["x"]}',
    b'{"fact": "x", "confidence": NaN}',
    b'{"fact": "x", "expires_at": "9999-12-31T23:59:59-23:59"}',
    b'{"fact": "x", "expires_at": 1e300}',
    b'{"fact": "x", "expires_at": -1e14}',
    b'{"fact": "x", "owner": "+972507654321"}',
    b'{"fact": "' + b"x" * 5_000 + b'"}',
    b"null",
    b"",
]


@pytest.mark.slow
@pytest.mark.spec("U-3", "C-13")
@for_each("body", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_body_is_refused_with_what_to_do(anna, body):
    for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
        problem = anna.refused("POST", "memory", content=body, headers={"content-type": kind})
        assert problem["status"] in {400, 422}
    assert anna("GET", "memory")["total"] == 0


@pytest.mark.spec("U-3", "C-13")
def test_hostile_addresses_are_refused_or_find_nothing(anna):
    half = "%ED%A0%BD"  # of an emoji, as no UTF-8 has it
    for path in ("memory/a%00b", f"memory/{half}", "memory/" + "x" * 300, "instructions/%00", "sessions/..%2f..%2fetc"):
        assert anna.refused("GET", path)["status"] in {404, 422}
    for query in ("search=%00", f"tag={half}", "limit=0", "limit=99999999999999999999", "offset=-1", "from=yesterday"):
        assert anna.response("GET", f"memory?{query}").status_code in {200, 422}
    assert anna.refused("GET", "memory/search", params={"query": "x" * 60_000})["status"] == 422
    assert anna.refused("GET", "memory", params={"tag": ["x"] * 51})["status"] == 422
    assert anna.refused("GET", "memory/search", params={"query": "x", "min_relevance": "nan"})["status"] == 422


@pytest.mark.spec("U-3", "C-13")
def test_a_body_that_is_too_large_is_not_read_to_its_end(anna):
    read = []

    def endless():
        for number in range(200):
            read.append(number)
            yield b"x" * 2**16

    assert anna.refused("POST", "memory", content=endless())["status"] == 413
    assert anna.refused("POST", "memory", content=b"x", headers={"content-length": "9" * 30})["status"] == 413
    zeros = b"\0" * (64 * 2**20 + 1)
    assert anna.refused("POST", "memory/import", content=zeros)["status"] == 413


@pytest.mark.spec("U-3")
def test_what_is_not_there_is_told_from_what_cannot_be_done_so(anna):
    refused = anna.response("PUT", "memory")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")
    assert anna.refused("PATCH", "memory/search")["status"] in {404, 422}
    assert anna.refused("GET", "nothing/at/all")["status"] == 404


@pytest.mark.spec("U-3")
def test_a_mistake_of_ours_is_told_without_what_it_was(anna, memory, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("secret zirconium")

    monkeypatch.setattr(memory.service, "list_memories", fail)
    problem = anna.refused("GET", "memory")
    assert (problem["status"], "zirconium" in str(problem)) == (500, False)


@pytest.mark.spec("U-3", "P-9")
def test_nothing_of_what_is_sent_or_fetched_is_left_on_the_disk(anna, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    anna.remember("Leo is allergic to peanuts")
    document = anna.response("GET", "memory/export").content
    anna.response("GET", "memory/export?format=csv")
    for path, body in (
        ("memory/import", document),
        ("memory/import?really=perhaps", document),
        ("memory/import", b"nothing"),
        ("memory/import", b"x" * (64 * 2**20 + 1)),
    ):
        anna.response("POST", path, content=body)
    assert list(folder.iterdir()) == []


@pytest.mark.spec("U-3", "P-6")
def test_one_request_is_about_one_person(operator):
    problem = operator.refused("GET", "memory", headers={HEADER: f"{ANNA},+972507654321"})
    assert (problem["status"], problem["type"].rpartition(":")[2]) == (400, "several-people-named")


@pytest.mark.spec("U-3")
def test_a_path_that_is_none_is_told_as_a_problem_outside_of_the_api_too(client):
    for path, status in (("/nowhere", 404), ("/api/nowhere", 404), ("/look/none.css", 404)):
        answer = client.get(path, headers={"accept": "application/json"})
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), path
        assert answer.json()["status"] == status
