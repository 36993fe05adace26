"""Who sees what, and what comes first when nothing is asked."""

import pytest

from langmem_plugin.memory.scopes import recall_as, share

ANNA, BEN = "+972501234567", "+972507654321"


@pytest.mark.spec("M-16", "P-6")
def test_a_client_sees_their_own_and_what_was_shared_with_clients(memory):
    memory.remember(ANNA, "The office of TestCorp is in Haifa")
    memory.remember(BEN, "The office of TestCorp is in Berlin")
    share(memory, "The office of TestCorp costs 5,000 a month")
    share(memory, "The office of TestCorp opens at nine", with_clients=True)
    question = "tell me about the office of TestCorp"
    assert {each.memory.text for each in recall_as(memory, ANNA, "client", question)} == {
        "The office of TestCorp is in Haifa",
        "The office of TestCorp opens at nine",
    }
    assert {each.memory.text for each in recall_as(memory, ANNA, "godfather", question)} == {
        "The office of TestCorp is in Haifa",
        "The office of TestCorp opens at nine",
        "The office of TestCorp costs 5,000 a month",
    }


@pytest.mark.spec("M-9", "M-8")
def test_with_no_topic_the_most_recent_and_most_used_come_first(memory, clock):
    used = memory.remember(ANNA, "The cat is called Biscuit")
    memory.remember(ANNA, "I bought a blue lamp")
    clock.forward(days=90)
    for _ in range(5):
        memory.note_access(ANNA, {used.id: None}, "cited")
    told = memory.remember(ANNA, "I am learning Japanese")
    assert [each.text for each in memory.foremost(ANNA, limit=3)] == [
        "The cat is called Biscuit",
        told.text,
        "I bought a blue lamp",
    ]
    assert memory.foremost(BEN) == []
