"""What stands beside memories, on both engines: instructions, confirmations, consent, people, erasure, export, chat."""

import io
import json
import random
import zipfile

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.web.api import privacy_and_export
from tests.chat_graph import chat_graph
from tests.web.api.conftest import ANNA, BEN, HEADER, Asking

pytestmark = pytest.mark.both_engines


@pytest.mark.spec("U-3", "I-4", "I-1")
def test_instructions_are_managed_and_no_change_is_lost(anna, ben, clock):
    new = {
        "instruction": "Speak of the news",
        "priority": 7,
        "condition_expression": "day is monday",
        "expires_at": "2026-12-31T22:00:00Z",
    }
    response = anna.response("POST", "instructions", json=new)
    made = response.json()["data"]["instruction"]
    assert (response.status_code, response.headers["location"]) == (201, f"/api/instructions/{made['id']}")
    assert {name: made[name] for name in new} == new
    low = anna("POST", "instructions", json={"instruction": "Call me Anna"}, status=201)["instruction"]

    assert [each["id"] for each in anna("GET", "instructions")["instructions"]] == [made["id"], low["id"]]
    assert [each["id"] for each in anna("GET", "instructions?priority_min=2")["instructions"]] == [made["id"]]
    path = f"instructions/{low['id']}"
    first = anna.response("GET", path).headers["etag"]
    clock.forward(seconds=1)
    off = anna.response("PATCH", path, json={"is_active": False}, headers={"if-match": first})
    assert off.json()["data"]["instruction"]["is_active"] is False
    late = anna.refused("PATCH", path, json={"priority": 9}, headers={"if-match": first})
    assert (late["status"], late["type"]) == (412, "urn:langmem:problem:stale-memory")
    assert anna.refused("DELETE", path, headers={"if-match": first})["status"] == 412
    assert [each["id"] for each in anna("GET", "instructions")["instructions"]] == [made["id"]]
    assert len(anna("GET", "instructions?active_only=false")["instructions"]) == 2
    changed = anna("PATCH", f"instructions/{made['id']}", json={"condition_expression": None})["instruction"]
    assert (changed["condition_expression"], changed["priority"]) == (None, 7)

    for method, body in (("GET", {}), ("PATCH", {"json": {"priority": 1}}), ("DELETE", {})):
        assert ben.refused(method, path, **body)["status"] == 404
    wrong = anna.refused(
        "POST", "instructions", json={"instruction": "x", "condition_expression": "if the moon is full of cheese and"}
    )
    assert wrong["status"] == 422
    assert anna("DELETE", path, headers={"if-match": off.headers["etag"]}) == {"deleted_id": low["id"]}
    assert anna.refused("GET", path)["status"] == 404


@pytest.mark.spec("U-3", "W-5")
def test_what_waits_is_confirmed_or_declined_once(anna, ben, memory):
    one = memory.service.remember(ANNA, "Ben owes me 50", status="pending")
    two = memory.service.remember(ANNA, "Leo likes trains", status="pending")

    waiting = anna("GET", "confirmations")
    assert ([each["id"] for each in waiting["memories"]], waiting["total"]) == ([one.id, two.id], 2)
    assert ben.refused("POST", f"confirmations/{one.id}/confirm")["status"] == 404
    assert anna("POST", f"confirmations/{one.id}/confirm")["memory"]["status"] == "active"
    assert anna("POST", f"confirmations/{two.id}/decline")["memory"]["fact"] == ""
    assert anna.refused("POST", f"confirmations/{two.id}/confirm")["status"] == 404
    assert anna("GET", "confirmations") == {"memories": [], "total": 0, "approval_rate": 0.5}
    assert [each["id"] for each in anna("GET", "memory")["memories"]] == [one.id]


