"""A code that was given out in one channel and is texted in another proves that both are one person's."""

import pytest
from sqlalchemy import select

from langmem_plugin.database.people_tables import link_attempt, link_code
from tests.cases import for_each
from tests.people.conftest import ANNA, ANNAS_TELEGRAM, BEN, redeemed


@pytest.mark.spec("C-20")
@for_each("typed", [str, str.lower, lambda code: code.replace("-", ""), lambda code: f" {code[:2]} {code[2:]}\n"])
def test_whoever_texts_the_code_is_the_person_who_was_given_it(memory, texts, typed):
    memory.service.remember(ANNA, "Anna has a boat")
    code = memory.people.link_code("whatsapp:+972501234567")
    assert redeemed(memory, "tg:4242", typed(code))
    assert texts(4242) == ["Anna has a boat"]


@pytest.mark.spec("C-20")
def test_both_histories_are_one_after_a_code(memory, texts):
    memory.service.remember(ANNA, "Anna has a boat")
    memory.service.remember(ANNAS_TELEGRAM, "Anna is allergic to nuts")
    assert redeemed(memory, 4242, memory.people.link_code(ANNA))
    assert texts(ANNA) == texts(4242) == ["Anna has a boat", "Anna is allergic to nuts"]


@pytest.mark.spec("C-20", "P-6")
def test_a_code_works_once_and_only_the_newest_does(memory):
    old, code = memory.people.link_code(ANNA), memory.people.link_code(ANNA)
    assert not redeemed(memory, 4242, old)
    assert redeemed(memory, 4242, code)
    assert not redeemed(memory, BEN, code)
    assert memory.people.resolve(BEN) == BEN


@pytest.mark.spec("C-20", "P-6")
def test_a_code_is_over_after_ten_minutes(memory, clock):
    code = memory.people.link_code(ANNA)
    clock.forward(minutes=10)
    assert not redeemed(memory, 4242, code)
    assert memory.people.resolve(4242) == ANNAS_TELEGRAM


@pytest.mark.spec("C-20")
def test_a_code_of_ones_own_is_used_up_and_changes_nothing(memory):
    code = memory.people.link_code(ANNA)
    assert redeemed(memory, ANNA, code)
    assert not redeemed(memory, 4242, code)
    assert memory.people.identifiers(ANNA) == [ANNA]


@pytest.mark.spec("C-20", "P-6")
def test_who_guesses_five_times_is_not_heard_for_ten_minutes_and_nobody_else_suffers(memory, clock, caplog):
    code = memory.people.link_code(ANNA)
    assert not any(redeemed(memory, 4242, f"0000-000{each}") for each in range(5))
    assert not redeemed(memory, "tg:4242", code)
    assert "people.too_many_codes" in [record.event for record in caplog.records if hasattr(record, "event")]
    assert redeemed(memory, 4243, code)
    clock.forward(minutes=11)
    assert redeemed(memory, 4242, memory.people.link_code(ANNA))
    with memory.database.read() as connection:
        assert connection.execute(select(link_attempt.c.identifier)).scalars().all() == [ANNAS_TELEGRAM]


@pytest.mark.spec("C-20", "P-6", "C-13")
@for_each("guess", ["", " ", "\ud800" * 8, "\0", "[" * 5_000, "١" * 8, "%", "' OR 1=1 --", "x" * 64_000])
def test_whatever_is_texted_instead_of_a_code_is_a_wrong_one(memory, guess):
    memory.people.link_code(ANNA)
    assert redeemed(memory, 4242, guess) is False


@pytest.mark.spec("C-20", "P-6")
def test_no_row_holds_the_code(memory):
    code = memory.people.link_code(ANNA)
    with memory.database.read() as connection:
        row = connection.execute(select(link_code)).one()
    assert code.replace("-", "").encode() not in row.digest + row.salt
    assert len(set(code) - set("0123456789BCDFGHJKMNPQRSTVWXYZ-")) == 0
