"""What limits what somebody may eat, take or do is recalled where there is talk of such things, and there alone."""

import pytest

from langmem_plugin.memory.find.recall_and_visibility import ReplyMemory
from tests.cases import for_each

ANNA = "+972501234567"
ILLNESS = "I've had diabetes since 2019"
OTHERS = [
    f"{name} keeps bees behind house {number}" for number, name in enumerate(["Abel", "Bela", "Cleo", "Dora", "Enzo"])
]


@pytest.mark.spec("M-9")
@for_each(
    ("limit", "said"),
    [
        ("Theo is allergic to eggs", "which cake shall I bake on Saturday?"),
        ("Nina went vegan in May", "what can I cook for the four of us tonight?"),
        ("soy alérgica al marisco", "¿qué preparo de cena para mañana?"),
        ("לדנה יש אלרגיה לאגוזים", "איזו עוגה לאפות לארוחת ערב?"),
    ],
)
def test_a_limit_is_found_where_nothing_of_it_is_said(memory, limit, said):
    memory.remember_many(ANNA, [(text, {}) for text in [*OTHERS, limit]])
    first, *_ = memory.search(ANNA, said, min_relevance=0.0)
    assert first.memory.text == limit


@pytest.mark.spec("M-9")
def test_an_illness_is_told_where_it_matters_and_not_for_anything_else(memory):
    memory.remember_many(ANNA, [(text, {}) for text in [*OTHERS, ILLNESS]])

    def told(said):
        return [each.text for each, _ in ReplyMemory(memory).recall(ANNA, "client", [said])]

    assert ILLNESS in told("my head hurts, which pill from the pharmacy?")
    assert ILLNESS not in told("where does Cleo keep the bees?")
    assert ILLNESS not in told("thanks!")