@pytest.mark.spec("U-3", "P-2")
def test_consent_is_read_given_and_withdrawn(anna, ben, memory):
    held = anna("GET", "consent")
    assert [held[name]["allowed"] for name in ("extraction", "personal", "sensitive")] == [None, None, None]
    given = anna("PATCH", "consent", json={"extraction": True, "sensitive": False})
    assert (given["extraction"]["allowed"], given["sensitive"]["allowed"]) == (True, False)
    assert given["extraction"]["since"] is not None
    assert memory.consent.allowed(ANNA)
    assert anna("PATCH", "consent", json={"extraction": False})["extraction"]["allowed"] is False
    assert ben("GET", "consent")["extraction"]["allowed"] is None


@pytest.mark.spec("U-3", "W-4")
def test_what_was_said_is_taken_in_when_it_is_asked_for(anna, ben, memory):
    memory.consent.set(ANNA, extraction=True, personal=True)
    graph = chat_graph(memory, lambda _: {"messages": AIMessage("I see.")})
    memory.reply(graph, ANNA, "I live in Haifa with my daughter Mia")
    [session] = anna("GET", "sessions")["sessions"]

    [job] = anna("GET", "memory/extract")["jobs"]
    assert (job["session_id"], job["state"]) == (session["session_id"], "pending")
    assert ben.refused("POST", "memory/extract", json={"session_id": session["session_id"]})["status"] == 404
    assert ben("GET", "memory/extract") == {"jobs": []}
    anna("POST", "memory/extract", json={"session_id": session["session_id"]}, status=202)
    [job] = anna("GET", "memory/extract")["jobs"]
    assert (job["state"], job["waiting_facts"], job["error"]) == ("completed", 0, None)
    assert any("Haifa" in each["fact"] for each in anna("GET", "memory")["memories"])


@pytest.mark.spec("U-3", "C-4")
def test_conversations_current_and_ended_are_listed_and_read(anna, ben, memory, clock):
    for text in ("hello", "and more"):
        memory.sessions.record(ANNA, HumanMessage(text))
        clock.forward(seconds=1)
    [session] = anna("GET", "sessions")["sessions"]
    path = f"sessions/{session['session_id']}"

    told = anna("GET", path)
    assert [(each["role"], each["content"]) for each in told["messages"]] == [("user", "hello"), ("user", "and more")]
    assert (told["total"], told["session"]["ended_at"]) == (2, None)
    assert [each["content"] for each in anna("GET", f"{path}?limit=1&offset=1")["messages"]] == ["and more"]
    assert ben("GET", "sessions")["total"] == 0
    for at in (path, "sessions/nothing"):
        assert ben.refused("GET", at)["status"] == 404
    memory.sessions.clear_session(ANNA)
    assert anna("GET", path)["session"]["ended_at"] is not None
    memory.sessions.record(ANNA, HumanMessage("again"))
    assert anna("GET", "sessions?limit=1")["total"] == 2


