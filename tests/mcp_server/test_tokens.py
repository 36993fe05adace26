"""Over HTTP a token says whose memory is reached, and nothing is reached without one."""

import functools
import json
from datetime import timedelta

import httpx2
import pytest
from typer.testing import CliRunner

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.cli import app
from langmem_plugin.cli.serve_and_mcp import refuse_open_door
from langmem_plugin.database import database_from_settings
from langmem_plugin.errors import ConfigurationError, InvalidInput
from langmem_plugin.mcp_server import http_app
from langmem_plugin.people.access_tokens import AccessTokens
from tests.database.test_deadlines import TIMEOUT, done_at_last, stopped
from tests.mcp_server.conftest import ANNA, BEN, calling_by_http, serving
from tests.waiting import until

CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_facts", "arguments": {}},
}


def sent(url, authorization=None, **headers):
    """A request as anybody could send it."""
    headers |= {"Accept": "application/json, text/event-stream"}
    if authorization is not None:
        headers["Authorization"] = authorization
    return httpx2.post(url, json=CALL, headers=headers, timeout=90)


@pytest.fixture
def post(url):
    return functools.partial(sent, url)


@pytest.mark.slow
@pytest.mark.spec("P-6")
def test_without_a_right_token_nothing_is_reached(post, tokens, memory):
    token, access = tokens.new(ANNA)
    memory.service.remember(ANNA, "I live in Haifa")
    assert "I live in Haifa" in post(f"Bearer {token}").text

    other = token[:-1] + ("0" if token[-1] != "0" else "1")
    wrong = [
        None,
        "",
        "Bearer",
        f"Basic {token}",
        token,
        f"Bearer {other}",
        f"Bearer {token}0",
        f"Bearer {token.upper()}",
        f"Bearer  {token}",
        f"Bearer langmem_{access.token_id}_",
        f"Bearer langmem_000000000000_{token[-64:]}",
        f"Bearer langmem_{access.token_id}_{'0' * 64}",
        "Bearer ' OR 1=1 --",
        f"Bearer {'x' * 20_000}",
        "Bearer \xff\xfe",
    ]
    for each in wrong:
        answer = post(None if each is None else each.encode("latin-1"))
        assert answer.status_code in (401, 400, 431), each
        assert "Haifa" not in answer.text


@pytest.mark.spec("P-6")
def test_a_token_that_has_expired_or_was_taken_back_opens_nothing_on_a_connection_that_is_open(
    url, post, tokens, clock
):
    token, access = tokens.new(ANNA, timedelta(days=2))
    _, bens = tokens.new(BEN)
    with calling_by_http(url, token) as anna:
        anna("remember_fact", text="I live in Haifa")
        clock.forward(days=2)
        assert post(f"Bearer {token}").status_code == 401
        clock.forward(days=-1)
        assert post(f"Bearer {token}").status_code == 200

        tokens.revoke(access.token_id)
        assert post(f"Bearer {token}").status_code == 401
        with pytest.raises(Exception, match=r"401|Authentication|Unauthorized|Server returned"):
            anna("list_facts")
    assert [each.token_id for each in tokens.listed()] == [bens.token_id]
    with pytest.raises(InvalidInput, match="langmem token list"):
        tokens.revoke(access.token_id)


@pytest.mark.spec("P-6", "C-20")
def test_only_a_digest_is_stored_and_whose_tokens_there_are_is_found_by_any_of_their_identifiers(tokens, memory, clock):
    token, access = tokens.new("whatsapp:+972 50-123-4567")
    with memory.database.read() as connection:
        stored = connection.exec_driver_sql("SELECT * FROM langmem_access_token").all()
    assert token[-64:] not in str(stored)
    assert bytes.fromhex(token[-64:]) not in [bytes(value) for value in stored[0] if isinstance(value, bytes)]
    assert tokens.access_by(token, "person") == access

    memory.people.link(ANNA, "telegram:4242")
    _, telegrams = tokens.new("telegram:4242")
    assert set(tokens.listed("telegram:4242")) == set(tokens.listed(ANNA)) == {access, telegrams}
    assert tokens.listed(BEN) == []

    memory.erase(ANNA, now=True)
    assert tokens.listed() == []
    for days in (0, -1, 10_000):
        with pytest.raises(InvalidInput, match="1 to 3650 days"):
            tokens.new(ANNA, timedelta(days=days))

    tokens.new(ANNA, timedelta(days=1))
    clock.forward(days=1)
    tokens.new(BEN)
    with memory.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM langmem_access_token").scalar() == 1


