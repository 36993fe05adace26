"""One person, several identifiers: linked, noted, listed and unlinked."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from langmem_plugin import PhoneMemory
from langmem_plugin.database.conversation_tables import turn
from langmem_plugin.database.people_tables import identifier, merge
from langmem_plugin.errors import InvalidInput
from tests.agent.test_exactly_once import Echo, history
from tests.cases import for_each
from tests.people.conftest import ANNA, ANNAS_TELEGRAM, BEN, redeemed
from tests.waiting import until

LID = "123456789012345@lid"
FAMILY = "120363041234567890@g.us"


def _rows(memory, table):
    with memory.database.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


@pytest.mark.spec("C-20")
def test_an_identifier_that_is_not_linked_is_its_own_person_and_costs_no_row(memory):
    assert memory.people.resolve("whatsapp:+972501234567") == ANNA
    assert memory.people.resolve(4242) == ANNAS_TELEGRAM
    assert memory.people.identifiers("tg:4242") == [ANNAS_TELEGRAM]
    assert _rows(memory, identifier) == 0


@pytest.mark.spec("C-20")
def test_a_linked_identifier_is_the_person_in_every_spelling(memory, texts):
    memory.service.remember(ANNA, "Anna is allergic to nuts")
    assert memory.people.link("0097250-123-4567", 4242) is None
    assert memory.people.link(ANNA, "123456789012345:3@lid") is None
    for who in (ANNA, "972501234567@c.us", 4242, "tg:4242", "telegram:4242", "123456789012345:9@lid"):
        assert memory.people.resolve(who) == ANNA
        assert texts(who) == ["Anna is allergic to nuts"]
        assert memory.people.identifiers(who) == [ANNA, LID, ANNAS_TELEGRAM]
    assert memory.people.resolve(4243) == "telegram:4243"


@pytest.mark.spec("C-20")
def test_a_link_to_oneself_and_one_that_is_there_change_nothing(memory):
    assert memory.people.link(ANNA, "whatsapp:+972501234567") is None
    memory.people.link(ANNA, 4242)
    assert memory.people.link(ANNA, 4242) is memory.people.link(4242, ANNA) is None
    with pytest.raises(InvalidInput, match="one person already"):
        memory.people.merge(4242, ANNA)
    assert (_rows(memory, identifier), _rows(memory, merge)) == (1, 0)


@pytest.mark.spec("C-20")
def test_chains_are_flat_whatever_is_linked_to_what(memory):
    memory.people.link("user:1", "user:2")
    memory.people.link("user:3", "user:4")
    memory.people.link("user:4", "user:2")
    memory.people.link("user:5", "user:4")
    assert {memory.people.resolve(f"user:{each}") for each in range(1, 6)} == {"user:5"}
    assert sorted(memory.people.identifiers("user:2")) == [f"user:{each}" for each in range(1, 6)]


@pytest.mark.spec("C-20", "P-6")
@for_each("group", [FAMILY, f"whatsapp:{FAMILY}", "tg:-1001234567890", -100, "status@broadcast"])
def test_groups_are_nobody_and_cannot_be_linked(memory, group):
    for attempt in (
        lambda: memory.people.link(ANNA, group),
        lambda: memory.people.link(group, ANNA),
        lambda: memory.people.merge(ANNA, group),
        lambda: memory.people.link_code(group),
        lambda: memory.people.giver(group, "1234-5678"),
        lambda: memory.people.unlink(group),
    ):
        with pytest.raises(InvalidInput, match="group"):
            attempt()
    assert _rows(memory, identifier) == 0


@pytest.mark.spec("C-20", "P-6", "C-13")
@for_each("broken", ["", " ", "\x1fshared", "bob\0", "\ud800", "b" * 1_001])
def test_what_can_be_nobodys_key_cannot_be_linked(memory, broken):
    for attempt in (memory.people.resolve, memory.people.link_code, memory.people.unlink):
        with pytest.raises(InvalidInput):
            attempt(broken)
    with pytest.raises(InvalidInput):
        memory.people.link(ANNA, broken)


@pytest.mark.spec("C-20")
def test_what_is_unlinked_is_a_person_of_its_own_and_leaves_what_was_said_with_whom_it_was(memory, texts, said):
    memory.people.link(ANNA, 4242)
    memory.sessions.add_message("tg:4242", "user", "hello from Telegram")
    memory.service.remember(memory.people.resolve(4242), "Anna has a boat")
    assert memory.people.unlink(4242) is None
    assert memory.people.resolve(4242) == ANNAS_TELEGRAM
    assert (texts(4242), said(4242)) == ([], {})
    assert texts(ANNA) == ["Anna has a boat"]
    assert said(ANNA) == {("hello from Telegram",): True}
    assert memory.people.unlink(4242) is None


@pytest.mark.spec("C-20")
def test_the_key_of_a_person_with_others_is_not_unlinked(memory):
    memory.people.link(ANNA, 4242)
    with pytest.raises(InvalidInput, match="unlink the other"):
        memory.people.unlink(ANNA)
    assert memory.people.resolve(4242) == ANNA


@pytest.mark.spec("C-20")
def test_links_outlive_the_process(memory, database_url, offline_model):
    memory.people.link(ANNA, 4242)
    with PhoneMemory(database_url, embeddings=offline_model) as another:
        assert another.people.resolve(4242) == ANNA
        another.people.unlink(4242)
    assert memory.people.resolve(4242) == ANNAS_TELEGRAM


@pytest.mark.spec("C-20")
def test_whoever_is_forgotten_leaves_no_link_no_merge_and_no_code(memory):
    memory.service.remember(ANNAS_TELEGRAM, "Anna has a boat")
    memory.people.link(ANNA, 4242)
    memory.people.link(BEN, "user:7")
    code, bens = memory.people.link_code(4242), memory.people.link_code(BEN)
    memory.erase("tg:4242", now=True)
    assert memory.people.resolve(4242) == ANNAS_TELEGRAM
    assert memory.people.identifiers(BEN) == [BEN, "user:7"]
    assert (_rows(memory, merge), redeemed(memory, "user:8", code)) == (0, False)
    assert redeemed(memory, "user:8", bens)


@pytest.mark.spec("C-20", "C-1")
def test_who_waits_while_they_are_unlinked_is_not_answered_in_the_others_conversation(memory):
    echo = Echo(memory)
    memory.reply(echo.graph, ANNA, "my secret")
    memory.people.link(ANNA, 4242)

    with ThreadPoolExecutor() as pool:
        with memory.turn(ANNA):
            waiting = pool.submit(memory.reply, echo.graph, 4242, "hello", message_id="1")
            until(lambda: _in_line(memory) == 2)
            memory.people.unlink(4242)
        assert waiting.result(timeout=60) == "heard hello"

    assert history(memory, echo.graph, ANNA) == ["my secret", "heard my secret"]
    assert history(memory, echo.graph, ANNAS_TELEGRAM) == ["hello", "heard hello"]


def _in_line(memory):
    with memory.database.read() as connection:
        return len(connection.execute(select(turn)).all())
