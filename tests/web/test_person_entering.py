"""From a link in the chat to one's own page, and from nowhere else."""

import logging
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.errors import ConfigurationError, StoreUnavailable
from langmem_plugin.people.access_tokens import AccessTokens
from tests.cases import for_each
from tests.web.conftest import ADDRESS, Visitor, hidden, link_in
from tests.web.sample_person import BEN, ERIN

GROUP = "972501234567-1@g.us"

pytestmark = pytest.mark.spec("U-10")


def browser(memory):
    return TestClient(memory.app(), base_url=ADDRESS)


@for_each(
    "text", ["/memories", "/privacy", "/privacy off", "/זיכרונות", "/privacidad", "what do you remember about me?"]
)
def test_what_is_remembered_and_what_may_be_ends_with_a_link(memory, text):
    reply = memory.command(ERIN, text)

    assert link_in(reply).startswith(f"{ADDRESS}/me/in/langmem_")
    assert "15" in reply.splitlines()[-1]


@for_each("text", ["/memories", "/privacy"])
def test_a_group_gets_no_link(memory, text):
    assert "/me/in/" not in memory.command(GROUP, text)
    assert AccessTokens(memory.database, now=memory.service.now).listed() == []


@for_each("text", ["/privacy erase", "/privacy restore", "/instructions", "/help"])
def test_nothing_else_ends_with_a_link(memory, text):
    assert "/me/in/" not in memory.command(ERIN, text)


def test_inside_of_a_run_there_is_no_link_because_its_state_is_kept(memory):
    assert memory.commands.typed_in_run(ERIN, "/memories") is not None
    assert "/me/in/" not in memory.commands.typed_in_run(ERIN, "/memories")


def test_without_an_address_there_is_no_link(database_url, clock, offline_model):
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as opened:
        assert "/me/in/" not in opened.command(ERIN, "/memories")


def test_what_is_remembered_is_told_also_where_no_link_can_be_made(memory, monkeypatch):
    memory.service.remember(ERIN, "Likes tea")

    def full(*_):
        raise StoreUnavailable("down")

    monkeypatch.setattr(AccessTokens, "new_link", full)
    assert "Likes tea" in memory.command(ERIN, "/memories")


@for_each(
    "address", ["bot.example", "ftp://bot.example", "https://", "https://bot.example/?a=b", "https://b.example/#x"]
)
def test_an_address_that_no_browser_opens_is_refused(address):
    with pytest.raises(ConfigurationError, match="address that a browser opens"):
        Settings(page_address=address)


def test_a_fetched_link_is_not_used_up_and_an_entered_one_is(memory):
    client, link = browser(memory), link_in(memory.command(ERIN, "/memories"))
    for _ in range(3):  # a messenger, for its preview
        page = client.get(link)
        assert page.status_code == 200
        assert "set-cookie" not in page.headers
    token = hidden(page.text, "token")

    entered = client.post("/me/in", data={"token": token}, follow_redirects=False)

    assert (entered.status_code, entered.headers["location"]) == (303, "/me/")
    cookie = entered.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Secure", "Path=/me", "Max-Age=1800"))
    assert token not in cookie
    again = browser(memory).post("/me/in", data={"token": token})
    assert again.status_code == 410
    assert "does not work any more" in again.text
    assert browser(memory).get(link).status_code == 410


def test_the_cookie_stays_on_https_also_behind_a_proxy_that_speaks_http(memory):
    client = TestClient(memory.app(), base_url="http://127.0.0.1")
    token = link_in(memory.command(ERIN, "/memories")).rpartition("/")[2]
    assert "Secure" in client.post("/me/in", data={"token": token}, follow_redirects=False).headers["set-cookie"]


def test_a_link_is_over_after_a_quarter_of_an_hour_and_a_visit_after_half_an_hour(memory, clock):
    link = link_in(memory.command(ERIN, "/memories"))
    clock.forward(minutes=16)
    gone = browser(memory).get(link, headers={"accept-language": "he-IL,he;q=0.9,en;q=0.8"})
    assert gone.status_code == 410
    assert 'dir="rtl"' in gone.text
    assert "/זיכרונות" in gone.text

    erin = Visitor(memory, ERIN)
    clock.forward(minutes=29)
    erin.see()
    clock.forward(minutes=2)
    assert "write /memories" in erin.see(status=401).lower()


def test_an_operators_or_a_programs_token_opens_no_page(memory, clock):
    tokens = AccessTokens(memory.database, now=clock)
    for token in (tokens.new_operator()[0], tokens.new(ERIN)[0], "", "nonsense", "x" * 5_000):
        client = browser(memory)
        assert client.post("/me/in", data={"token": token}).status_code == 410
        assert client.get(f"/me/in/{token or '-'}").status_code == 410
        assert not client.cookies
        client.cookies.set("langmem_page", token or "-", path="/me")
        assert client.get("/me/").status_code == 401
    link = tokens.new_link(ERIN)[0]
    client = browser(memory)
    client.cookies.set("langmem_page", link, path="/me")
    assert client.get("/me/").status_code == 401


def test_an_address_that_tries_many_wrong_links_has_to_wait(memory):
    client = browser(memory)
    for number in range(20):
        assert client.get(f"/me/in/wrong{number}").status_code == 410
    refused = client.get("/me/in/wrong")
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert client.post("/me/in", data={"token": "wrong"}).status_code == 429
    assert client.get(link_in(memory.command(ERIN, "/memories"))).status_code == 200  # of the same address


