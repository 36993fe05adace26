"""What may be remembered, everything to take along, everything deleted: by the person, on their page."""

import io
import json
import zipfile

import pytest

from tests.cases import for_each
from tests.web.conftest import Visitor, hidden
from tests.web.sample_person import BEN, ERIN

pytestmark = pytest.mark.spec("U-10", "P-2", "P-3", "P-4")


def allowed(memory, who=ERIN):
    held = memory.consent.of(who)
    return held.extraction.allowed, held.personal.allowed, held.sensitive.allowed


def did(memory, action):
    return [each.actor for each in memory.audit.newest(500) if each.action == action]


def test_consent_is_given_and_withdrawn_in_the_words_of_the_button(memory, erin):
    assert "not decided anything yet" in erin.see("privacy")
    page = erin.do("privacy/consent", permission="extraction", seen="no", allowed="yes", words="Personal facts: on")
    assert "Allowed from now on" in page
    assert allowed(memory) == (True, True, None)
    assert "You decided last on 1 March 2026, 11:00:" in page
    assert "Personal facts: on</q>" in page

    erin.do("privacy/consent", permission="sensitive", seen="no", allowed="yes", words="Sensitive facts: on")
    assert allowed(memory) == (True, True, True)
    page = erin.do("privacy/consent", permission="extraction", seen="yes", allowed="no", words="off")
    assert allowed(memory) == (False, None, None)
    assert "Delete what is known too" in page
    assert did(memory, "consent.given") == ["person"] * 3
    assert did(memory, "consent.withdrawn") == ["person"] * 3


def test_the_button_says_what_is_kept_as_the_persons_words(memory, erin):
    page = erin.see("privacy")
    words = hidden(page, "words")
    assert words == "What you tell about yourself: on"
    erin.do("privacy/consent", permission="extraction", seen="no", allowed="yes", words=words)
    assert memory.consent.word_of(ERIN).text == words


def test_what_was_decided_in_the_chat_meanwhile_is_not_turned_around(memory, erin):
    erin.see("privacy")
    memory.command(ERIN, "/privacy personal on")
    page = erin.do("privacy/consent", status=409, permission="personal", seen="no", allowed="yes")
    assert "changed elsewhere" in page
    assert allowed(memory) == (None, True, None)


def test_all_of_it_is_taken_along_as_json_and_as_tables(memory, erin):
    memory.service.remember(ERIN, "Likes tea")
    memory.service.remember(BEN, "Likes beer")
    answer = erin.send("/me/privacy/export", form="json")
    assert answer.headers["content-disposition"] == 'attachment; filename="memory.json"'
    assert [each["text"] for each in json.loads(answer.text)["memories"]] == ["Likes tea"]
    assert "Likes beer" not in answer.text

    answer = erin.send("/me/privacy/export", form="csv")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as held:
        assert b"Likes tea" in held.read("memories.csv")
    assert did(memory, "data.exported") == ["person"] * 2
    erin.do("privacy/export", status=400, form="exe")
    assert erin.client.get("/me/privacy/export").status_code == 404


@for_each("typed", ["", "yes", "DELET"])
def test_nothing_is_deleted_without_the_word(memory, erin, typed):
    memory.service.remember(ERIN, "Likes tea")
    assert "Nothing was deleted" in erin.do("privacy/erase", status=422, typed=typed)
    assert memory.service.count(ERIN) == 1


@pytest.mark.slow
@for_each(("language", "word"), [("en", " delete "), ("he", "מחיקה"), ("es", "Borrar")])
def test_everything_is_deleted_with_a_receipt_and_brought_back(memory, erin, language, word):
    memory.service.remember(ERIN, "Likes tea")
    memory.instructions.add(ERIN, "Answer in short")
    memory.service.remember(BEN, "Likes beer")
    memory.people.set_language(ERIN, language)
    assert "2026" in erin.see("privacy/erase")

    receipt = memory.erasure.can_restore(ERIN)
    assert receipt is None
    page = erin.do("privacy/erase", typed=word)

    receipt = memory.erasure.can_restore(ERIN)
    assert receipt.id in page
    assert did(memory, "erasure.asked") == ["person"]
    assert not erin.client.cookies
    assert memory.service.count(ERIN) == 0
    assert memory.service.count(BEN) == 1

    back = Visitor(memory, ERIN)
    memory.people.set_language(ERIN, "en")
    assert "You had everything deleted" in back.see()
    assert "Everything is there again" in back.do("privacy/restore")
    assert memory.service.count(ERIN) == 1
    back.see(status=401)
    back.enter()
    assert "Likes tea" in back.see()
    back.do("privacy/restore", status=409)


def test_a_visit_that_was_kept_opens_nothing_after_the_erasure(memory, erin):
    memory.service.remember(ERIN, "Likes tea")
    other = Visitor(memory, ERIN)
    erin.do("privacy/erase", typed="DELETE")
    other.see(status=401)


def test_where_nothing_is_taken_in_nothing_is_promised(database_url, clock, offline_model, page_settings):
    from langmem_plugin import PhoneMemory

    settings = page_settings.model_copy(update={"extraction": "off"})
    with PhoneMemory(database_url, embeddings=offline_model, settings=settings, now=clock) as memory:
        page = Visitor(memory, ERIN).see("privacy")
    assert "Nothing is taken in by itself here" in page
    assert 'name="permission"' not in page
