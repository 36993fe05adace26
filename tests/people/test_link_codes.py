"""A code that was given out in one channel and is texted in another proves that both are one person's."""

import pytest
from sqlalchemy import select

from langmem_plugin import Settings
from langmem_plugin.database.people_tables import link_attempt, link_code
from langmem_plugin.people import People
from langmem_plugin.people.person_settings import PersonSettings
from tests.cases import for_each
from tests.people.conftest import ANNA, ANNAS_TELEGRAM, BEN


@pytest.mark.spec("C-20")
@for_each("typed", [str, str.lower, lambda code: code.replace("-", ""), lambda code: f" {code[:2]} {code[2:]}\n"])
def test_whoever_texts_the_code_is_the_person_who_was_given_it(memory, texts, typed):
    memory.service.remember(ANNA, "Anna has a boat")
    code = memory.people.link_code("whatsapp:+972501234567")
    assert memory.people.redeem("tg:4242", typed(code))
    assert texts(4242) == ["Anna has a boat"]


@pytest.mark.spec("C-20")
def test_both_histories_are_one_after_a_code(memory, texts):
    memory.service.remember(ANNA, "Anna has a boat")
    memory.service.remember(ANNAS_TELEGRAM, "Anna is allergic to nuts")
    assert memory.people.redeem(4242, memory.people.link_code(ANNA))
    assert texts(ANNA) == texts(4242) == ["Anna has a boat", "Anna is allergic to nuts"]


@pytest.mark.spec("C-20", "P-6")
def test_a_code_works_once_and_only_the_newest_does(memory):
    old, code = memory.people.link_code(ANNA), memory.people.link_code(ANNA)
    assert not memory.people.redeem(4242, old)
    assert memory.people.redeem(4242, code)
    assert not memory.people.redeem(BEN, code)
    assert memory.people.resolve(BEN) == BEN


@pytest.mark.spec("C-20", "P-6")
def test_a_code_is_over_after_ten_minutes(memory, clock):
    code = memory.people.link_code(ANNA)
    clock.forward(minutes=10)
    assert not memory.people.redeem(4242, code)
    assert memory.people.resolve(4242) == ANNAS_TELEGRAM


@pytest.mark.spec("C-20")
def test_a_code_of_ones_own_is_used_up_and_changes_nothing(memory):
    code = memory.people.link_code(ANNA)
    assert memory.people.redeem(ANNA, code)
    assert not memory.people.redeem(4242, code)
    assert memory.people.list() == []


@pytest.mark.spec("C-20", "P-6")
def test_who_guesses_five_times_is_not_heard_for_ten_minutes_and_nobody_else_suffers(memory, clock, caplog):
    code = memory.people.link_code(ANNA)
    assert not any(memory.people.redeem(4242, f"0000-000{each}") for each in range(5))
    assert not memory.people.redeem("tg:4242", code)
    assert "people.too_many_codes" in [record.event for record in caplog.records if hasattr(record, "event")]
    assert memory.people.redeem(4243, code)
    clock.forward(minutes=11)
    assert memory.people.redeem(4242, memory.people.link_code(ANNA))
    with memory.database.read() as connection:
        assert connection.execute(select(link_attempt.c.identifier)).scalars().all() == [ANNAS_TELEGRAM]


@pytest.mark.spec("C-20", "P-6", "C-13")
@for_each("guess", ["", " ", "\ud800" * 8, "\0", "[" * 5_000, "١" * 8, "%", "' OR 1=1 --", "x" * 64_000])
def test_whatever_is_texted_instead_of_a_code_is_a_wrong_one(memory, guess):
    memory.people.link_code(ANNA)
    assert memory.people.redeem(4242, guess) is False


@pytest.mark.spec("C-20", "P-6")
def test_no_row_holds_the_code(memory):
    code = memory.people.link_code(ANNA)
    with memory.database.read() as connection:
        row = connection.execute(select(link_code)).one()
    assert code.replace("-", "").encode() not in row.digest + row.salt
    assert len(set(code) - set("0123456789BCDFGHJKMNPQRSTVWXYZ-")) == 0


@pytest.mark.spec("C-20", "P-6")
def test_people_can_be_used_alone(memory, clock):
    alone = People(
        memory.database,
        memory.saver,
        memory.service,
        person_settings=PersonSettings(memory.database, Settings()),
        region="IL",
        now=clock,
    )
    assert alone.redeem(4242, alone.link_code("050-123-4567"))
    assert alone.resolve(4242) == ANNA


@pytest.mark.spec("C-20", "P-6")
def test_all_guesses_together_are_limited_and_a_code_outlives_few(memory, clock):
    code = memory.people.link_code(ANNA)
    assert not any(memory.people.redeem(guesser, "0000-0000") for guesser in range(1, 51))
    assert not memory.people.redeem(4242, code)
    for guesser in range(1, 40):
        for _ in range(4):
            memory.people.redeem(guesser, "0000-0000")
    assert not memory.people.redeem(4243, memory.people.link_code(ANNA))
    clock.forward(minutes=11)
    assert memory.people.redeem(4243, memory.people.link_code(ANNA))
