"""Recency, use and confidence order memories that are about equally relevant, and no others."""

import pytest

from tests.cases import for_each

ANNA = "+972501234567"
NEAR = [  # a question, and two memories that answer it about equally well
    ("what does Dana like to drink?", "Dana likes black tea", "Dana likes mint tea"),
    ("where do we eat on Fridays?", "On Fridays we eat at Luigi's", "On Fridays we eat at Rosa's"),
    ("who fixes the boiler?", "Yossi repaired the boiler", "Avi repaired the boiler"),
    ("what did the vet say?", "The vet said Rex needs drops", "The vet said Rex is too heavy"),
]
APART = [  # a question, what answers it, and what shares a subject with it
    ("what does Dana like to drink?", "Dana likes black tea", "Dana works in a bank"),
    ("where is the spare key?", "The spare key is under the pot", "The car key is lost"),
    ("what should I cook for Leo?", "Leo loves lasagna", "Leo plays chess"),
]
_DAY = 86_400_000_000


def order(memory, question, **more):
    return [each.memory.text for each in memory.search(ANNA, question, min_relevance=0.0, **more)]


def both(memory, question, texts):
    """Which is first when nothing else tells them apart, and the other one."""
    made = memory.remember_many(ANNA, [(text, {}) for text in texts])
    first, second = order(memory, question)[:2]
    return next(each for each in made if each.text == first), next(each for each in made if each.text == second)


@pytest.mark.spec("M-8")
@for_each(("question", "one", "other"), NEAR)
def test_of_two_near_equals_the_one_told_lately_is_first_after_90_days(memory, clock, question, one, other):
    first, second = both(memory, question, [one, other])
    memory.erase(ANNA)
    memory.remember(ANNA, first.text)
    clock.forward(days=90)
    memory.remember(ANNA, second.text)
    assert order(memory, question)[0] == second.text


@pytest.mark.spec("M-8")
@for_each(("question", "one", "other"), NEAR)
def test_of_two_near_equals_the_one_used_twenty_times_is_first(memory, question, one, other):
    first, second = both(memory, question, [one, other])
    assert order(memory, question)[0] == first.text
    for _ in range(20):
        memory.note_access(ANNA, {second.id: 0.9}, "injected")
    assert order(memory, question)[0] == second.text


@pytest.mark.spec("M-8")
@for_each(("question", "one", "other"), [NEAR[0], NEAR[2]])
def test_of_two_near_equals_the_surer_one_is_first(memory, question, one, other):
    first, second = both(memory, question, [one, other])
    memory.update(ANNA, first.id, confidence=0.4)
    assert order(memory, question)[0] == second.text


@pytest.mark.slow
@pytest.mark.spec("M-8")
@for_each("beside", [0, 12])
@for_each(("question", "better", "worse"), APART)
def test_what_answers_is_never_passed_by_what_only_shares_a_subject(memory, clock, question, better, worse, beside):
    memory.remember(ANNA, better, confidence=0.5)
    for number in range(beside):
        memory.remember(ANNA, f"Invoice {number} was paid by bank transfer in week {number}")
    clock.forward(days=365)
    often = memory.remember(ANNA, worse)
    for _ in range(40):
        memory.note_access(ANNA, {often.id: 0.9}, "cited")
    assert order(memory, question)[0] == better


@pytest.mark.spec("M-8")
def test_what_is_not_about_the_question_gains_nothing(memory):
    memory.remember(ANNA, "The car is in the garage")
    memory.remember(ANNA, "Dana likes black tea")
    found = memory.search(ANNA, "what does Dana like to drink?", min_relevance=0.0)
    scores = {each.memory.text: each.score for each in found}
    memory.note_access(ANNA, {each.memory.id: 0.9 for each in found}, "cited")
    again = {
        each.memory.text: each.score for each in memory.search(ANNA, "what does Dana like to drink?", min_relevance=0.0)
    }
    assert again["The car is in the garage"] == scores["The car is in the garage"]
    assert 0 < again["Dana likes black tea"] - scores["Dana likes black tea"] <= 0.05


@pytest.mark.spec("M-8")
def test_two_memories_that_differ_by_little_do_so_whatever_stands_beside_them(memory):
    def ahead():
        first, second = memory.search(ANNA, "what does Dana like to drink?", min_relevance=0.0, mode="semantic")[:2]
        return first.memory.text, first.score - second.score

    memory.remember_many(ANNA, [("Dana likes black tea", {}), ("Dana likes mint tea", {})])
    alone = ahead()
    memory.remember_many(ANNA, [(f"Invoice {number} was paid by bank transfer", {}) for number in range(12)])
    assert ahead() == (alone[0], pytest.approx(alone[1], abs=1e-4))
