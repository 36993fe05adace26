"""Who is who in the console, links to hand over, advice that is followed, and figures to download."""

import csv
import re

import pytest

from tests.web.console.conftest import ERIN, JASON, Operator, hidden


@pytest.mark.spec("U-4", "C-20")
def test_two_people_are_merged_after_a_look_and_parted_again(memory, operator):
    memory.service.remember(ERIN, "I like tea")
    memory.service.remember(JASON, "I like coffee")
    place = operator.of(ERIN)
    asked = operator.do(f"{place}/link", status=200, identifier=JASON).text
    assert "Make them one person" in asked
    assert JASON[1:] not in asked
    assert memory.people.resolve(JASON) == JASON
    operator.do(f"{place}/merge", other=hidden(asked, "other"))
    assert memory.people.resolve(JASON) == ERIN
    operator.do(f"{place}/unlink", identifier=hidden(operator.see(place), "identifier"))
    assert [each.text for each in memory.service.list_memories(JASON)] == ["I like coffee"]
    assert [each.text for each in memory.service.list_memories(ERIN)] == ["I like tea"]
    actions = {entry.action: entry.actor for entry in memory.audit.newest(50)}
    assert actions["person.merged"] == actions["person.parted"] == f"operator {_console(operator)}"


@pytest.mark.spec("U-4", "C-20")
def test_an_identifier_is_linked_at_once_and_unlinked(memory, operator):
    memory.service.remember(ERIN, "I like tea")
    place = operator.of(ERIN)
    operator.do(f"{place}/link", identifier="telegram:12345")
    assert memory.people.resolve("telegram:12345") == ERIN
    assert "already" in operator.do(f"{place}/link", status=422, identifier="telegram:12345").text
    assert "type the identifier" in operator.do(f"{place}/link", status=422, identifier=" ").text
    operator.do(f"{place}/unlink", identifier=hidden(operator.see(place), "identifier"))
    assert memory.people.identifiers(ERIN) == [ERIN]
    assert operator.post(f"{place}/unlink", identifier="made up").status_code == 404


@pytest.mark.spec("U-4", "P-6")
def test_a_link_to_hand_over_is_shown_once_and_opens_this_persons_page_alone(memory, operator):
    memory.service.remember(ERIN, "I like tea")
    page = operator.do(f"{operator.of(ERIN)}/page-link", status=200).text
    token = re.search(r"https://console\.example/me/in/(langmem_\w+)", page)[1]
    assert token not in operator.see(operator.of(ERIN))
    access = operator.tokens.access_by(token, "link")
    assert access.identifier == ERIN
    noted = [each for each in memory.audit.newest(50) if each.action == "token.made"]
    assert [each.subject for each in noted] == [access.token_id]


@pytest.mark.spec("U-4", "A-3")
def test_advice_is_followed_by_what_it_proposes_and_no_other_is(memory, clock):
    unsure = memory.service.remember(ERIN, "I like jazz", confidence=0.6)
    unused = memory.service.remember(ERIN, "My dentist is Dr. Levi")
    over = memory.service.remember(ERIN, "I am in Rome", valid_to=clock())
    clock.forward(days=91)
    operator = Operator(memory)
    place = operator.of(ERIN, "/advice")
    operator.see(place)
    for kind, held in (("stale", over), ("low_confidence", unsure), ("unused", unused)):
        operator.do(place, kind=kind, memory_id=held.id)
    assert memory.service.count(ERIN) == 0
    assert [each.id for each in memory.confirmations.waiting(ERIN)] == [unsure.id]
    assert "load the page again" in operator.do(place, status=422, kind="unused", memory_id=unused.id).text


@pytest.mark.spec("A-2", "U-4")
def test_figures_are_downloaded_as_a_table_and_as_json(memory, operator):
    memory.service.remember(ERIN, "I like tea", category="food")
    memory.service.remember(ERIN, "I like coffee", category="=1+1")
    answer = operator.get(operator.of(ERIN, "/analytics.csv"))
    assert "attachment" in answer.headers["content-disposition"]
    assert ["category_distribution.food.count", "1"] in list(csv.reader(answer.text.splitlines()))
    assert "\n=1" not in answer.text.replace(",", "\n")
    assert operator.get("analytics.json").json()["summary"]["people"] == 1
    assert operator.get("analytics.exe").status_code == 422


@pytest.mark.spec("U-4", "W-6")
def test_a_memory_leads_to_the_message_it_came_from(memory, operator):
    memory.sessions.add_message(ERIN, "user", "hello")
    memory.sessions.add_message(ERIN, "user", "I drive a Kia now")
    [session] = memory.sessions.sessions(ERIN)
    stored = memory.service.remember(ERIN, "Drives a Kia", quote="I drive a Kia now", session_id=session.session_id)
    page = operator.see(operator.of(ERIN, f"/memories/{stored.id}"))
    link = re.search(r'href="/console/(people/[^"]+/conversations/[^"]+)#(said-[^"]+)"', page)
    assert f'id="{link[2]}"' in operator.see(link[1])


@pytest.mark.spec("U-4", "I-4")
def test_an_instruction_is_switched_off_and_on_by_itself(memory, operator):
    made = memory.instructions.add(ERIN, "call me Dani", priority=7)
    place = operator.of(ERIN, f"/instructions/{made.id}/switch")
    for active in (False, True):
        operator.do(place, active=str(active).lower())
        [held] = memory.instructions.list_instructions(ERIN, active_only=False)
        assert (held.active, held.priority, held.text) == (active, 7, "call me Dani")


def _console(operator):
    return operator.client.cookies["langmem_console"].split("_")[1]