@pytest.mark.spec("P-6")
def test_it_listens_beyond_loopback_only_when_somebody_has_a_token(memory, tokens):
    for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9"):
        refuse_open_door(tokens, host, "person")
    for host in ("0.0.0.0", "::", "10.0.0.5", "example.org", "127.0.0.1.example.org"):
        with pytest.raises(ConfigurationError, match="langmem token new"):
            refuse_open_door(tokens, host, "person")
    tokens.new(ANNA)
    refuse_open_door(tokens, "0.0.0.0", "person")


@pytest.mark.spec("P-6")
def test_a_page_that_was_rebound_to_this_machine_is_refused(post, tokens):
    token, _ = tokens.new(ANNA)
    assert post(f"Bearer {token}", Host="evil.example").status_code == 421
    assert post(f"Bearer {token}", Origin="https://evil.example").status_code == 403


@pytest.mark.spec("P-8")
def test_a_memory_that_is_switched_off_is_not_served():
    with (
        PhoneMemory(settings=Settings(enable_memory_system=False)) as memory,
        pytest.raises(ConfigurationError, match="switched off"),
    ):
        http_app(memory)


@pytest.mark.spec("M-14", "C-28")
def test_while_the_database_is_away_the_answer_is_to_try_again(post, tokens, memory):
    token, _ = tokens.new(ANNA)
    memory.database.close()

    answer = post(f"Bearer {token}")

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert json.loads(answer.text)["error"] == "temporarily_unavailable"
    assert "Traceback" not in answer.text


@pytest.mark.slow
@pytest.mark.spec("M-14", "C-28", "A-5")
def test_a_server_of_a_database_that_stands_still_answers_in_time_and_goes_on_when_it_does(
    postgresql_server, offline_model, monkeypatch
):
    monkeypatch.setattr(database_from_settings, "DATABASE_TIMEOUT", TIMEOUT)
    settings = Settings(sweep_every=None, search_past_sessions=False)
    with (
        postgresql_server.copy("stands_still") as database,
        done_at_last(lambda: PhoneMemory(database, embeddings=offline_model, settings=settings)) as memory,
        serving(memory) as url,
    ):
        bearer = f"Bearer {done_at_last(lambda: AccessTokens(memory.database).new(ANNA))[0]}"
        with stopped(postgresql_server):
            assert sent(url, bearer).status_code == 503
        until(lambda: sent(url, bearer).status_code == 200)


@pytest.mark.spec("U-5", "P-6")
def test_tokens_are_made_listed_and_taken_back_from_the_command_line(database_url):
    def run(*arguments, exit_code=0):
        result = CliRunner().invoke(app, [*arguments, "--database", database_url])
        assert result.exit_code == exit_code, result.output
        return result

    made = run("token", "new", ANNA, "--days", "3")
    token = made.stdout.strip()
    with PhoneMemory(database_url) as memory:
        access = AccessTokens(memory.database).access_by(token, "person")
    assert access.identifier == ANNA
    assert access.expires_at - access.created_at == timedelta(days=3)
    assert ANNA not in made.output

    listed = run("token", "list").stdout
    assert access.token_id in listed
    assert "…567" in listed
    assert token[-64:] not in listed
    assert access.token_id in run("token", "list", ANNA).stdout
    assert access.token_id not in run("token", "list", BEN).stdout

    run("token", "revoke", access.token_id)
    assert access.token_id not in run("token", "list").stdout
    assert "there is no token" in run("token", "revoke", access.token_id, exit_code=1).stderr
    run("token", "new", ANNA, "--days", "0", exit_code=2)
