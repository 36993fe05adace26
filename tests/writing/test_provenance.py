"""Every memory can be traced to what was said, what it replaced and how it was used."""

import pytest
from sqlalchemy import update

from langmem_plugin import MemoryNotFound
from langmem_plugin.database.memory_tables import memory as table
from langmem_plugin.errors import DamagedMemory

ERIN, JASON = "+972501234567", "+972501234568"

pytestmark = [pytest.mark.both_engines, pytest.mark.spec("M-12", "W-3")]


def told(memory, who, text, fact, **fields):
    """A message in a session, and what was found in it."""
    message_id = memory.sessions.add_message(who, "user", text)
    session_id = memory.sessions.get_session(who).session_id
    given = {"session_id": session_id, "source_id": message_id, "source_type": "extracted_from_chat", **fields}
    return memory.service.remember(who, fact, **given)


def test_a_memory_leads_to_its_message(memory, clock):
    memory.sessions.add_message(ERIN, "user", "hello")
    made = told(memory, ERIN, "By the way, I only drink tea now", "Drinks tea", quote="I only drink tea now")

    why = memory.provenance.why(ERIN, made.id)

    assert (why.said.text, why.said.at) == ("By the way, I only drink tea now", clock())
    assert why.said.session_id == memory.sessions.get_session(ERIN).session_id
    assert why.quote == "I only drink tea now"
    assert str(why).splitlines()[:4] == [
        "Drinks tea",
        "  from: extracted from chat",
        "  told: 2026-03-01 09:00",
        "  said: “I only drink tea now”",
    ]


def test_without_a_messages_id_its_own_words_lead_there(memory):
    made = told(memory, ERIN, "By the way, I only drink TEA", "Drinks tea", source_id=None, quote="i only drink tea")

    assert memory.provenance.why(ERIN, made.id).said.text == "By the way, I only drink TEA"


def test_when_the_conversation_is_gone_the_quote_is_left(memory):
    made = told(memory, ERIN, "I only drink tea", "Drinks tea", quote="I only drink tea")
    memory.sessions.purge(memory.sessions.get_session(ERIN).session_id)

    why = memory.provenance.why(ERIN, made.id)
    assert (why.said, why.quote) == (None, "I only drink tea")


@pytest.mark.spec("W-6")
def test_what_it_took_the_place_of_is_told_back_to_the_first(memory, clock):
    first = memory.service.remember(ERIN, "I live in Haifa")
    clock.forward(days=1)
    second = memory.service.supersede(ERIN, first.id, "I live in Yaffo")
    clock.forward(days=1)
    third = memory.service.supersede(ERIN, second.id, "I live in Lod")

    assert [each.text for each in memory.provenance.why(ERIN, third.id).instead_of] == [
        "I live in Yaffo",
        "I live in Haifa",
    ]
    assert memory.provenance.why(ERIN, first.id).replaced_by.text == "I live in Yaffo"
    assert "instead of: I live in Yaffo (until 2026-03-03)" in str(memory.provenance.why(ERIN, third.id))
    memory.service.forget(ERIN, third.id)
    assert memory.provenance.why(ERIN, second.id).replaced_by is None


def test_how_it_was_used_last_and_what_finds_it(memory, clock):
    made = memory.service.remember(ERIN, "My favourite drink is tea")
    memory.service.note_access(ERIN, {made.id: 0.7}, "injected", session_id="s")
    clock.forward(minutes=1)
    memory.service.note_access(ERIN, {made.id: 0.9}, "cited", session_id="s")

    why = memory.provenance.why(ERIN, made.id, query="what do I like to drink?")
    assert (why.last_use.kind, why.last_use.relevance, why.last_use.at) == ("cited", 0.9, clock())
    assert set(why.signals) >= {"text", "semantic"}
    assert memory.provenance.why(ERIN, made.id).signals == {}


@pytest.mark.spec("P-6")
def test_nothing_of_another_person_shows_whatever_a_memory_names(memory):
    secret = told(memory, JASON, "My door code is 1234", "The door code is 1234", quote="My door code is 1234")
    with pytest.raises(MemoryNotFound):
        memory.provenance.why(ERIN, secret.id)

    names = {"session_id": secret.session_id, "source_id": secret.source_id}
    mine = memory.service.remember(ERIN, "I have a door", **names)
    assert memory.provenance.why(ERIN, mine.id).said is None


def test_what_was_forgotten_or_damaged_is_not_shown(memory):
    gone = memory.service.remember(ERIN, "I drink tea")
    memory.service.forget(ERIN, gone.id)
    with pytest.raises(MemoryNotFound):
        memory.provenance.why(ERIN, gone.id)

    old = memory.service.remember(ERIN, "I live in Haifa")
    new = memory.service.supersede(ERIN, old.id, "I live in Lod")
    with memory.database.write() as connection:
        connection.execute(update(table).where(table.c.memory_id == old.id).values(text="I live in Paris"))
    assert memory.provenance.why(ERIN, new.id).instead_of == ()
    with memory.database.write() as connection:
        connection.execute(update(table).where(table.c.memory_id == new.id).values(text="I live in Rome"))
    with pytest.raises(DamagedMemory):
        memory.provenance.why(ERIN, new.id)


@pytest.mark.spec("C-20")
def test_the_message_is_found_by_whatever_identifier_of_a_merged_person(memory):
    made = told(memory, "telegram:4242", "I only drink tea", "Drinks tea")
    memory.people.merge(ERIN, 4242)

    assert memory.provenance.why(4242, made.id).said.text == "I only drink tea"
