"""Who comes into the operator's console, and what it shows of people before anybody asked for it."""

import logging

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from langmem_plugin.web.app_context import Served
from langmem_plugin.web.console.console_app_and_sign_in import console_app
from tests.web.console.conftest import ERIN, JASON, Operator

PLACES = ("", "people", "recent", "jobs", "performance", "audit", "analytics.csv", "analytics.json")
OF_PERSON = (
    "",
    "/memories",
    "/waiting",
    "/categories",
    "/instructions",
    "/conversations",
    "/privacy",
    "/advice",
    "/analytics.csv",
    "/analytics.json",
)


@pytest.mark.spec("U-4", "P-6")
def test_without_signing_in_every_page_and_every_form_leads_to_the_door(memory, operator):
    memory.service.remember(ERIN, "I like tea")
    stranger = TestClient(memory.app(), base_url="https://console.example", follow_redirects=False)
    served = Served(memory, operator.tokens)
    routes = [each for each in _routes(console_app(served)) if not each.path.startswith("/sign-")]
    assert len(routes) > 25
    for each in routes:
        path = each.path
        path = path.replace("{form}", "csv")
        for name in ("ref", "memory_id", "session_id", "instruction_id", "category_id"):
            path = path.replace(f"{{{name}}}", operator.of(ERIN).removeprefix("people/") if name == "ref" else "x")
        for method in each.methods:
            fields = {"revision": "1", "name": "n", "allowed": "yes", "word": "erase", "ids": "x"}
            answer = stranger.request(method, f"/console{path}", data=fields if method == "POST" else None)
            assert answer.status_code == 303, (method, path, answer.text)
            assert answer.headers["location"] == "/console/sign-in"
    assert [each.text for each in memory.service.list_memories(ERIN)] == ["I like tea"]


def _routes(app):
    found = []

    def look(router, prefix):
        for each in router.routes:
            if isinstance(each, APIRoute):
                found.append(each)
            elif hasattr(each, "original_router"):
                look(each.original_router, prefix)

    look(app, "")
    return found


@pytest.mark.spec("U-4")
def test_only_an_operators_token_opens_it_and_taken_back_it_shuts_the_browser_out(memory, operator):
    for token in ("", "langmem_1_2", operator.tokens.new(ERIN)[0], operator.tokens.new_link(ERIN)[0]):
        assert operator.sign_in(token).status_code == 403
    operator.see("people")
    operator.tokens.revoke(operator.access.token_id)
    assert operator.get("people").status_code == 303


@pytest.mark.spec("U-4")
def test_a_signed_in_browser_is_forgotten_after_eight_hours_and_at_signing_out(memory, operator, clock):
    other = Operator(memory)
    cookie = other.client.cookies["langmem_console"]
    other.do("sign-out")
    other.client.cookies.set("langmem_console", cookie, domain="console.example", path="/console")
    assert other.get("people").status_code == 303
    clock.forward(hours=8)
    assert operator.get("people").status_code == 303


@pytest.mark.spec("U-4")
def test_who_guesses_tokens_is_slowed_down(operator):
    answers = [operator.sign_in(f"langmem_{number:012x}_{'0' * 64}").status_code for number in range(22)]
    assert answers == [403] * 20 + [429] * 2
    assert operator.sign_in(operator.token).status_code == 303


@pytest.mark.spec("U-4")
def test_the_cookie_is_for_this_door_alone_and_no_script_or_other_site_has_it(operator):
    cookie = operator.sign_in(operator.token).headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Secure", "Path=/console"):
        assert part in cookie
    forged = operator.client.post(
        "/console/people/find", data={"identifier": ERIN}, headers={"sec-fetch-site": "cross-site"}
    )
    assert forged.status_code == 403


@pytest.mark.spec("U-4", "P-5", "P-6")
def test_no_page_and_no_address_holds_a_phone_until_it_is_asked_for_and_then_it_is_noted(memory, operator, caplog):
    caplog.set_level(logging.DEBUG)
    memory.service.remember(ERIN, "I like tea")
    memory.sessions.add_message(ERIN, "user", "hello")
    for place in PLACES + tuple(operator.of(ERIN, each) for each in OF_PERSON):
        assert ERIN[1:] not in operator.see(place)
        assert ERIN[1:] not in place
    assert not any(entry.subject == "phone" for entry in memory.audit.newest(50))
    revealed = operator.do(operator.of(ERIN, "/reveal"), status=200).text
    assert ERIN in revealed
    assert [entry.subject for entry in memory.audit.newest(50)].count("phone") == 1
    assert ERIN[1:] not in caplog.text


@pytest.mark.spec("P-5")
def test_whatever_an_operator_is_shown_of_a_person_is_noted(memory, operator):
    stored = memory.service.remember(ERIN, "I like tea")
    for place in (*OF_PERSON, f"/memories/{stored.id}"):
        before = len(memory.audit.newest(200))
        operator.see(operator.of(ERIN, place))
        noted = memory.audit.newest(200)[before:]
        read = [entry.actor for entry in noted if entry.action == "operator.read"]
        assert read, place
        assert all(actor.startswith("operator ") for actor in read), place


@pytest.mark.spec("P-6")
def test_what_is_anothers_is_not_found_under_this_person(memory, operator):
    stored = memory.service.remember(JASON, "I like coffee")
    memory.sessions.add_message(JASON, "user", "hello")
    [session] = memory.sessions.sessions(JASON)
    for place in (f"/memories/{stored.id}", f"/conversations/{session.session_id}"):
        assert "coffee" not in operator.see(operator.of(ERIN, place), status=404)
    operator.do(operator.of(ERIN, f"/memories/{stored.id}/forget"), status=404)
    assert [each.text for each in memory.service.list_memories(JASON)] == ["I like coffee"]


@pytest.mark.spec("U-4")
def test_an_address_that_was_not_made_here_is_no_page(operator):
    for ref in ("x", "+972501234567", "A" * 80, "%F0%9F", "é"):
        assert operator.get(f"people/{ref}").status_code == 404
