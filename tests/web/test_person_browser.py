"""The person's page in a real browser: from the link in a chat reply on, in three sizes, both directions, light and dark.

With LANGMEM_SCREENSHOTS a picture of each page goes into that folder.
"""

import contextlib
import logging
import os
import re
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe

from langmem_plugin import PhoneMemory, Settings
from tests.cases import for_each
from tests.conftest import Clock
from tests.waiting import until
from tests.web.conftest import link_in, served_at
from tests.web.sample_person import ERIN, tell

pytestmark = [pytest.mark.spec("U-10"), pytest.mark.slow]

_PLACES = ("", "?q=coffee", "instructions", "conversations", "privacy", "privacy/erase")
_PICTURES = os.environ.get("LANGMEM_SCREENSHOTS")
_SMALLEST = 44  # pixels that a finger needs
_EXPECTED = re.compile(r"htmx:(?:afterRequest|sendError)|status of (?:401|404|409|410|422)|ERR_INTERNET_DISCONNECTED")


class Site:
    """One memory of a whole person behind a real server."""

    def __init__(self, memory, address, browser):
        self.memory, self.address, self._browser = memory, address, browser

    @contextlib.contextmanager
    def opened(self, width=360, language="en", scheme="light", *, scripts=True):
        """A new browser window that was let in; nothing may be wrong on its console in the end."""
        self.memory.people.set_language(ERIN, language)
        link = link_in(self.memory.command(ERIN, {"en": "/memories", "he": "/זיכרונות", "es": "/recuerdos"}[language]))
        context = self._browser.new_context(
            viewport={"width": width, "height": 780}, color_scheme=scheme, java_script_enabled=scripts, locale=language
        )
        context.set_default_timeout(60_000)
        page, said = context.new_page(), []
        page.on("console", lambda message: said.append(message.text) if message.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(link)
        page.locator("#enter button").click()
        page.wait_for_url(f"{self.address}/me/")
        yield page
        context.close()
        drawn = "Applying inline style" if _PICTURES else "$^"  # hides the caret while a picture is taken
        assert [each for each in said if not _EXPECTED.search(each) and drawn not in each] == []

    def texts(self):
        return [each.text for each in self.memory.service.list_memories(ERIN)]


@pytest.fixture(scope="module")
def site(chromium, offline_model, migrated_file, tmp_path_factory):
    clock = Clock()
    url = f"sqlite:///{tmp_path_factory.mktemp('page') / 'langmem.db'}"
    opened = []

    def app(address):
        settings = Settings(page_address=address, sweep_every=None)
        memory = PhoneMemory(url, embeddings=offline_model, settings=settings, now=clock)
        opened.append(memory)
        tell(memory, clock)
        return memory.app()

    with served_at(app) as address:
        yield Site(opened[0], address, chromium)
    opened[0].close()


def picture(page, name):
    if _PICTURES:
        width, language = page.viewport_size["width"], page.locator("html").get_attribute("lang")
        page.screenshot(path=Path(_PICTURES) / f"{name}-{language}-{width}.png", full_page=True)


def is_cut_off(page):
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


@pytest.mark.parametrize(
    ("width", "language", "scheme", "scripts"),
    [
        (360, "en", "light", True),
        (768, "he", "dark", True),
        (1280, "es", "light", True),
        (360, "he", "light", False),
    ],
    ids=["phone", "tablet in Hebrew, dark", "desk in Spanish", "phone without scripts"],
)
def test_from_the_link_in_a_chat_reply_to_a_corrected_memory(site, width, language, scheme, scripts):
    with site.opened(width, language, scheme, scripts=scripts) as page:
        assert page.locator("html").get_attribute("dir") == ("rtl" if language == "he" else "ltr")
        if scripts:
            assert not is_cut_off(page)
            page.go_back()  # the link is not what one comes back to
            page.wait_for_url(f"{site.address}/me/")
        picture(page, "memories")
        card = page.locator("article.memory").first
        before, wanted = card.locator(".told").inner_text(), f"Something else, {width} {language} {scripts}"
        card.locator("summary").first.click()
        card.locator("textarea").fill(wanted)
        card.locator("button.main").click()
        page.locator(".toast").wait_for()
        picture(page, "corrected")

        assert wanted in site.texts()
        assert before not in site.texts()
        card = page.locator("article.memory", has_text=wanted)
        card.locator("a").click()
        page.locator(".story").wait_for()
        assert before in page.locator(".story s").last.inner_text()
        if scripts:
            assert not is_cut_off(page)
        picture(page, "history")


def test_forgetting_asks_once_and_can_be_undone(site):
    with site.opened() as page:
        card = page.locator("article.memory").nth(2)
        text = card.locator(".told").inner_text()
        card.locator("summary").nth(1).click()
        card.locator("button.danger").click()
        page.locator(".toast button").wait_for()
        assert text not in site.texts()
        # Read out, and the undo is next.
        until(lambda: page.evaluate("document.activeElement.classList.contains('toast')"))
        page.locator(".toast button").click()
        page.locator(".toast:not(:has(button))").wait_for()
        assert text in site.texts()
        page.wait_for_url(f"{site.address}/me/")  # loaded again, it does not say so again


def test_going_back_and_forth_shows_each_page_as_it_is(site):
    with site.opened() as page:
        heading = page.locator("h1").inner_text()
        page.locator(".tabs a").nth(1).click()
        page.wait_for_url(f"{site.address}/me/instructions")
        page.locator("form.card").wait_for()
        assert page.locator(".tabs a[aria-current]").inner_text() == "Instructions"
        page.go_back()
        page.locator("article.memory").first.wait_for()
        assert page.locator("h1").inner_text() == heading
        page.locator("article.memory summary").first.click()
        assert page.locator("article.memory textarea").first.is_visible()


def test_a_page_open_twice_shows_what_is_there_now_and_keeps_what_was_typed(site):
    with site.opened() as page:
        card = page.locator("article.memory").nth(3)
        memory_id = card.get_attribute("id").removeprefix("m-")
        card.locator("summary").first.click()
        card.locator("textarea").fill("What I typed here")
        site.memory.service.supersede(ERIN, memory_id, "What was said elsewhere")
        card.locator("button.main").click()
        page.locator("[data-look]").wait_for()
        assert page.locator("h1").inner_text() == "What was said elsewhere"
        assert page.locator("textarea").input_value() == "What I typed here"
        page.locator("#trouble").wait_for(state="hidden")


def test_a_lost_connection_and_an_ended_visit_lose_nothing(site):
    with site.opened() as page:
        page.goto(f"{site.address}/me/instructions")
        field = page.locator("textarea")
        field.fill("Speak slowly")
        page.context.set_offline(True)
        page.locator("main form button.main").first.click()
        page.locator("#trouble").wait_for()
        assert field.input_value() == "Speak slowly"
        page.context.set_offline(False)

        page.context.clear_cookies()
        page.locator("main form button.main").first.click()
        page.locator("textarea[readonly]").wait_for()
        assert page.locator("textarea[readonly]").input_value() == "Speak slowly"

        other = page.context.new_page()
        other.goto(link_in(site.memory.command(ERIN, "/memories")))
        other.locator("#enter button").click()
        other.wait_for_url(f"{site.address}/me/")
        page.locator("button.main").click()
        page.locator(".toast").wait_for()
        assert "Speak slowly" in [each.text for each in site.memory.instructions.list_instructions(ERIN)]


@for_each(("scheme", "language"), [("light", "en"), ("dark", "he")])
def test_nobody_stumbles_over_a_page(site, scheme, language):
    """Contrast, names, roles and order by axe-core; everything to press is as large as a finger; nothing is cut off."""
    axe = Axe()
    with site.opened(360, language, scheme) as page:
        chat = site.memory.sessions.sessions(ERIN)[0].session_id
        held = site.memory.service.list_memories(ERIN)[0].id
        only_light = ("?q=coffee", "privacy/erase", "nothing", "in/over") if scheme == "light" else ()
        for place in (
            "",
            "instructions",
            "conversations",
            "privacy",
            f"conversations/{chat}",
            f"memories/{held}",
            *only_light,
        ):
            page.goto(f"{site.address}/me/{place}")
            for each in page.locator(".acts").first.locator("summary").all()[:1]:
                each.click()
            assert not is_cut_off(page), place
            found = axe.run(page).response
            assert len(found["passes"]) > 5
            stumbled = [each for each in found["violations"] if each["impact"] in {"serious", "critical"}]
            assert [(each["id"], each["nodes"][0]["html"]) for each in stumbled] == [], place
            assert too_small(page) == [], place
            picture(page, f"axe-{place.partition('?')[0].replace('/', '-')[:30] or 'home'}-{scheme}")
        page.set_viewport_size({"width": 320, "height": 640})
        for place in _PLACES:
            page.goto(f"{site.address}/me/{place}")
            assert not is_cut_off(page), place


def too_small(page):
    """What is to be pressed and is smaller than a finger, but for links inside of a sentence."""
    return page.evaluate(
        """smallest => [...document.querySelectorAll("button, summary, a, input:not([type=hidden]), textarea")]
            .filter(each => each.checkVisibility() && !each.closest("p:not(:has(> .back))") && !each.matches(".skip"))
            .map(each => [each, each.getBoundingClientRect()])
            .filter(([each, box]) => box.height < smallest || box.width < smallest)
            .map(([each, box]) => `${each.outerHTML.slice(0, 90)} ${box.width}x${box.height}`)""",
        _SMALLEST,
    )


def test_the_link_stands_in_no_log_of_requests(site, caplog):
    caplog.set_level(logging.INFO, "uvicorn.access")
    link = link_in(site.memory.command(ERIN, "/memories"))
    for method, address in (
        ("GET", link),
        ("HEAD", link),
        ("GET", f"{link}/"),
        ("GET", f"{link}?a={link}"),
        ("POST", link),
    ):
        httpx.request(method, address, follow_redirects=False, timeout=90)
    told = [each.getMessage() for each in caplog.records if each.name == "uvicorn.access"]
    assert len([each for each in told if "/me/in/" in each]) == 5
    assert not [each for each in told if "langmem_" in each]


@for_each(("width", "size"), [(390, "200%"), (360, "200%"), (195, "100%"), (820, "200%")])
def test_the_tabs_stay_in_sight_with_large_text(site, width, size):
    with site.opened(width) as page:
        for place in ("", "privacy"):
            page.goto(f"{site.address}/me/{place}")
            page.evaluate("size => { document.documentElement.style.fontSize = size; }", size)
            for tab in page.locator(".tabs a").all():
                box = tab.bounding_box()
                assert box["x"] >= -1
                assert box["x"] + box["width"] <= width + 1
                assert tab.is_visible()
            assert not is_cut_off(page)


@for_each("language", ["en", "he", "es"])
def test_no_word_breaks_inside_at_twice_the_text_on_a_phone(site, language):
    with site.opened(360, language) as page:
        chat = site.memory.sessions.sessions(ERIN)[0].session_id
        held = site.memory.service.list_memories(ERIN)[0].id
        for place in (*_PLACES, f"conversations/{chat}", f"memories/{held}"):
            page.goto(f"{site.address}/me/{place}")
            page.evaluate("document.documentElement.style.fontSize = '200%'")
            assert broken_words(page) == [], place
            assert not is_cut_off(page), place
            picture(page, f"large-{place.replace('/', '-')[:20] or 'home'}")


def broken_words(page):
    """The words that stand on two lines, each with what it stands in; hyphens and addresses may be broken."""
    return page.evaluate(
        """() => {
            const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
                const text = texts.currentNode;
                if (!text.parentElement.checkVisibility() || text.parentElement.closest(".unseen, script, code")) continue;
                for (const word of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
                    const range = document.createRange();
                    range.setStart(text, word.index);
                    range.setEnd(text, word.index + word[0].length);
                    const lines = new Set([...range.getClientRects()].map(each => Math.round(each.top)));
                    if (lines.size > 1) found.push(`${word[0]} in ${text.parentElement.outerHTML.slice(0, 80)}`);
                }
            }
            return found;
        }"""
    )


def test_switches_are_seen_where_the_system_forces_its_colours(site):
    with site.opened() as page:
        page.emulate_media(forced_colors="active")
        page.goto(f"{site.address}/me/privacy")
        shown = "(each) => ['::before', '::after'].map((part) => getComputedStyle(each, part).backgroundColor)"
        on = page.locator(".switch.on").first.evaluate(shown)
        off = page.locator(".switch:not(.on)").first.evaluate(shown)
        assert on[0] != on[1]
        assert off[0] != off[1]
        assert on != off
