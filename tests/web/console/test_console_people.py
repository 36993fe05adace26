"""People, conversations, instructions, consent, erasure and what is kept of it all in the console."""

import base64
import json
import re

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from tests.web.console.conftest import ERIN, JASON

pytestmark = pytest.mark.both_engines

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SHOWN = [{"id": "r1", "name": "Lemon chicken"}, {"id": "r2", "name": "Chicken curry"}]


@pytest.mark.spec("U-4", "C-20")
def test_people_are_listed_masked_and_found_by_any_identifier_in_no_address(memory, operator):
    memory.service.remember(ERIN, "I like tea")
    memory.people.link(ERIN, "user:erin@example.com")
    page = operator.see("people")
    assert "…567" in page
    assert "erin@example" not in page
    found = operator.do("people/find", identifier="user:erin@example.com")
    assert found.headers["location"].endswith(operator.of(ERIN))
    assert operator.post("people/find", identifier=JASON).status_code == 422
    assert operator.post("people/find", identifier="  ").status_code == 422


@pytest.mark.spec("U-4")
def test_a_list_of_many_people_goes_on_behind_the_last(memory, operator):
    for number in range(52):
        memory.service.remember(f"+9725000000{number:02d}", "I like tea")
    page = operator.see("people")
    assert page.count("<tr>") == 51
    assert "1–50 of 52" in page
    assert "Page 1 of 2" in page
    [last] = re.findall(r'href="\?page=(\d+)">Last<', page)
    assert operator.see("people", page=last).count("<tr>") == 3


@pytest.mark.spec("U-4", "R-4")
def test_a_conversation_is_shown_with_its_tools_and_what_number_two_meant(memory, operator):
    memory.sessions.add_message(ERIN, "user", "find chicken dinners")
    call = {"name": "search_recipes", "args": {"query": "chicken"}, "id": "c1"}
    memory.sessions.record(ERIN, AIMessage("", tool_calls=[call]))
    memory.sessions.record(ERIN, ToolMessage(json.dumps(SHOWN), tool_call_id="c1", name="search_recipes"))
    memory.sessions.add_message(ERIN, "user", "tell me more about number 2")
    [session] = memory.sessions.sessions(ERIN)
    assert session.session_id in operator.see(operator.of(ERIN, "/conversations"))
    page = operator.see(operator.of(ERIN, f"/conversations/{session.session_id}"))
    for part in ("find chicken dinners", "search_recipes", "Lemon chicken", "“number 2”: Chicken curry"):
        assert part in page
    assert "Nothing was said." in operator.see(operator.of(ERIN, f"/conversations/{session.session_id}"), first=9)


@pytest.mark.spec("U-4", "I-4")
def test_instructions_are_added_changed_switched_off_and_deleted(memory, operator):
    place = operator.of(ERIN, "/instructions")
    operator.do(place, text="call me Dani", priority="7")
    [made] = memory.instructions.list_instructions(ERIN)
    operator.do(f"{place}/{made.id}", text="call me Dan", priority="9")
    [changed] = memory.instructions.list_instructions(ERIN, active_only=False)
    assert (changed.text, changed.priority, changed.active) == ("call me Dan", 9, False)
    assert "call me Dan" in operator.see(place)
    operator.do(f"{place}/{made.id}/remove")
    assert memory.instructions.list_instructions(ERIN, active_only=False) == []
    assert "priority" in operator.do(place, status=422, text="x", priority="11").text
    assert operator.post(place, text="x", condition="import os").status_code == 422


@pytest.mark.spec("U-4", "P-2", "P-3")
def test_consent_is_given_for_a_person_and_their_data_handed_over(memory, operator):
    place = operator.of(ERIN, "/privacy")
    memory.service.remember(ERIN, "I like tea")
    operator.do(f"{place}/consent", name="extraction", allowed="yes")
    assert memory.consent.of(ERIN).extraction.allowed is True
    assert operator.post(f"{place}/consent", name="everything", allowed="yes").status_code == 422
    exported = operator.do(f"{place}/export", status=200)
    assert exported.json()["format_version"]
    assert "I like tea" in exported.text
    actions = {(entry.action, entry.actor) for entry in memory.audit.newest(100)}
    assert any(action == "data.exported" and actor.startswith("operator ") for action, actor in actions)


