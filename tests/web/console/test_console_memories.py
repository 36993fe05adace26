"""Memories in the console: found, told, put right, forgotten, several at once."""

import html
import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.web.console.conftest import ERIN, hidden

TEXTS = ("I am allergic to peanuts", "My dentist is Dr. Levi", "I prefer morning appointments")


@pytest.fixture
def stored(memory):
    return [memory.service.remember(ERIN, text) for text in TEXTS]


@pytest.mark.spec("U-4", "M-7")
def test_a_search_shows_what_fits_and_a_filter_leaves_the_rest_out(memory, operator, stored):
    memory.service.update(ERIN, stored[1].id, category="health", tags=["doctor"], private=True)
    place = operator.of(ERIN, "/memories")
    found = operator.see(place, q="allergic peanuts")
    assert TEXTS[0] in found
    assert TEXTS[1] not in found
    for query in ({"category": "health"}, {"tag": "doctor"}, {"private": "yes"}):
        page = operator.see(place, **query)
        assert TEXTS[1] in page
        assert TEXTS[0] not in page
    assert "Nothing fits." in operator.see(place, type="company")
    assert "no day" in operator.see(place, status=422, **{"from": "yesterday"})
    assert "no day" in operator.see(place, status=422, to="9999-12-31")


@pytest.mark.spec("U-4")
def test_what_is_told_is_stored_as_the_verb_says_and_its_outcome_shown(memory, operator, stored):
    place = operator.of(ERIN, "/memories")
    told = operator.do(place, text="My sister is Dana", fact_type="relationship", category="family", tags="a, b")
    assert "did=stored" in told.headers["location"]
    again = operator.do(place, text="My sister is Dana.")
    assert "did=duplicate" in again.headers["location"]
    [new] = [each for each in memory.service.list_memories(ERIN) if "Dana" in each.text]
    assert (new.fact_type, new.category, new.tags) == ("relationship", "family", ("a", "b"))
    assert "needs a text" in operator.do(place, status=422, text="  ").text


@pytest.mark.spec("U-4", "P-6")
def test_two_who_change_one_memory_lose_nothing(memory, operator, stored):
    place = operator.of(ERIN, f"/memories/{stored[0].id}")
    revision = hidden(operator.see(place), "revision")
    operator.do(place, revision=revision, text="I am allergic to nuts")
    late = operator.do(place, status=409, revision=revision, text="I am allergic to walnuts").text
    assert "I am allergic to nuts" in late
    assert ">I am allergic to walnuts</textarea>" in late
    assert memory.service.get(ERIN, [stored[0].id])[0].text == "I am allergic to nuts"
    operator.do(place, revision=hidden(late, "revision"), text="I am allergic to walnuts")
    assert memory.service.get(ERIN, [stored[0].id])[0].text == "I am allergic to walnuts"


@pytest.mark.spec("U-4")
def test_what_is_forgotten_is_shown_to_nobody_and_can_be_brought_back(memory, operator, stored):
    place = operator.of(ERIN, f"/memories/{stored[0].id}")
    operator.do(f"{place}/forget")
    assert TEXTS[0] not in operator.see(place)
    assert TEXTS[0] not in operator.client.get(f"/console/{operator.of(ERIN, '/memories')}?status=all").text
    operator.do(f"{place}/restore")
    assert TEXTS[0] in operator.see(place)


@pytest.mark.spec("U-4", "W-6")
def test_one_memory_shows_what_it_took_the_place_of(memory, operator):
    old = memory.service.remember(ERIN, "I drive a Mazda")
    new = memory.service.supersede(ERIN, old.id, "I drive a Kia now")
    page = operator.see(operator.of(ERIN, f"/memories/{new.id}"))
    assert "I drive a Mazda" in page
    assert "superseded" in page


