"""Who sees what, and what comes first when nothing is asked."""

import pytest

from langmem_plugin.memory.scopes import recall_for, share

ANNA, BEN = "+972501234567", "+972507654321"


@pytest.mark.spec("M-16", "P-6")
def test_a_client_sees_their_own_and_what_was_shared_with_clients(memory):
    memory.remember(ANNA, "The office of TestCorp is in Haifa")
    memory.remember(BEN, "The office of TestCorp is in Berlin")
    share(memory, "The office of TestCorp costs 5,000 a month")
    share(memory, "The office of TestCorp opens at nine", with_clients=True)
    question = "tell me about the office of TestCorp"
    assert {each.memory.text for each in recall_for(memory, ANNA, "client", [question])} == {
        "The office of TestCorp is in Haifa",
        "The office of TestCorp opens at nine",
    }
    assert {each.memory.text for each in recall_for(memory, ANNA, "godfather", [question])} == {
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


@pytest.mark.spec("M-9")
def test_recall_follows_the_talk_and_does_not_drop_what_was_said_before(memory):
    for text in (
        "My daughter Mira wants a telescope for her birthday",
        "My daughter Mira wears size 36 shoes",
        "The car is parked on level 3",
        "We go to Norway in July",
    ):
        memory.remember(ANNA, text)

    def recalled(*said):
        return [each.memory.text for each in recall_for(memory, ANNA, "client", said)]

    assert recalled("what does my daughter Mira want for her birthday?")[0].endswith("telescope for her birthday")
    follow_up = recalled("what does my daughter Mira want for her birthday?", "and which shoes?")
    assert "My daughter Mira wears size 36 shoes" in follow_up[:2]
    moved_on = recalled("what does my daughter Mira want for her birthday?", "where did I park the car?")
    assert moved_on[0] == "The car is parked on level 3"
    assert recalled() == []
    assert recalled(" ") == []