@pytest.mark.spec("U-4", "P-4")
def test_an_erasure_needs_the_word_and_can_be_undone(memory, operator):
    memory.service.remember(ERIN, "I like tea")
    place = operator.of(ERIN, "/privacy")
    assert "nothing was erased" in operator.do(f"{place}/erase", status=422, word="yes").text
    assert memory.service.count(ERIN) == 1
    receipt = operator.do(f"{place}/erase", status=200, word="erase").text
    assert "can be undone" in receipt
    assert memory.service.count(ERIN) == 0
    undoable = memory.erasure.can_restore(ERIN)
    assert f"people/erasures/{undoable.id}/restore" in operator.see(place)
    operator.do(f"people/erasures/{undoable.id}/restore")
    assert memory.service.count(ERIN) == 1


@pytest.mark.spec("U-4", "P-5")
def test_the_audit_log_is_shown(memory, operator):
    memory.service.remember(ERIN, "I like tea")
    page = operator.see("audit")
    assert "memory.stored" in page
    assert "tea" not in page


@pytest.mark.spec("A-2", "A-3", "U-4")
def test_figures_of_everybody_and_of_one_are_shown(memory, operator):
    memory.service.remember(ERIN, "I like tea", category="food")
    memory.service.recall(ERIN, "tea")
    assert '1</strong><span class="soft">people' in operator.see()
    assert "food" in operator.see(operator.of(ERIN, "/advice"))
    assert "p95" in operator.see("performance")
    assert operator.get("", days=3).status_code == 422


@pytest.mark.spec("M-14", "U-4")
def test_a_stopped_database_is_said_on_the_page(memory, operator, monkeypatch):
    from langmem_plugin.errors import StoreUnavailable

    def stopped(*_, **__):
        raise StoreUnavailable("the database does not answer")

    monkeypatch.setattr(type(memory.database), "read", stopped)
    page = operator.see("people", status=503)
    assert "cannot be reached" in page
    assert "does not answer" not in page


@pytest.mark.spec("U-4", "P-6", "P-5")
def test_a_picture_that_was_sent_is_shown_to_whoever_may_read_the_conversation_and_noted(memory, operator):
    block = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}"}}
    memory.sessions.record(ERIN, HumanMessage([{"type": "text", "text": "Look"}, block]))
    memory.sessions.add_message(JASON, "user", "hello")
    [session], [other] = memory.sessions.sessions(ERIN), memory.sessions.sessions(JASON)
    page = operator.see(operator.of(ERIN, f"/conversations/{session.session_id}"))
    [address] = set(re.findall(r'src="/console/(people/[^"]+/pictures/[0-9a-f]{64})"', page))
    picture = operator.get(address)
    assert (picture.status_code, picture.headers["content-type"], picture.content) == (200, "image/png", PNG)
    assert picture.headers["cache-control"] == "no-store"
    assert memory.audit.newest(1)[0].subject == session.session_id
    digest = address.rpartition("/")[2]
    for wrong in (
        operator.of(JASON, f"/conversations/{session.session_id}/pictures/{digest}"),
        operator.of(JASON, f"/conversations/{other.session_id}/pictures/{digest}"),
        operator.of(ERIN, f"/conversations/{session.session_id}/pictures/{'0' * 64}"),
    ):
        assert operator.get(wrong).status_code == 404


@pytest.mark.spec("U-4")
def test_static_files_are_kept_for_a_year_under_the_address_of_their_content_alone(memory, operator):
    addresses = set(re.findall(r'(?:href|src)="(/look/[^"]+)"', operator.see("people")))
    assert len(addresses) >= 4
    for address in addresses:
        kept = operator.client.get(address)
        assert (kept.status_code, kept.headers["cache-control"]) == (200, "public, max-age=31536000, immutable")
        name = address.rpartition("/")[2]
        for other in (f"/look/000000000000/{name}", f"/look/{name}"):
            now = operator.client.get(other)
            assert (now.status_code, now.headers["cache-control"], now.content) == (200, "no-store", kept.content)


@pytest.mark.spec("U-4", "C-13")
def test_what_was_changed_lately_is_listed_and_each_change_is_undone(memory, operator):
    assert "Nothing was changed lately" in operator.see(operator.of(ERIN, "/recent"))
    moved = memory.service.remember(ERIN, "I live in Haifa")
    gone = memory.service.remember(ERIN, "I like tea")
    memory.service.update(ERIN, moved.id, text="I live in Eilat")
    memory.service.forget(ERIN, gone.id)
    page = operator.see(operator.of(ERIN, "/recent"))
    assert "I live in Haifa" in page
    assert "I live in Eilat" in page
    assert "I like tea" not in page
    for action in re.findall(r'action="/console/([^"]+/restore)"', page):
        operator.do(action)
    assert {each.text for each in memory.service.list_memories(ERIN)} >= {"I like tea", "I live in Haifa"}