@pytest.mark.spec("U-4")
def test_several_are_forgotten_at_once_and_each_is_brought_back_where_it_leads(memory, operator, stored):
    place, ids = operator.of(ERIN, "/memories/forget"), [each.id for each in stored[:2]]
    assert "tick at least one" in operator.do(place, status=422).text
    lately = operator.do(place, ids=[*ids, "nobody's"]).headers["location"].removeprefix("/console/")
    assert [each.text for each in memory.service.list_memories(ERIN)] == [TEXTS[2]]
    for action in re.findall(r'action="/console/([^"]+/restore)"', operator.see(lately)):
        operator.do(action)
    assert memory.service.count(ERIN) == 3


@pytest.mark.spec("U-4", "P-7")
def test_what_a_memory_says_is_text_on_every_page(memory, operator):
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 7*7 }} \u202e"
    stored = memory.service.remember(ERIN, hostile, tags=["<b>"], category="<i>", quote=hostile)
    memory.instructions.add(ERIN, hostile)
    memory.sessions.add_message(ERIN, "user", hostile)
    [session] = memory.sessions.sessions(ERIN)
    for place in (
        *("/memories", f"/memories/{stored.id}", "/categories", "/instructions"),
        f"/conversations/{session.session_id}",
    ):
        page = operator.see(operator.of(ERIN, place))
        for tag in ("<script>alert", "<img src=x", "<b>", "<i>", " 49 "):
            assert tag not in page, place


@pytest.mark.spec("U-4", "W-5")
def test_an_operator_answers_for_a_person_what_waits(memory, operator):
    kept, gone = (memory.service.remember(ERIN, text, status="pending", confidence=0.5) for text in TEXTS[:2])
    page = operator.see(operator.of(ERIN, "/waiting"))
    assert TEXTS[0] in page
    operator.do(operator.of(ERIN, f"/waiting/{kept.id}/confirm"))
    operator.do(operator.of(ERIN, f"/waiting/{gone.id}/decline"))
    assert "Nothing waits." in operator.see(operator.of(ERIN, "/waiting"))
    assert [each.text for each in memory.service.list_memories(ERIN)] == [TEXTS[0]]


@pytest.mark.spec("U-4")
def test_categories_are_made_moved_and_deleted(memory, operator, stored):
    memory.service.update(ERIN, stored[1].id, category="doctors")
    place = operator.of(ERIN, "/categories")
    operator.do(place, name="health", color="#0d9488")
    [health] = memory.service.categories.list_categories(ERIN)
    operator.do(place, name="doctors", parent_id=health.category_id)
    page = operator.see(place)
    assert "#0d9488" in page
    assert "depth-1" in page
    operator.do(f"{place}/{health.category_id}", name="body", color="#000000")
    operator.do(f"{place}/{health.category_id}/remove")
    assert [each.name for each in memory.service.categories.list_categories(ERIN)] == ["doctors"]
    assert operator.post(place, name="x", color="red").status_code == 422


@pytest.mark.spec("U-4")
def test_a_form_changes_what_was_changed_in_it_and_nothing_else(memory, operator, clock):
    memory.people.set_time_zone(ERIN, "Asia/Jerusalem")
    stored = memory.service.remember(
        ERIN, "I park on level 3", tags=["Haifa, Israel", "car"], expires_at=clock() + timedelta(hours=3)
    )
    place = operator.of(ERIN, f"/memories/{stored.id}")
    for text in ("I park on level 4", "I park on level 5"):
        page = operator.see(place)
        shown = {name: html.unescape(hidden(page, name)) for name in ("revision", "tags", "expires_at")}
        operator.do(place, text=text, **shown)
    [now] = memory.service.get(ERIN, [stored.id])
    assert (now.text, now.tags, now.expires_at) == ("I park on level 5", stored.tags, stored.expires_at)
    operator.do(place, revision=now.revision, text=now.text, expires_at="2026-03-09")
    [now] = memory.service.get(ERIN, [stored.id])
    assert now.expires_at == datetime(2026, 3, 9, 22, tzinfo=UTC)  # the day is over in Jerusalem
    assert hidden(operator.see(place), "expires_at") == "2026-03-09"
    assert "is no day" in operator.do(place, status=422, revision=now.revision, text="x", expires_at="9999-12-31").text