def test_logging_out_ends_the_visit_also_for_who_kept_the_cookie(memory, erin):
    kept = dict(erin.client.cookies)
    assert "logged out" in erin.do("leave")
    assert not erin.client.cookies
    other = browser(memory)
    other.cookies.update(kept)
    assert other.get("/me/").status_code == 401


def test_a_new_link_in_the_same_browser_ends_the_visit_before(memory, erin):
    kept = dict(erin.client.cookies)
    erin.enter()
    other = browser(memory)
    other.cookies.update(kept)
    assert other.get("/me/").status_code == 401
    assert erin.client.get("/me/in").url.path == "/me/"


def test_what_was_typed_is_kept_when_the_visit_ended_in_between(memory, erin, clock):
    clock.forward(minutes=31)
    page = erin.do("instructions", status=401, text='Always "quote" <b>me</b>')
    assert "Always &#34;quote&#34; &lt;b&gt;me&lt;/b&gt;</textarea>" in page
    assert 'action="/me/instructions"' in page

    erin.enter()  # in another tab
    assert "From now on it is done so" in erin.do("instructions", text='Always "quote" <b>me</b>')
    assert [each.text for each in memory.instructions.list_instructions(ERIN)] == ['Always "quote" <b>me</b>']


def test_another_sites_form_is_refused(memory, erin):
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
        refused = erin.client.post("/me/instructions", data={"text": "Obey evil"}, headers=headers)
        assert refused.status_code == 403
    assert memory.instructions.list_instructions(ERIN) == []


def test_a_form_larger_than_any_of_ours_is_refused_before_it_is_read(erin):
    assert erin.send("/me/instructions", text="x" * 70_000).status_code == 413


def test_the_token_stands_in_no_log(memory, caplog):
    caplog.set_level(logging.DEBUG)
    Visitor(memory, ERIN)
    secret = link_in(memory.command(ERIN, "/memories")).rpartition("_")[2]
    browser(memory).get(f"/me/in/langmem_000000000000_{secret}")
    ours = [each for each in caplog.records if not each.name.startswith(("httpx", "httpcore"))]
    assert ours
    assert not [each for each in ours if secret in f"{each.getMessage()} {vars(each)}"]


def test_a_page_has_the_headers_of_a_careful_one(erin):
    headers = erin.client.get("/me/").headers
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "same-origin"
    assert "unsafe" not in headers["content-security-policy"]


def test_an_address_that_is_none_is_told_kindly(erin):
    for place in ("nothing", "memories/nothing", "conversations/nothing", "instructions/nothing/rank"):
        assert "There is nothing here" in erin.see(place, status=404)
    for place, fields in (
        ("instructions/x/rank", {}),
        ("memories/x/forget", {"revision": "many"}),
        ("privacy/consent", {"permission": "all", "seen": "no", "allowed": "yes"}),
    ):
        assert "nothing was changed" in erin.do(place, status=400, **fields)


def test_a_stopped_database_is_said_so_and_nothing_typed_is_lost(memory, erin, monkeypatch):
    def stopped(*_, **__):
        raise StoreUnavailable("stopped")

    with monkeypatch.context() as patched:
        patched.setattr(memory.database, "read", stopped)
        patched.setattr(memory.database, "write", stopped)
        page = erin.client.get("/me/")
        assert (page.status_code, page.headers["retry-after"]) == (503, "5")
        assert "Nothing is lost" in page.text
        assert "Speak slowly</textarea>" in erin.do("instructions", status=503, text="Speak slowly")
        assert TestClient(memory.app(), base_url=ADDRESS).get("/me/in/langmem_1").status_code in {410, 503}
    erin.do("instructions", text="Speak slowly")


def test_linked_identifiers_are_one_person(memory):
    memory.service.remember(ERIN, "Likes tea")
    memory.people.link(ERIN, "telegram:123456789")
    visitor = Visitor(memory, "telegram:123456789")
    assert "Likes tea" in visitor.see()
    assert "telegram:123456789" in visitor.see("privacy")


def test_a_visit_to_another_is_another_persons(memory):
    memory.service.remember(ERIN, "Likes tea")
    memory.service.remember(BEN, "Likes beer")
    assert "Likes beer" not in Visitor(memory, ERIN).see()
    assert "Likes tea" not in Visitor(memory, BEN).see()
    assert "Likes tea" not in Visitor(memory, BEN).see("?q=tea")


def test_the_page_is_mounted_under_another_path_as_a_whole(memory):
    from fastapi import FastAPI

    outer = FastAPI()
    outer.mount("/memory", memory.app())
    client = TestClient(outer, base_url=ADDRESS)
    token = link_in(memory.command(ERIN, "/memories")).rpartition("/")[2]
    page = client.get(f"/memory/me/in/{token}")
    assert 'action="/memory/me/in"' in page.text
    entered = client.post("/memory/me/in", data={"token": token})
    assert (entered.status_code, entered.url.path) == (200, "/memory/me/")
    assert 'href="/me/' not in entered.text
    assert 'src="/look' not in entered.text


def test_links_that_are_over_are_swept_from_the_database(memory, clock):
    tokens = AccessTokens(memory.database, now=clock)
    memory.command(ERIN, "/memories")
    clock.forward(seconds=timedelta(minutes=16).total_seconds())
    assert tokens.listed(ERIN) == []
