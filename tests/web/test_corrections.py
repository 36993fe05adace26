"""A text that is put right by whoever reads it: the old one is history, and its words vouch for nothing else."""

import pytest

from langmem_plugin.people.access_tokens import AccessTokens
from tests.cases import for_each
from tests.web.conftest import ADDRESS, hidden
from tests.web.console.conftest import Operator
from tests.web.sample_person import ERIN

QUOTE, NEW = "I live in Haifa, by the port", "Likes the sea in Eilat"


@pytest.fixture
def held(memory, clock):
    made = memory.service.remember(
        ERIN, "Lives in Haifa", quote=QUOTE, source_type="extracted_from_chat", tags=("home",)
    )
    clock.forward(minutes=5)
    return made


def by_api(memory, held, token):
    headers = {"authorization": f"Bearer {token[0]}", "if-match": f'"{held.revision}"'}
    if not token[1].identifier:
        headers["langmem-phone"] = ERIN
    client = Operator(memory).client
    answer = client.patch(f"/api/memory/{held.id}", json={"fact": NEW}, headers=headers)
    assert answer.status_code == 200, answer.text
    fact = answer.json()["data"]["memory"]
    assert (fact["id"], fact["quote"], fact["is_by_operator"]) == (held.id, None, not token[1].identifier)
    history = client.get(f"/api/memory/{held.id}/history", headers=headers).json()["data"]["history"]
    assert [(each["fact"], each["quote"]) for each in history] == [("Lives in Haifa", QUOTE), (NEW, None)]


def by_form(memory, held):
    operator = Operator(memory)
    place = operator.of(ERIN, f"/memories/{held.id}")
    operator.do(place, revision=held.revision, text=NEW, tags="home")
    page = operator.see(place)
    assert "an operator" in page
    assert page.index("What replaced what") < page.index(QUOTE)


@pytest.mark.slow
@pytest.mark.spec("U-3", "U-4", "W-6")
@for_each("door", ["operator's PATCH", "person's PATCH", "form", "person's page"])
def test_an_edit_supersedes_says_who_wrote_it_and_leaves_the_old_words_with_the_old_text(memory, erin, held, door):
    tokens = AccessTokens(memory.database, now=memory.service.now)
    match door:
        case "operator's PATCH":
            by_api(memory, held, tokens.new_operator())
        case "person's PATCH":
            by_api(memory, held, tokens.new(ERIN))
        case "form":
            by_form(memory, held)
        case _:
            erin.do(f"memories/{held.id}/correct", revision=hidden(erin.see(), "revision"), text=NEW)
    is_persons = door.startswith("person")
    [now] = memory.service.list_memories(ERIN)
    assert (now.text, now.quote, now.session_id, now.tags) == (NEW, None, None, ("home",))
    assert now.is_by_operator is not is_persons
    assert memory.provenance.why(ERIN, now.id).quote is None
    [old] = memory.service.list_memories(ERIN, statuses=["superseded"])
    assert (old.text, old.quote, old.superseded_by) == ("Lives in Haifa", QUOTE, now.id)
    page = erin.see(f"memories/{now.id}")
    assert QUOTE not in page
    assert ("those who run this service" in page) is not is_persons
    assert '<s dir="auto">Lives in Haifa</s>' in page
    assert not [each for each in memory.service.search(ERIN, "where do I live?") if "Haifa" in each.memory.text]


@pytest.mark.spec("W-6")
def test_an_edit_reads_the_new_text_so_that_later_facts_replace_what_it_says_now(memory, held):
    memory.service.update(ERIN, held.id, text=NEW)
    memory.service.remember(ERIN, "Lives in Rome")
    assert {each.text for each in memory.service.list_memories(ERIN)} == {NEW, "Lives in Rome"}
    memory.service.update(ERIN, held.id, text="Lives in Oslo")
    assert [each.text for each in memory.service.list_memories(ERIN)] == ["Lives in Oslo"]


@pytest.mark.spec("U-6", "P-7")
@for_each(
    ("headers", "status"),
    [
        ({"origin": "http://bot.lan:8420"}, 303),
        ({"origin": "null", "referer": "http://bot.lan:8420/me/in/x"}, 303),
        ({}, 303),
        ({"sec-fetch-site": "same-origin"}, 303),
        ({"origin": "null"}, 403),
        ({"origin": "null", "referer": "http://evil.example/"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"sec-fetch-site": "cross-site", "origin": "http://bot.lan:8420"}, 403),
    ],
)
def test_a_form_is_taken_from_its_own_page_also_by_plain_http_and_old_browsers(memory, headers, status):
    from starlette.testclient import TestClient

    token, _ = AccessTokens(memory.database, now=memory.service.now).new_link(ERIN)
    client = TestClient(memory.app(), base_url="http://bot.lan:8420")
    page = client.get(f"/me/in/{token}")
    assert page.headers["referrer-policy"] == "same-origin"
    entered = client.post("/me/in", data={"token": token}, headers=headers, follow_redirects=False)
    assert entered.status_code == status
    if "http://bot.lan" in str(headers) and status < 400:  # the page is configured to be reached by https
        assert client.get("/me/").status_code == 200


@pytest.mark.spec("U-10")
def test_who_never_wrote_reads_the_page_in_the_language_of_their_browser(memory):
    from starlette.testclient import TestClient

    memory.service.remember(ERIN, "Likes tea")
    token, _ = AccessTokens(memory.database, now=memory.service.now).new_link(ERIN)
    client = TestClient(memory.app(), base_url=ADDRESS)
    headers = {"accept-language": "fr, en;q=0.2, es-MX;q=0.8", "sec-fetch-site": "same-origin"}
    assert 'lang="es"' in client.get(f"/me/in/{token}", headers=headers).text
    entered = client.post("/me/in", data={"token": token}, headers=headers)
    assert '<html lang="es"' in entered.text
    memory.people.set_language(ERIN, "he")
    assert '<html lang="he" dir="rtl"' in client.get("/me/", headers=headers).text
