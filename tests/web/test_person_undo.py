"""What a person can do themselves: add, forget several, undo, change an instruction, a language, a channel."""

import pytest

from tests.web.conftest import hidden
from tests.web.sample_person import BEN, ERIN

pytestmark = pytest.mark.spec("U-6")


def texts(memory):
    return sorted(each.text for each in memory.service.list_memories(ERIN))


def test_a_memory_is_added_as_if_it_had_been_asked_for(memory, erin):
    assert "remembered from now on" in erin.do("memories", text=" Likes tea ")
    [held] = memory.service.list_memories(ERIN)
    assert (held.text, held.source_type) == ("Likes tea", "command")
    assert "no text" in erin.do("memories", status=422, text=" ")
    long = erin.do("memories", status=422, text="x" * 2001)
    assert "x" * 2001 in long


def test_several_are_forgotten_at_once_and_each_is_taken_back_in_one_place(memory, erin, clock):
    held = [memory.service.remember(ERIN, text) for text in ("Likes tea", "Has a cat", "Runs on Saturdays")]
    bens = memory.service.remember(BEN, "Has a dog")
    page = erin.do("memories/forget", ids=[held[0].id, held[1].id, bens.id, "nothing"])
    assert "Likes tea" in page
    assert "Has a cat" in page
    assert texts(memory) == ["Runs on Saturdays"]
    assert len(memory.service.list_memories(BEN)) == 1
    erin.do(f"memories/{held[0].id}/back")
    assert texts(memory) == ["Likes tea", "Runs on Saturdays"]
    clock.forward(minutes=11)
    assert "Has a cat" not in erin.see("recent")
    erin.do(f"memories/{held[1].id}/back", status=409)


def test_what_was_corrected_is_undone_in_the_same_place(memory, erin, clock):
    held = memory.service.remember(ERIN, "Lives in Haifa")
    clock.forward(minutes=1)
    erin.do(f"memories/{held.id}/correct", revision=held.revision, text="Lives in Eilat")
    page = erin.see("recent")
    assert "Lives in Haifa" in page
    assert "Lives in Eilat" in page
    [old] = memory.service.list_memories(ERIN, statuses=["superseded"])
    erin.do(f"memories/{old.id}/back")
    assert texts(memory) == ["Lives in Haifa"]


def test_an_instruction_is_changed_unless_it_has_changed_elsewhere(memory, erin, clock):
    made = memory.service.instructions.add(ERIN, "Answer in short")
    seen = hidden(erin.see("instructions"), "seen")
    clock.forward(seconds=1)
    assert "Changed." in erin.do(f"instructions/{made.id}/change", seen=seen, text="Answer at length")
    erin.do(f"instructions/{made.id}/change", status=409, seen=seen, text="Answer in rhymes")
    assert [each.text for each in memory.service.instructions.list_instructions(ERIN)] == ["Answer at length"]


@pytest.mark.spec("U-10", "C-20")
def test_the_language_is_chosen_and_a_channel_unlinked(memory, erin):
    assert 'lang="es"' in erin.do("privacy/language", language="es")
    assert memory.people.language(ERIN) == "es"
    erin.do("privacy/language", status=400, language="xx")
    memory.people.link(ERIN, "telegram:4242")
    page = erin.see("privacy")
    ref = page.split('name="identifier" value="')[1].split('"')[0]
    assert "4242" not in ref
    erin.do("privacy/unlink", identifier=ref)
    assert memory.people.resolve("telegram:4242") != memory.people.resolve(ERIN)
    erin.do("privacy/unlink", status=409, identifier=ref)


@pytest.mark.slow
def test_a_picture_that_was_sent_is_seen_and_nobody_elses(memory, erin):
    png = b"\x89PNG\r\n\x1a\n" + b"0" * 64
    memory.sessions.record(ERIN, picture_message(png))
    [session] = memory.sessions.sessions(ERIN)
    page = erin.see(f"conversations/{session.session_id}")
    address = page.split('<img class="shot" loading="lazy" src="')[1].split('"')[0]
    shown = erin.client.get(address)
    assert (shown.status_code, shown.content, shown.headers["content-type"]) == (200, png, "image/png")
    assert erin.client.get(address[:-64] + "0" * 64).status_code == 404


def picture_message(png):
    from base64 import b64encode

    from langchain_core.messages import HumanMessage

    block = {"type": "image", "base64": b64encode(png).decode(), "mime_type": "image/png"}
    return HumanMessage([{"type": "text", "text": "look"}, block])
