"""What is remembered, on the person's page: seen, searched, corrected, forgotten, confirmed, never anybody else's."""

import threading

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from langmem_plugin import PhoneMemory
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import EmbeddingUnavailable
from langmem_plugin.people.access_tokens import AccessTokens
from tests.cases import for_each
from tests.web.conftest import ADDRESS, Visitor, hidden
from tests.web.sample_person import BEN, ERIN, tell

pytestmark = pytest.mark.spec("U-10")


def live(memory, who=ERIN):
    return sorted(each.text for each in memory.service.list_memories(memory.people.resolve(who)))


def audited(memory, action):
    return [each.actor for each in memory.audit.newest(500) if each.action == action]


def test_the_page_shows_what_is_remembered_with_the_words_it_came_from(memory, erin, clock):
    memory.service.remember(
        ERIN, "Drinks coffee black", fact_type="preference", quote="black coffee <please>", tags=("food",), private=True
    )
    memory.service.remember(ERIN, "Lives in Haifa", fact_type="personal", category="home", source_type="command")
    page = erin.see()
    assert page.index("About you") < page.index("Lives in Haifa") < page.index("What you like")
    assert "“black coffee &lt;please&gt;”" in page
    assert "You said it on 1 March 2026" in page
    assert "You asked on 1 March 2026 to remember it" in page
    for chip in (">food<", ">home<", "Private"):
        assert chip in page


def test_the_date_is_the_one_where_the_person_is(memory, erin, clock):
    clock.forward(hours=13, minutes=30)  # 22:30 in UTC, half past midnight in Israel
    memory.service.remember(ERIN, "Likes tea")
    erin.enter()
    assert "2 March 2026" in erin.see()


@pytest.mark.slow
def test_a_correction_replaces_what_stood_there_and_keeps_it_as_history(memory, erin):
    held = memory.service.remember(ERIN, "Lives in Haifa", fact_type="personal", tags=("home",), private=True)
    page = erin.see()
    done = erin.do(f"memories/{held.id}/correct", revision=hidden(page, "revision"), text="  Lives in Eilat ")

    assert "Corrected" in done
    [now] = memory.service.list_memories(ERIN)
    assert (now.text, now.fact_type, now.tags, now.private) == ("Lives in Eilat", "personal", ("home",), True)
    story = erin.see(f"memories/{now.id}")
    assert '<s dir="auto">Lives in Haifa</s>' in story
    assert "Lives in Eilat" in erin.see(f"memories/{held.id}")
    assert set(audited(memory, "memory.superseded")) == {"person"}


@for_each(
    ("text", "told"),
    [
        ("", "There was no text in it"),
        ("  ", "There was no text in it"),
        ("x" * 2_001, "too long"),
        ("a\0b", "cannot be stored"),
    ],
)
def test_a_correction_that_cannot_be_kept_is_explained_and_what_was_typed_stays(memory, erin, text, told):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    page = erin.do(f"memories/{held.id}/correct", status=422, revision=1, text=text)
    assert told in page
    assert (text.strip() or "Lives in Haifa") in page
    assert live(memory) == ["Lives in Haifa"]


def test_a_correction_to_the_same_changes_nothing(memory, erin):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    assert "says that already" in erin.do(f"memories/{held.id}/correct", revision=1, text="lives in haifa.")
    assert live(memory) == ["Lives in Haifa"]


def test_of_two_pages_that_correct_the_same_the_second_is_shown_what_is_there_now(memory, erin):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    other = Visitor(memory, ERIN)
    erin.do(f"memories/{held.id}/correct", revision=1, text="Lives in Eilat")

    page = other.do(f"memories/{held.id}/correct", status=409, revision=1, text="Lives in Akko")

    assert "changed elsewhere" in page
    assert "Lives in Eilat" in page
    assert "Lives in Akko</textarea>" in page
    assert live(memory) == ["Lives in Eilat"]
    [now] = memory.service.list_memories(ERIN)
    other.do(f"memories/{now.id}/correct", revision=hidden(page, "revision"), text="Lives in Akko")
    assert live(memory) == ["Lives in Akko"]


def test_a_change_of_something_else_in_it_is_no_lost_update_either(memory, erin):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    memory.service.update(ERIN, held.id, tags=("home",))
    erin.do(f"memories/{held.id}/correct", status=409, revision=1, text="Lives in Eilat")
    erin.do(f"memories/{held.id}/forget", status=409, revision=1)
    erin.do(f"memories/{held.id}/private", status=409, revision=1, private="yes")
    assert live(memory) == ["Lives in Haifa"]


