"""A request that creates something is done once, however often it is delivered with its key."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from langmem_plugin.conversation.turns.message_claims import MessageClaims
from langmem_plugin.database.conversation_tables import incoming
from tests.cases import for_each

KEY = {"idempotency-key": "order 66"}


@pytest.mark.spec("U-3", "C-13")
@for_each(
    ("path", "body", "listed"),
    [
        ("memory", {"fact": "Leo is allergic to peanuts"}, "memory"),
        ("memory", {"fact": "My password is hunter2 and the gate code is 471183"}, "memory"),
        ("instructions", {"instruction": "Answer in short"}, "instructions"),
        ("memory/categories", {"name": "Home"}, "memory/categories"),
    ],
)
def test_sent_again_it_is_answered_as_before_and_done_once(anna, path, body, listed):
    first = anna.response("POST", path, json=body, headers=KEY)
    assert first.status_code == 201
    held = anna("GET", listed)
    again = anna.response("POST", path, json=body, headers=KEY)
    assert (again.status_code, again.json()) == (201, first.json())
    assert {name: again.headers.get(name) for name in ("location", "etag")} == {
        name: first.headers.get(name) for name in ("location", "etag")
    }
    assert anna("GET", listed) == held


@pytest.mark.spec("U-3", "C-13")
def test_a_key_is_one_callers_and_one_requests(anna, ben, about_anna):
    for asking in (anna, ben, about_anna):
        asking("POST", "memory", json={"fact": "Leo is allergic to peanuts"}, headers=KEY)
    assert [each("GET", "memory")["total"] for each in (anna, ben)] == [1, 1]
    other = anna.refused("POST", "memory", json={"fact": "Leo likes trains"}, headers=KEY)
    assert (other["status"], other["type"]) == (422, "urn:langmem:problem:idempotency-key-used")
    elsewhere = anna.refused("POST", "instructions", json={"instruction": "Answer in short"}, headers=KEY)
    assert elsewhere["status"] == 422
    assert anna("GET", "memory")["total"] == 1
    assert anna.refused("POST", "memory", json={"fact": "x"}, headers={"idempotency-key": "k" * 201})["status"] == 422


@pytest.mark.spec("U-3", "C-13")
def test_what_failed_is_done_when_it_is_sent_again(anna, memory, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(MessageClaims, "keep_record", _killed)
        refused = anna.refused("POST", "instructions", json={"instruction": "Answer in short"}, headers=KEY)
    assert refused["status"] == 500
    assert anna("GET", "instructions")["instructions"] == []
    anna("POST", "instructions", json={"instruction": "Answer in short"}, headers=KEY, status=201)
    assert len(anna("GET", "instructions")["instructions"]) == 1


def _killed(*_, **__):
    raise RuntimeError("the process ends here")


@pytest.mark.spec("U-3", "C-9", "C-13")
def test_delivered_by_many_at_once_it_is_done_once(anna):
    body = {"instruction": "Speak of the news"}

    def send(_):
        return anna.response("POST", "instructions", json=body, headers=KEY).json()["data"]["instruction"]["id"]

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(send, range(8)))) == 1
    assert len(anna("GET", "instructions")["instructions"]) == 1


@pytest.mark.spec("U-3", "P-4")
def test_a_kept_answer_is_erased_with_the_person_and_swept_after_three_days(anna, ben, memory, clock):
    for asking in (anna, ben):
        asking("POST", "memory", json={"fact": "Leo is allergic to peanuts"}, headers=KEY)
    anna("POST", "erasure", json={"now": True})
    with memory.database.read() as connection:
        kept = connection.execute(select(incoming.c.message_id)).scalars().all()
    assert len(kept) == 1
    assert "order 66" not in kept[0]
    clock.forward(days=2)
    memory.housekeeping.sweep()
    with memory.database.read() as connection:
        assert len(connection.execute(select(incoming.c.message_id)).all()) == 1
    clock.forward(days=2)
    memory.housekeeping.sweep()
    with memory.database.read() as connection:
        assert connection.execute(select(incoming.c.message_id)).all() == []
