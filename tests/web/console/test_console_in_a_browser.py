"""The console in a real browser: three widths, light and dark, by mouse and by keys alone, with trouble and without.

With LANGMEM_SCREENSHOTS a picture of each page goes into that folder.
"""

import contextlib
import os
import re
import threading
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from langchain_core.messages import AIMessage, ToolMessage

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.web.sealed_person_addresses import PersonRefs
from tests.cases import for_each
from tests.conftest import Clock
from tests.waiting import until
from tests.web.conftest import served_at
from tests.web.sample_person import BEN, ERIN, tell

pytestmark = [pytest.mark.spec("U-4"), pytest.mark.slow]

_OF_PERSON = ("", "/memories", "/memories?view=grid", "/memories/{memory}", "/waiting", "/categories", "/instructions")
_OF_PERSON += ("/conversations", "/conversations/{session}", "/privacy", "/advice")
_PLACES = ("", "people", *("people/{person}" + each for each in _OF_PERSON), "recent", "jobs", "performance", "audit")
_PICTURES = os.environ.get("LANGMEM_SCREENSHOTS")
_EXPECTED = re.compile(
    r"htmx:(?:afterRequest|sendError)|Response Status Error Code (?:422|503)|status of (?:409|422|503)|ERR_INTERNET_DISCONNECTED"
)
_GRAVE = {"serious", "critical"}
_SHOWN = '[{"id":"r1","name":"Lemon chicken"},{"id":"r2","name":"Chicken curry"}]'