def test_of_two_corrections_at_the_same_instant_one_is_made(memory, erin):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    begin, answers = threading.Barrier(2), []

    def correct(town):
        begin.wait()
        answer = erin.send(f"/me/memories/{held.id}/correct", revision=1, text=f"Lives in {town}")
        answers.append((answer.status_code, town))

    threads = [threading.Thread(target=correct, args=(town,)) for town in ("Eilat", "Akko")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert sorted(status for status, _ in answers) == [200, 409]
    assert live(memory) == [f"Lives in {town}" for status, town in answers if status == 200]


def test_what_no_database_can_hold_is_answered_kindly(erin):
    erin.see("memories/%00", status=400)
    erin.do("memories/%00/forget", status=400, revision=1)
    erin.see("?done=forgotten&of=%00", status=400)
    erin.see("?q=%00")
    erin.see("?page=99999999999999999999&kind=fact")
    erin.see("conversations?q=%00")
    erin.see("conversations/%00", status=400)


def test_everything_is_shown_also_where_everything_is_encrypted(tmp_path, clock, offline_model, page_settings):
    settings = page_settings.model_copy(update={"keys": SecretStr(new_master_key())})
    with PhoneMemory(
        f"sqlite:///{tmp_path}/sealed.db", embeddings=offline_model, settings=settings, now=clock
    ) as memory:
        held = memory.service.remember(ERIN, "Lives in Haifa", private=True)
        visitor = Visitor(memory, ERIN)
        assert "Lives in Haifa" in visitor.see()
        visitor.do(f"memories/{held.id}/correct", revision=1, text="Lives in Eilat")
        assert live(memory) == ["Lives in Eilat"]


def test_without_a_long_term_memory_there_are_chats_and_privacy(database_url, clock, offline_model, page_settings):
    settings = page_settings.model_copy(update={"longterm": False})
    with PhoneMemory(database_url, embeddings=offline_model, settings=settings, now=clock) as memory:
        token, _ = AccessTokens(memory.database, now=clock).new_link(ERIN)
        memory.sessions.add_message(ERIN, "user", "Hello there")
        client = TestClient(memory.app(), base_url=ADDRESS)
        page = client.post("/me/in", data={"token": token})
        assert page.url.path == "/me/conversations"
        assert "Hello there" in page.text
        assert "Instructions" not in page.text
        assert client.get("/me/privacy").status_code == 200


def test_a_value_under_a_key_stays_under_it(memory, erin):
    held = memory.service.remember(ERIN, "blue", key="colour")
    erin.do(f"memories/{held.id}/correct", revision=1, text="green")
    [now] = memory.service.list_memories(ERIN)
    assert (now.id, now.key, now.text) == (held.id, "colour", "green")


def test_without_the_model_a_correction_waits_and_a_search_goes_by_words(memory, erin, monkeypatch):
    held = memory.service.remember(ERIN, "Lives in Haifa")

    def down(*_):
        raise EmbeddingUnavailable("down")

    with monkeypatch.context() as patched:
        patched.setattr(memory.service.embedder, "texts", down)
        patched.setattr(memory.service.embedder, "query", down, raising=False)
        page = erin.do(f"memories/{held.id}/correct", status=503, revision=1, text="Lives in Eilat")
    assert "Lives in Eilat</textarea>" in page
    assert live(memory) == ["Lives in Haifa"]


def test_what_is_forgotten_can_be_taken_back_for_ten_minutes(memory, erin, clock):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    page = erin.do(f"memories/{held.id}/forget", revision=1)
    assert "Undo" in page
    assert live(memory) == []
    assert "remembered again" in erin.do(f"memories/{held.id}/back")
    assert live(memory) == ["Lives in Haifa"]
    assert set(audited(memory, "memory.forgotten") + audited(memory, "memory.restored")) == {"person"}

    erin.do(f"memories/{held.id}/forget", revision=3)
    clock.forward(minutes=11)
    assert "Undo" not in erin.see(f"?done=forgotten&of={held.id}")
    assert "cannot be taken back" in erin.do(f"memories/{held.id}/back", status=409)
    assert live(memory) == []
    erin.see(f"memories/{held.id}", status=404)


def test_what_is_told_anew_since_is_not_pushed_aside_by_undoing(memory, erin):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    erin.do(f"memories/{held.id}/forget", revision=1)
    memory.service.remember(ERIN, "Lives in Haifa")
    erin.do(f"memories/{held.id}/back", status=409)
    assert live(memory) == ["Lives in Haifa"]


def test_it_is_made_private_and_open_again(memory, erin):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    assert "No longer private" in erin.do(f"memories/{held.id}/private", revision=1, private="yes")
    assert "Make it private" in erin.do(f"memories/{held.id}/private", revision=2, private="no")


def test_what_waits_is_decided_with_yes_and_no(memory, erin):
    old = memory.service.remember(ERIN, "Lives in Haifa")
    yes = memory.service.remember(ERIN, "Has a dog", status="pending", metadata={"would_replace": [old.id]})
    no = memory.service.remember(ERIN, "Has a tiger", status="pending")
    page = erin.see()
    assert "Is this right?" in page
    assert "Instead of:" in page

    erin.do(f"memories/{yes.id}/decide", revision=yes.revision, word="yes")
    erin.do(f"memories/{no.id}/decide", revision=no.revision, word="no")

    assert live(memory) == ["Has a dog"]
    assert "changed elsewhere" in erin.do(f"memories/{no.id}/decide", status=409, revision=no.revision, word="yes")
    erin.do(f"memories/{yes.id}/decide", status=400, revision=2, word="perhaps")


def test_what_is_in_doubt_is_settled(memory, erin):
    for text, word in (("Likes the sea", "still"), ("Likes the beach", "over")):
        held = memory.service.remember(ERIN, text)
        with memory.database.write() as connection:
            now = memory.service.now()
            memory.service.repository.change(connection, ERIN, held.id, {"doubted_at": now}, now=now)
        assert "Is it still so?" in erin.see()
        erin.do(f"memories/{held.id}/decide", revision=2, word=word)
    assert live(memory) == ["Likes the sea"]
    assert "Is it still so?" not in erin.see()


def test_a_search_finds_by_words_and_meaning_and_says_when_there_is_nothing(memory, erin):
    memory.service.remember(ERIN, "Drinks coffee black")
    memory.service.remember(ERIN, "The car is blue")
    assert "Drinks coffee black" in erin.see("?q=coffee")
    assert "The car is blue" not in erin.see("?q=coffee")
    assert "Nothing like that is remembered" in erin.see("?q=<script>zebra")
    assert "<script>zebra" not in erin.see("?q=<script>zebra")


def test_many_are_shown_in_parts(memory, erin):
    memory.service.remember_many(
        ERIN, [(f"Word number {each} is {each * 7919}", {"fact_type": "note"}) for each in range(45)]
    )
    assert "Show all 45" in erin.see()
    first, last = erin.see("?kind=note"), erin.see("?kind=note&page=99")
    assert first.count("<article") == 40
    assert last.count("<article") == 5
    assert "Page 2 of 2" in last
    assert erin.see("?kind=nonsense&page=-3").count("<article") == 8


def test_another_persons_memory_is_not_there_for_anything(memory, erin):
    bens = memory.service.remember(BEN, "Has a secret")
    erin.see(f"memories/{bens.id}", status=404)
    erin.do(f"memories/{bens.id}/correct", status=404, revision=1, text="Mine now")
    erin.do(f"memories/{bens.id}/forget", status=409, revision=1)
    erin.do(f"memories/{bens.id}/private", status=409, revision=1, private="yes")
    erin.do(f"memories/{bens.id}/decide", status=409, revision=1, word="no")
    erin.do(f"memories/{bens.id}/back", status=409)
    assert "Has a secret" not in erin.see(f"?done=forgotten&of={bens.id}")
    assert [(each.text, each.revision) for each in memory.service.list_memories(BEN)] == [("Has a secret", 1)]


def test_a_person_without_memories_is_told_how_to_begin(erin):
    assert "Nothing is remembered yet" in erin.see()
    assert "/remember I drink my coffee black" in erin.see()


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_whole_person_is_shown_in_every_language(memory, clock):
    tell(memory, clock)
    visitor = Visitor(memory, ERIN)
    [replaced] = memory.service.list_memories(ERIN, statuses=("superseded",))
    places = ("", "?q=zebra", "instructions", "conversations", "conversations?q=dishwasher", "privacy", "privacy/erase")
    for language, direction in (("he", "rtl"), ("es", "ltr"), ("en", "ltr")):
        memory.people.set_language(ERIN, language)
        for place in (*places, f"memories/{replaced.id}", f"memories/{replaced.superseded_by}"):
            assert f'lang="{language}" dir="{direction}"' in visitor.see(place)
    for place, notices in (
        ("?kind=note&", ("corrected", "same", "forgotten", "back", "yes", "no", "still", "over", "changed", "gone")),
        ("instructions?", ("stored", "duplicate", "withdrawn", "on", "off", "deleted", "changed", "too_many")),
        ("privacy?", ("allowed", "withdrawn", "not_restored", "changed")),
    ):
        for done in notices:
            assert 'role="status"' in visitor.see(f"{place}done={done}")