@pytest.mark.spec("U-3", "A-2", "A-6")
def test_memories_are_told_in_numbers(anna, ben, operator, about_anna):
    memory_id = anna.remember("Leo is allergic to peanuts", category="health")["id"]
    ben.remember("Ben likes jam")
    anna("GET", f"memory/{memory_id}")

    told = anna("GET", "memory/analytics?days=7")
    assert (told["summary"]["total_memories"], len(told["growth_trend"])) == (1, 7)
    assert told["category_distribution"] == [{"category": "health", "count": 1, "percentage": 100.0}]
    assert about_anna("GET", "memory/analytics?days=7")["summary"] == told["summary"]
    of_all = operator.response("GET", "memory/analytics")
    assert of_all.json()["data"]["summary"]["total_memories"] == 2
    assert "peanuts" not in of_all.text
    table = anna.response("GET", "memory/analytics?format=csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert "total_memories,1" in table.text
    assert anna("GET", "memory/recommendations") == {"recommendations": []}


@pytest.mark.spec("U-3", "P-3")
def test_what_goes_out_comes_in_again_and_nothing_twice(anna, ben, about_anna):
    anna.remember("Leo is allergic to peanuts", tags=["kids"])
    anna("POST", "memory/categories", json={"name": "Home"})
    document = anna.response("GET", "memory/export")
    assert document.headers["content-disposition"] == 'attachment; filename="langmem-export.json"'
    assert [each["text"] for each in document.json()["memories"]] == ["Leo is allergic to peanuts"]
    tables = anna.response("GET", "memory/export?format=csv").content
    with zipfile.ZipFile(io.BytesIO(tables)) as held:
        assert "peanuts" in held.read("memories.csv").decode()
    assert about_anna.response("GET", "memory/export").json()["memories"] == document.json()["memories"]

    assert anna("POST", "memory/import", content=document.content)["there_already"]["memory"] == 1
    assert ben("POST", "memory/import", content=tables)["stored"]["memory"] == 1
    assert [each["fact"] for each in ben("GET", "memory")["memories"]] == ["Leo is allergic to peanuts"]
    for wrong in (b"", b"{", b"[]", b'{"format": "another"}', b"\xff\xfe", b"PK\x05\x06" + bytes(18), b"[" * 5_000):
        assert ben.refused("POST", "memory/import", content=wrong)["status"] == 422


@pytest.mark.spec("U-3", "P-3", "C-13")
def test_a_zip_whose_bytes_were_changed_or_are_too_many_is_refused(anna, monkeypatch):
    anna.remember("Leo is allergic to peanuts")
    tables = anna.response("GET", "memory/export?format=csv").content
    chance, told = random.Random(7), set()
    for _ in range(60):
        damaged = bytearray(tables)
        for _ in range(chance.choice((1, 3, 30))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        told.add(anna.response("POST", "memory/import", content=bytes(damaged)).status_code)
    assert told == {200, 422}
    monkeypatch.setattr(privacy_and_export, "_LARGEST_UNPACKED", 1_000)
    assert "by parts" in anna.refused("POST", "memory/import", content=tables)["detail"]


@pytest.mark.spec("U-3", "P-6")
def test_an_import_makes_nobody_of_whoever_it_names(anna, about_anna, memory, tokens, client):
    """Whoever imports a document that says it could take over whoever writes from there later."""
    document = anna.response("GET", "memory/export").json()
    stranger = "+972509999999"
    document["identifiers"] = [{"identifier": stranger, "linked_at": "2026-03-01T09:00:00Z"}]

    told = anna("POST", "memory/import", json=document)
    assert [each["place"] for each in told["skipped"]] == ["identifiers"]
    assert memory.people.resolve(stranger) == stranger
    assert about_anna("POST", "memory/import", json=document)["stored"]["identifier"] == 1
    assert memory.people.resolve(stranger) == ANNA
    assert Asking(client, tokens.new(stranger)[0])("GET", "person?reveal=true")["person"]["key"] == ANNA


@pytest.mark.spec("U-3", "P-4")
def test_a_person_is_erased_and_an_operator_brings_them_back(anna, ben, about_anna, operator, memory):
    fact = anna.remember("Leo is allergic to peanuts")
    receipt = anna("POST", "erasure", json={}, status=202)["receipt"]
    assert (receipt["state"], receipt["verified"]) == ("held", False)
    assert anna.refused("GET", "memory")["status"] == 401  # with all that was theirs the token is gone
    assert about_anna.refused("GET", "memory")["status"] == 404

    path = f"erasure/{receipt['id']}"
    assert about_anna("GET", path)["receipt"] == receipt
    about_ben = {HEADER: BEN}
    for asking, headers in ((ben, {}), (operator, about_ben)):
        assert asking.refused("GET", path, headers=headers)["status"] == 404
        assert asking.refused("POST", f"{path}/restore", headers=headers)["status"] == 404
    assert about_anna("POST", f"{path}/restore")["receipt"]["state"] == "restored"
    assert [each["id"] for each in anna("GET", "memory")["memories"]] == [fact["id"]]

    assert anna.refused("POST", "erasure", json={"now": "perhaps"})["status"] == 422
    assert anna.refused("POST", "erasure")["status"] == 422
    gone = anna("POST", "erasure", json={"now": True})["receipt"]
    assert (gone["state"], gone["verified"]) == ("done", True)
    assert about_anna.refused("POST", f"erasure/{gone['id']}/restore")["status"] == 404


@pytest.mark.spec("U-3", "C-20")
def test_people_are_listed_for_operators_and_their_links_followed(anna, ben, operator, about_anna, memory):
    anna.remember("Leo is allergic to peanuts")
    ben.remember("Ben likes jam")

    told = operator("GET", "people")
    assert (told["total"], [each["key"] for each in told["people"]]) == (2, ["…567", "…321"])
    assert [each["key"] for each in operator("GET", "people?reveal=true")["people"]] == [ANNA, BEN]
    assert operator("GET", "people?limit=1&offset=1&reveal=1")["people"][0]["key"] == BEN
    memory.people.set_time_zone(ANNA, "madrid")
    memory.people.set_language(ANNA, "es")
    known = anna("GET", "person")["person"]
    assert (known["time_zone"], known["language"], known["identifiers"]) == ("Europe/Madrid", "es", ["…567"])

    memory.people.link(ANNA, "telegram:4242")
    assert about_anna("GET", "person?reveal=true")["person"]["identifiers"] == [ANNA, "telegram:4242"]
    memory.people.merge(ANNA, BEN)
    assert ben("GET", "memory")["total"] == anna("GET", "memory")["total"] == 2
    assert anna.refused("GET", "people")["status"] == 403


@pytest.mark.spec("U-3", "M-10")
def test_a_chat_is_answered_with_what_it_was_given_of_the_memory(anna, tokens, memory):
    memory.instructions.add(ANNA, "Always answer briefly")
    fact = memory.service.remember(ANNA, "Leo is allergic to peanuts")
    calls = []

    def agent(state):
        calls.append(memory.prompt(state, "You help."))
        return {"messages": AIMessage("Peanuts [Memory: 1].")}

    with TestClient(memory.app(graph=chat_graph(memory, agent))) as client:
        asking = Asking(client, tokens.new(ANNA)[0])
        say = {"message": "what is Leo allergic to?", "message_id": "m1"}
        answer = asking.response("POST", "chat", json=say).json()
        assert answer["context"] == {"memories": [fact.text], "instructions": ["Always answer briefly"]}
        assert [(each["number"], each["memory_id"]) for each in answer["citations"]] == [(1, fact.id)]
        assert (answer["success"], answer["message_id"], answer["repeated"]) == (True, "m1", False)
        assert answer["response"].startswith("Peanuts")
        again = asking.response("POST", "chat", json=say).json()
        assert (again["repeated"], again["response"], len(calls)) == (True, answer["response"], 1)
        command = asking.response("POST", "chat", json={"message": "/memories"}).json()
        assert "peanuts" in command["response"]
        assert command["context"] == {"memories": [], "instructions": []}
    none = anna.refused("POST", "chat", json=say)
    assert (none["status"], none["type"]) == (404, "urn:langmem:problem:no-graph")


@pytest.mark.spec("U-3", "U-11")
def test_it_is_mounted_into_another_application(tokens, memory):
    other = FastAPI()
    other.mount("/assistant", memory.app())
    with TestClient(other) as client:
        headers = {"authorization": f"Bearer {tokens.new(ANNA)[0]}"}
        made = client.post("/assistant/api/memory", json={"fact": "Tea is served at five"}, headers=headers)
        assert made.headers["location"] == f"/assistant/api/memory/{made.json()['data']['memory']['id']}"
        client.post("/assistant/api/memory", json={"fact": "The gate is green"}, headers=headers)
        listed = client.get("/assistant/api/memory?limit=1", headers=headers)
        assert listed.links["next"]["url"].startswith("/assistant/api/memory?limit=1&cursor=")
        assert client.get(listed.links["next"]["url"], headers=headers).json()["data"]["memories"]
        assert client.get("/assistant/health/ready").status_code == 200
        assert client.get("/assistant/api/nothing", headers=headers).json()["status"] == 404
        described = json.dumps(client.get("/assistant/api/openapi.json").json())
        assert '"/api/memory"' in described