class Site:
    """One memory with a whole person in it, behind a real server, and an operator's browser."""

    def __init__(self, memory, address, browser):
        self.memory, self.address, self._browser = memory, address, browser
        self.token, _ = AccessTokens(memory.database, now=memory.service.now).new_operator()
        self.person = PersonRefs(memory.database).ref(ERIN)
        with self._window() as (context, page):
            self.sign_in(page)
            self.signed_in = context.storage_state()

    def sign_in(self, page):
        page.goto(f"{self.address}/console/")
        page.get_by_label("Operator's token").fill(self.token)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Overview").wait_for()

    @contextlib.contextmanager
    def opened(self, place="", width=1280, scheme="light", *, scripts=True):
        """A window that is signed in; nothing may be wrong on its console in the end."""
        with self._window(width, scheme, scripts=scripts, storage_state=self.signed_in) as (_, page):
            page.goto(f"{self.address}/console/{self.at(place)}")
            yield page

    @contextlib.contextmanager
    def _window(self, width=1280, scheme="light", *, scripts=True, **more):
        size = {"width": width, "height": 820}
        context = self._browser.new_context(viewport=size, color_scheme=scheme, java_script_enabled=scripts, **more)
        context.set_default_timeout(60_000)
        page, said = context.new_page(), []
        page.on("console", lambda message: said.append(message.text) if message.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        yield context, page
        context.close()
        drawn = "Applying inline style" if _PICTURES else "$^"  # hides the caret while a picture is taken
        assert [each for each in said if not _EXPECTED.search(each) and drawn not in each] == []

    def at(self, place):
        [session] = [each for each in self.memory.sessions.sessions(ERIN, limit=20) if each.message_counter == 4][:1]
        [held] = self.memory.service.list_memories(ERIN, limit=1)
        return place.format(person=self.person, memory=held.id, session=self.with_tools or session.session_id)

    with_tools = None

    def texts(self):
        return [each.text for each in self.memory.service.list_memories(ERIN, limit=200)]


@pytest.fixture(scope="module")
def site(chromium, offline_model, migrated_file, tmp_path_factory):
    clock = Clock()
    url = f"sqlite:///{tmp_path_factory.mktemp('console') / 'langmem.db'}"
    with PhoneMemory(url, embeddings=offline_model, settings=Settings(sweep_every=None), now=clock) as memory:
        tell(memory, clock)
        home = memory.service.categories.create(ERIN, "home", color="#0d9488")
        memory.service.categories.create(ERIN, "kitchen", color="#7c3aed", parent_id=home.category_id)
        call = {"name": "search_recipes", "args": {"query": "chicken"}, "id": "c1"}
        memory.sessions.add_message(ERIN, "user", "find chicken dinners")
        memory.sessions.record(ERIN, AIMessage("", tool_calls=[call]))
        memory.sessions.record(ERIN, ToolMessage(_SHOWN, tool_call_id="c1", name="search_recipes"))
        memory.sessions.add_message(ERIN, "user", "tell me more about number 2")
        memory.service.remember(BEN, "I like coffee")
        with served_at(lambda _: memory.app()) as address:
            site = Site(memory, address, chromium)
            site.with_tools = memory.sessions.sessions(ERIN, limit=1)[0].session_id
            yield site


@for_each(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_every_page_fits_the_screen_and_can_be_used_by_everybody(site, width, scheme):
    axe = Axe()
    with site.opened(width=width, scheme=scheme) as page:
        for place in _PLACES:
            page.goto(f"{site.address}/console/{site.at(place)}")
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, place
            current = page.locator("nav [aria-current=page]").last
            assert current.evaluate("each => each.getBoundingClientRect().right <= innerWidth + 1"), place
            if width != 1280:
                found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
                grave = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in _GRAVE]
                assert grave == [], place
            if _PICTURES:
                name = re.sub(r"\W+", "-", place.replace("{person}", "")).strip("-") or "overview"
                page.screenshot(path=Path(_PICTURES) / f"{name}-{width}-{scheme}.png")


def test_what_is_typed_is_looked_for_at_once_and_filters_narrow_it(site):
    with site.opened("people/{person}/memories") as page:
        page.evaluate("window.same = true")
        page.get_by_label("Search", exact=True).press_sequentially("penicillin", delay=5)
        page.locator("#found", has_text=re.compile(r"\d found")).wait_for()
        until(lambda: "penicillin" in page.locator(".memory .words").first.inner_text())  # its first letters find more
        page.get_by_label("Search", exact=True).fill("")
        page.get_by_label("Type").last.select_option("company")
        page.locator("#found", has_text="2 memories").wait_for()
        assert page.locator(".memory").count() == 2
        assert page.evaluate("window.same") is True
        assert "type=company" in page.url
        page.get_by_text("Grid", exact=True).click()
        page.locator("#found .grid").wait_for()


def test_many_are_ticked_forgotten_and_brought_back(site):
    before = sorted(site.texts())
    with site.opened("people/{person}/memories?type=note", width=390) as page:
        page.get_by_label("Tick all on this page").check()
        many = page.locator(".memory").count()
        page.get_by_text(f"{many} ticked").wait_for()
        bar = page.locator("#bulk").bounding_box()
        assert bar["y"] + bar["height"] <= 820  # in sight, wherever the list ends
        page.get_by_role("button", name="Forget those ticked").click()
        page.locator("h1", has_text="Recently changed").wait_for()
        assert len(site.texts()) == len(before) - many
        for _ in range(many):
            page.get_by_role("button", name="Bring it back").first.click()
            page.get_by_text("It is remembered again.").wait_for()
            page.go_back()
            page.locator("h1", has_text="Recently changed").wait_for()
        assert sorted(site.texts()) == before


def test_categories_instructions_and_what_waits(site):
    with site.opened("people/{person}/categories") as page:
        assert page.locator(".depth-1").inner_text().startswith("kitchen")
        page.locator(".tabs").get_by_role("link", name="Instructions").click()
        switch = page.get_by_role("switch", name="Never use emojis")
        switch.click()
        page.locator("[role=switch][aria-checked=false]", has_text="Never use emojis").wait_for()
        orders = site.memory.instructions.list_instructions(ERIN, active_only=False)
        assert [each.active for each in orders if "emojis" in each.text] == [False]
        page.locator(".tabs").get_by_role("link", name="Waiting").click()
        page.locator("h1", has_text="Waiting for their word").wait_for()
        page.go_back()
        page.locator("h1", has_text="Standing instructions").wait_for()
        page.go_forward()
        page.get_by_role("button", name=re.compile("Yes.*Starts a new job")).click()
        page.locator("main:not(:has-text('Starts a new job'))").wait_for()
        page.get_by_role("button", name=re.compile("No.*Plans to buy")).click()
        page.get_by_text("Nothing waits.").wait_for()
        assert "Starts a new job in April" in site.texts()
        assert "Plans to buy a bicycle for Mia" not in site.texts()


def test_a_conversation_with_tools_and_the_way_from_a_memory_to_its_message(site):
    with site.opened("people/{person}/conversations/{session}") as page:
        assert "search_recipes query chicken" in " ".join(page.locator(".call").first.inner_text().split())
        assert "“number 2”: Chicken curry" in page.locator("p.meant").inner_text()
        page.locator(".places").get_by_role("link", name="Overview").click()
        page.locator("h1", has_text="Overview").wait_for()
        page.locator(".chart .fill").nth(3).wait_for(state="attached")
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV").click()
        assert download.value.suggested_filename == "analytics.csv"


def test_two_people_are_made_one_after_a_look(site):
    with site.opened("people/{person}", width=820) as page:
        page.get_by_label("Another identifier of this person").fill(BEN)
        page.get_by_role("button", name="Link", exact=True).click()
        page.get_by_role("button", name="Make them one person").click()
        page.get_by_role("button", name="Unlink").click()
        page.locator("main:not(:has(button:has-text('Unlink')))").wait_for()
        assert [each.text for each in site.memory.service.list_memories(BEN)] == ["I like coffee"]
        page.get_by_role("button", name="Make a link to hand over").click()
        assert page.locator(".secret").inner_text().startswith(f"{site.address}/me/in/langmem_")


def test_by_keys_alone_everything_is_reached_and_seen(site):
    with site.opened("people/{person}/memories") as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        reached = []
        for _ in range(40):
            page.keyboard.press("Tab")
            seen = page.evaluate(
                "(() => { const e = document.activeElement, b = e.getBoundingClientRect(), s = getComputedStyle("
                "e.matches('.switcher input') ? e.nextElementSibling : e);"
                "return [e.tagName + (e.name || e.textContent.trim().slice(0, 20)), s.outlineStyle !== 'none', b.top]; })()"
            )
            assert seen[1], seen
            reached.append(seen[0])
        for each in ("AWho", "SUMMARYAdd a memory", "INPUTq", "SELECTtype", "BUTTONSearch", "INPUTids"):
            assert each in reached, reached


def test_without_scripts_everything_is_done_by_plain_forms(site):
    with site.opened("people/{person}/memories?q=coffee", scripts=False, width=390) as page:
        assert "coffee" in page.locator(".memory .words").first.inner_text()
        page.locator(".memory a").last.click()
        page.get_by_label("Tags, with commas").fill("plain")
        page.get_by_role("button", name="Save").click()
        page.get_by_text("Changed.").wait_for()
        page.get_by_role("button", name="Forget").click()
        page.get_by_text("It is recalled no more.").wait_for()
        page.get_by_role("button", name="Bring it back").click()
        page.get_by_text("It is remembered again.").wait_for()


def test_a_slow_a_stopped_and_an_unreachable_database_are_said_and_what_was_typed_stays(site, monkeypatch):
    service, may_go_on = site.memory.service, threading.Event()
    remember = service.remember

    def slow(*given, **named):
        assert may_go_on.wait(60)
        return remember(*given, **named)

    def stopped(*_, **__):
        raise StoreUnavailable("the database does not answer")

    with site.opened("people/{person}/memories") as page:
        page.get_by_text("Add a memory").click()
        typed = page.get_by_label("What is to be remembered")
        typed.fill("The bicycle is red")
        button, trouble = page.get_by_role("button", name="Remember"), page.locator("#trouble")
        page.context.set_offline(True)
        button.click()
        trouble.get_by_text("No connection").wait_for()
        assert typed.input_value() == "The bicycle is red"
        page.context.set_offline(False)
        monkeypatch.setattr(service, "remember", stopped)
        button.click()
        trouble.get_by_text("cannot be reached").wait_for()
        assert typed.input_value() == "The bicycle is red"
        typed.fill(" ")
        monkeypatch.setattr(service, "remember", remember)
        button.click()
        trouble.get_by_text("needs a text").wait_for()
        typed.fill("The bicycle is red")
        monkeypatch.setattr(service, "remember", slow)
        page.clock.install()
        with page.expect_request("**/memories"):
            button.click()
        page.clock.run_for(3_000)
        trouble.get_by_text("takes longer").wait_for()
        may_go_on.set()
        page.get_by_text("It is remembered.").wait_for()
        trouble.wait_for(state="hidden")
    assert "The bicycle is red" in site.texts()


def test_signing_in_and_out(site):
    with site._window(390) as (_, page):
        site.sign_in(page)
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Operator's token").wait_for()
        page.goto(f"{site.address}/console/people")
        assert page.url.endswith("/console/sign-in")
