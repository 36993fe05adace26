"""The names and documents of Onyx's memory API, on both engines; no parameter and no person by a slip."""

import pytest
from fastapi.testclient import TestClient
from langchain_core.messages import AIMessage

from tests.cases import for_each
from tests.chat_graph import chat_graph
from tests.web.api.conftest import ANNA, HEADER, Asking

EXPORT = {
    "export_date": "2025-11-20T10:00:00Z",
    "user_id": "u-1",
    "format_version": "1.0",
    "memories": [
        {
            "id": "m1",
            "fact": "User prioritizes defense contracts",
            "fact_type": "strategic",
            "category": "c2",
            "created_at": "2025-11-14T10:00:00Z",
        }
    ],
    "standing_instructions": [{"id": "i1", "instruction": "Always cite sources", "priority": 3}],
    "categories": [
        {"id": "c2", "name": "Q4", "color": "#FF0000", "parent_category_id": "c1", "description": "This quarter"},
        {"id": "c1", "name": "Priorities", "color": "#00ff00", "parent_category_id": None},
        {"id": "c3", "name": "Odd", "color": "reddish", "parent_category_id": "gone"},
        {"id": "c4", "name": "Ring", "parent_category_id": "c5"},
        {"id": "c5", "name": "Round", "parent_category_id": "c4"},
    ],
}


@pytest.mark.spec("P-3")
def test_an_export_of_onyx_is_taken_with_its_categories_and_their_colours(anna):
    done = anna("POST", "memory/import", json=EXPORT)
    assert done["stored"] == {"category": 5, "memory": 1, "instruction": 1}

    found = {each["name"]: each for each in anna("GET", "memory/categories")["categories"]}
    assert (found["Q4"]["color"], found["Q4"]["description"]) == ("#ff0000", "This quarter")
    assert found["Priorities"]["color"] == "#00ff00"
    assert found["Odd"]["color"] == found["Ring"]["color"]  # the usual one
    assert found.keys() == {"Q4", "Priorities", "Odd", "Ring", "Round"}
    [held] = anna("GET", "memory?category=Priorities")["memories"]  # what is below it counts as well
    assert (held["fact"], held["category"]) == ("User prioritizes defense contracts", "Q4")
    assert [each["instruction"] for each in anna("GET", "instructions")["instructions"]] == ["Always cite sources"]
    assert not any(anna("POST", "memory/import", json=EXPORT)["stored"].values())


@pytest.mark.spec("P-2")
def test_consent_and_rights_have_the_names_that_onyx_gives_them(anna, operator):
    given = anna("PATCH", "consent", json={"allow_memory_extraction": True, "allow_sensitive_memories": False})
    assert (given["extraction"]["allowed"], given["sensitive"]["allowed"]) == (True, False)
    assert (given["allow_memory_extraction"], given["allow_personal_memories"]) == (True, False)
    assert anna("PATCH", "consent", json={"personal": True})["allow_personal_memories"] is True
    assert (
        anna.refused("PATCH", "consent", json={"extraction": True, "allow_memory_extraction": False})["status"] == 422
    )
    assert anna("GET", "consent")["rights"] == {
        "can_export": True,
        "can_delete": True,
        "can_correct": True,
        "can_limit_processing": True,
        "data_retention_days": 365,
        "right_to_be_forgotten": True,
    }


@pytest.mark.spec("U-3")
def test_a_search_is_bounded_by_days(anna, clock):
    anna.remember("The red boat is in Haifa")
    clock.forward(days=3)
    anna.remember("The blue boat is in Eilat")
    day = f"{clock().date()}T00:00:00Z"

    def found(**bounds):
        results = anna("GET", "memory/search", params={"query": "boat", "min_relevance": 0, **bounds})["results"]
        return {each["memory"]["fact"].split()[1] for each in results}

    assert found() == {"red", "blue"}
    assert found(**{"from": day}) == {"blue"}
    assert found(to=day) == {"red"}
    assert anna.refused("GET", "memory/search?query=boat&from=yesterday")["status"] == 422


@pytest.mark.spec("U-3")
@for_each(
    "path", ["memory?tags=a", "memory/search?query=x&form=day", "memory/categories?x=1", "consent?a", "person?b="]
)
def test_a_parameter_that_is_not_known_is_refused_by_its_name(anna, path):
    problem = anna.refused("GET", path)
    assert (problem["status"], problem["type"]) == (422, "urn:langmem:problem:unknown-parameter")
    assert "it knows" in problem["detail"]


@pytest.mark.spec("U-3")
def test_a_chat_takes_the_fields_of_onyx(memory, tokens):
    graph = chat_graph(memory, lambda _: {"messages": AIMessage("Hello")})
    with TestClient(memory.app(graph=graph)) as client:
        anna = Asking(client, tokens.new(ANNA)[0])
        said = {"message": "hi", "conversation_id": "c-1", "inject_memory": True}
        answer = anna.response("POST", "chat", json=said).json()
        assert answer["response"] == "Hello"
        assert answer["conversation_id"] == memory.sessions.sessions(ANNA)[0].session_id
        again = anna.response("POST", "chat", json={"message": "and?", "conversation_id": answer["conversation_id"]})
        assert again.json()["conversation_id"] == answer["conversation_id"]
        assert anna.refused("POST", "chat", json={"message": "hi", "inject_memory": False})["status"] == 422


@pytest.mark.spec("C-20", "U-3")
@for_each("slip", ["garbage", "0501234567", "+", "whatsapp:", "None", "user:"])
def test_a_mistyped_header_makes_no_person(operator, memory, slip):
    for method, path, body in (
        ("POST", "memory", {"json": {"fact": "Ghost"}}),
        ("GET", "memory", {}),
        ("GET", "person", {}),
    ):
        assert operator.refused(method, path, headers={HEADER: slip}, **body)["status"] == 422
    assert operator("GET", "people")["people"] == []


@pytest.mark.spec("C-20")
def test_an_id_of_an_application_is_named_with_user_before_it_or_known_already(operator, memory):
    operator("POST", "memory", headers={HEADER: "user:erin"}, json={"fact": "Likes tea"}, status=201)
    memory.service.remember("crm 42", "Likes coffee")
    [held] = operator("GET", "memory", headers={HEADER: "crm 42"})["memories"]
    assert held["fact"] == "Likes coffee"
    receipt = memory.erase("crm 42")
    restored = operator("POST", f"erasure/{receipt.id}/restore", headers={HEADER: "crm 42"})
    assert restored
