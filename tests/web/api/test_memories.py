"""Memories over HTTP, on both engines: stored, listed, changed and deleted; no change is lost."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from langmem_plugin.memory.memory_types import MemoryChanges
from tests.web.api.conftest import ANNA

pytestmark = pytest.mark.both_engines


@pytest.mark.spec("U-3", "I-4")
def test_a_fact_is_stored_read_changed_and_deleted(anna):
    new = {
        "fact": "Leo is allergic to peanuts",
        "fact_type": "personal",
        "category": "health",
        "tags": ["Kids", "food"],
        "expires_at": "2027-01-01T00:00:00+02:00",
        "is_private": True,
        "confidence": 0.9,
    }
    made = anna.response("POST", "memory", json=new)
    stored = made.json()["data"]
    memory_id = stored["memory"]["id"]
    assert made.status_code == 201
    assert made.headers["location"] == f"/api/memory/{memory_id}"
    assert stored["outcome"] == "stored"
    told = {name: stored["memory"][name] for name in new}
    assert told == new | {"tags": ["kids", "food"], "expires_at": "2026-12-31T22:00:00Z"}

    read = anna.response("GET", f"memory/{memory_id}")
    assert read.headers["etag"] == made.headers["etag"] == '"1"'
    assert anna.response("GET", f"memory/{memory_id}", headers={"if-none-match": '"1"'}).status_code == 304

    changes = {"tags": ["kids"], "expires_at": None, "fact": "Leo is allergic to cashews"}
    changed = anna("PATCH", f"memory/{memory_id}", json=changes)["memory"]
    assert {name: changed[name] for name in changes} == changes
    assert (changed["category"], changed["is_private"], changed["revision"]) == ("health", True, 2)

    assert anna("DELETE", f"memory/{memory_id}") == {"deleted_id": memory_id}
    assert anna("GET", "memory")["memories"] == []
    for method in ("GET", "DELETE"):
        assert anna.refused(method, f"memory/{memory_id}")["status"] == 404
    assert anna.refused("PATCH", f"memory/{memory_id}", json={"fact": "x"})["status"] == 404
    [before, gone] = anna("GET", f"memory/{memory_id}/history")["history"]
    assert (before["status"], before["fact"]) == ("superseded", "Leo is allergic to peanuts")
    assert (gone["status"], gone["fact"], gone["tags"]) == ("forgotten", "", [])


@pytest.mark.spec("U-3", "W-6")
def test_what_is_known_is_not_stored_again_and_what_is_corrected_stays_as_history(anna, clock):
    old = anna.remember("I live in Haifa")
    again = anna.response("POST", "memory", json={"fact": "i live in  Haifa"})
    clock.forward(days=1)
    new = anna("POST", "memory", json={"fact": "I live in Eilat now"}, status=201)

    assert (again.status_code, again.json()["data"]["outcome"]) == (200, "duplicate")
    assert (new["outcome"], new["concerned"]) == ("superseded", [old["id"]])
    for memory_id in (old["id"], new["memory"]["id"]):
        told = anna("GET", f"memory/{memory_id}/history")["history"]
        assert [each["fact"] for each in told] == ["I live in Haifa", "I live in Eilat now"]


@pytest.mark.spec("U-3")
def test_a_list_is_filtered_by_what_memories_are(anna, memory, clock):
    first = anna.remember("Tea is served at five", category="food", tags=["a", "b"], fact_type="note")
    clock.forward(days=1)
    second = anna.remember("The gate code is 4711", is_private=True, tags=["a"], fact_type="decision")
    clock.forward(days=1)
    ends = {"expires_at": "2026-03-04T00:00:00Z"}
    third = anna.remember("The guest stays until Wednesday", fact_type="preference", category="Guests", **ends)
    pending = memory.service.remember(ANNA, "Ben owes me 50", status="pending", source_type="extracted_from_chat")
    clock.forward(days=2)
    names = {each["id"]: name for name, each in (("1", first), ("2", second), ("3", third))} | {pending.id: "p"}

    def listed(query):
        told = anna("GET", f"memory?{query}")
        assert told["total"] == len(told["memories"])
        return "".join(names[each["id"]] for each in told["memories"])

    assert listed("") == "21"
    assert listed("include_expired=true") == "321"
    assert listed("status=pending") == "p"
    assert listed("status=active&status=pending&include_expired=true") == "p321"
    assert listed("category=food") == listed("category=FOOD") == listed("tag=b") == listed("tag=A&tag=b") == "1"
    assert listed("category=guests&category=food&include_expired=1") == "31"
    assert listed("fact_type=note&fact_type=decision") == "21"
    assert listed("tag=a") == "21"
    assert (listed("private=true"), listed("private=false")) == ("2", "1")
    assert listed("source=extracted_from_chat&status=pending") == "p"
    assert listed("source=extracted_from_chat") == listed("tag=zzz") == listed("category=zzz") == ""
    assert listed("from=2026-03-02T00:00:00Z") == "2"
    assert listed("to=2026-03-02T00:00:00Z") == "1"
    assert listed("search=gate") == listed("search=gate&private=true") == "2"
    assert listed("search=gate&private=false") == listed("search=gate&source=api_import") == ""
    assert listed("search=%20") == "21"


@pytest.mark.spec("U-3")
def test_a_long_list_comes_in_parts_that_name_the_next(anna, memory):
    memory.service.remember_many(ANNA, [(f"Locker {number} is blue", {}) for number in range(7)])
    path, seen, pages = "memory?limit=3&private=false", [], 0
    while path:
        response = anna.response("GET", path)
        told = response.json()["data"]
        seen += [each["fact"] for each in told["memories"]]
        assert (response.headers["x-total-count"], told["total"]) == ("7", 7)
        following = response.links.get("next")
        path = following and following["url"].removeprefix("/api/")
        pages += 1
    assert (len(set(seen)), pages) == (7, 3)
    assert response.links["last"]["url"] == "/api/memory?private=false&limit=3&offset=6"
    last = anna.response("GET", "memory?limit=3&offset=6")
    assert last.links["prev"]["url"] == "/api/memory?limit=3&offset=3"
    assert "next" not in last.links


@pytest.mark.spec("U-3", "C-13")
def test_of_two_who_change_at_once_one_is_told_that_it_has_changed(anna):
    memory_id = anna.remember("The gate code is 4711")["id"]
    tag = anna.response("GET", f"memory/{memory_id}").headers["etag"]
    anna("PATCH", f"memory/{memory_id}", headers={"if-match": tag}, json={"category": "home"})

    for method, body in (("PATCH", {"json": {"category": "work"}}), ("DELETE", {})):
        late = anna.refused(method, f"memory/{memory_id}", headers={"if-match": tag}, **body)
        assert (late["status"], late["type"]) == (412, "urn:langmem:problem:stale-memory")
        assert (
            anna.refused(method, f"memory/{memory_id}", headers={"if-match": '"99999999999"'}, **body)["status"] == 412
        )
        assert anna.refused(method, f"memory/{memory_id}", headers={"if-match": "1, 2"}, **body)["status"] == 400
    assert anna("GET", f"memory/{memory_id}")["memory"]["category"] == "home"
    assert anna("PATCH", f"memory/{memory_id}", headers={"if-match": "*"}, json={"category": None})


@pytest.mark.spec("U-3", "C-13")
def test_a_change_without_if_match_that_meets_another_is_a_conflict(anna, memory, monkeypatch):
    pending = memory.service.remember(ANNA, "Ben owes me 50", status="pending")
    confirm = memory.service.update

    def meanwhile(owner, memory_id, **changes: MemoryChanges):
        confirm(owner, memory_id, category="debts")
        return confirm(owner, memory_id, **changes)

    monkeypatch.setattr(memory.service, "update", meanwhile)
    assert anna.refused("POST", f"confirmations/{pending.id}/confirm")["status"] == 409


@pytest.mark.slow
@pytest.mark.spec("U-3", "C-9")
def test_no_change_of_many_writers_is_lost(anna):
    memory_id = anna.remember("The gate code is 4711")["id"]

    def write(number):
        while True:
            read = anna.response("GET", f"memory/{memory_id}")
            tags = [*read.json()["data"]["memory"]["tags"], f"t{number}"]
            headers = {"if-match": read.headers["etag"]}
            if anna.response("PATCH", f"memory/{memory_id}", headers=headers, json={"tags": tags}).is_success:
                return

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(12)))
    tags = anna("GET", f"memory/{memory_id}")["memory"]["tags"]
    assert sorted(tags) == sorted(f"t{number}" for number in range(12))


@pytest.mark.spec("U-3")
def test_a_search_says_what_found_each_and_how_surely(anna):
    anna.remember("Leo is allergic to peanuts", tags=["kids"])
    anna.remember("The gate is green", category="home")

    [found] = anna("GET", "memory/search?query=what+is+Leo+allergic+to")["results"]
    assert found["memory"]["fact"] == "Leo is allergic to peanuts"
    assert 0.5 <= found["relevance_score"] <= 1
    assert found["match_type"] == "hybrid"
    assert found["signals"]
    [by_words] = anna("GET", "memory/search?query=peanuts&search_type=text&min_relevance=0.1")["results"]
    assert by_words["match_type"] == "exact"
    assert anna("GET", "memory/search?query=peanuts&tag=zzz&min_relevance=0")["results"] == []
    assert anna("GET", "memory/search?query=green&category=HOME&search_type=text&min_relevance=0.1")["results"]
    assert anna.refused("GET", "memory/search?query=x&search_type=magic")["errors"][0]["where"] == "query.search_type"


@pytest.mark.slow
@pytest.mark.spec("U-3", "U-4")
def test_categories_are_a_tree_with_colours(anna, ben):
    home = anna("POST", "memory/categories", json={"name": "Home", "color": "#FF0000"}, status=201)["category"]
    inner = {"name": "Garden", "parent_category_id": home["id"], "description": "what grows"}
    garden = anna("POST", "memory/categories", json=inner, status=201)["category"]
    anna.remember("The roses are red", category="garden")
    anna.remember("The car is blue", category="cars")

    told = anna("GET", "memory/categories")
    assert [(each["name"], each["color"], each["parent_category_id"]) for each in told["categories"]] == [
        ("Home", "#ff0000", None),
        ("Garden", "#3b82f6", home["id"]),
    ]
    stats = {each["name"]: (each["category_id"], each["memory_count"]) for each in told["category_stats"]}
    assert stats == {"Home": (home["id"], 0), "Garden": (garden["id"], 1), "cars": (None, 1)}
    listed = anna("GET", "memory?category=home")
    assert [each["fact"] for each in listed["memories"]] == ["The roses are red"]
    assert listed["categories"] == told["categories"]

    assert ben("GET", "memory/categories")["categories"] == []
    assert anna.refused("POST", "memory/categories", json={"name": "home"})["status"] == 422
