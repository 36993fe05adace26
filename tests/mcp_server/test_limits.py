"""Over HTTP the server has the API's limits: how large a request is, how often a token asks, how often one guesses."""

import httpx2
import pytest

from langmem_plugin import PhoneMemory
from langmem_plugin.people import rate_limits
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.people.rate_limits import FAILURES_PER_MINUTE, LARGEST_BODY
from tests.cases import for_each
from tests.mcp_server.conftest import ANNA, BEN, serving
from tests.mcp_server.test_tokens import sent

pytestmark = pytest.mark.spec("U-3", "A-6")


@pytest.fixture
def strict(database_url, clock, offline_model, monkeypatch):
    monkeypatch.setattr(rate_limits, "REQUESTS_PER_MINUTE", 3)
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as memory:
        yield memory


@pytest.fixture
def token_of(strict, clock):
    tokens = AccessTokens(strict.database, now=clock)
    return lambda who: tokens.new(who)[0]


def test_a_token_is_answered_so_many_times_a_minute_and_no_other_is_kept_from_it(strict, token_of):
    anna, ben = f"Bearer {token_of(ANNA)}", f"Bearer {token_of(BEN)}"
    with serving(strict) as url:
        assert [sent(url, anna).status_code for _ in range(4)] == [200, 200, 200, 429]
        assert 1 <= int(sent(url, anna).headers["retry-after"]) <= 60
        assert sent(url, ben).status_code == 200


@pytest.mark.slow
def test_who_guesses_tokens_is_stopped_and_who_has_one_is_not(strict, token_of):
    with serving(strict) as url:
        guess = "Bearer langmem_000000000000_" + 64 * "0"
        assert [sent(url, guess).status_code for _ in range(FAILURES_PER_MINUTE)] == [401] * FAILURES_PER_MINUTE
        assert sent(url, guess).status_code == 429
        assert sent(url, f"Bearer {token_of(ANNA)}").status_code == 200


@for_each("is_said", [True, False])
def test_a_body_that_is_too_large_is_refused_and_not_read_to_its_end(strict, token_of, is_said, caplog):
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * LARGEST_BODY + b'"}'
    headers = {
        "Authorization": f"Bearer {token_of(ANNA)}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    with serving(strict) as url:
        answer = httpx2.post(url, content=body if is_said else iter([body]), headers=headers, timeout=90)

        assert answer.status_code == 413
        assert sent(url, headers["Authorization"]).status_code == 200
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
