"""A model that is asked what is meant is asked once in a turn, whatever wants to know it."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.reference_choices import ReferenceChoices

DISHES = ["Tuna pasta bake", "Garlic shrimp linguine"]
ASKED = ("the creamy one", "Two ideas.", DISHES)


class Seconds:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.mark.spec("R-1")
def test_the_model_is_asked_once_in_a_turn(scripted):
    model = scripted(lambda _: AIMessage("[2]"))
    choices = ReferenceChoices(model)
    assert [choices(*ASKED) for _ in range(3)] == [(1,)] * 3
    assert len(model.seen) == 1


@pytest.mark.spec("R-1")
def test_that_none_is_meant_is_an_answer_and_is_kept(scripted):
    model, seconds = scripted(lambda _: AIMessage("[]")), Seconds()
    choices = ReferenceChoices(model, seconds=seconds)
    assert choices(*ASKED) == ()
    seconds.now = 1e6
    assert choices(*ASKED) == ()
    assert len(model.seen) == 1


@pytest.mark.spec("R-4")
def test_a_model_that_failed_is_asked_again_in_a_later_turn_only(scripted):
    model, seconds = scripted(lambda _: 1 / 0), Seconds()
    choices = ReferenceChoices(model, seconds=seconds)
    assert [choices(*ASKED) for _ in range(3)] == [None] * 3
    assert len(model.seen) == 1
    model.script = lambda _: AIMessage("[2]")
    seconds.now = 61
    assert choices(*ASKED) == (1,)


@pytest.mark.spec("R-4")
@pytest.mark.parametrize(
    "other",
    [
        ("the other one", "Two ideas.", DISHES),
        ("the creamy one", "Three ideas.", DISHES),
        ("the creamy one", "Two ideas.", ["Apple crumble", "Banana bread"]),
        ("the creamy one", "Two ideas.", ["Tuna pasta bake', 'Garlic shrimp linguine"]),
    ],
)
def test_nobody_is_answered_with_what_another_was_shown(scripted, other):
    model = scripted(lambda _: AIMessage("[1]"))
    choices = ReferenceChoices(model)
    choices(*ASKED)
    assert choices(*other) == (0,)
    assert len(model.seen) == 2


@pytest.mark.spec("R-4")
def test_half_an_emoji_is_no_obstacle(scripted):
    assert ReferenceChoices(scripted(lambda _: AIMessage("[1]")))("that \ud83d", "\ude00", ["soup \ud83d"]) == (0,)


@pytest.mark.spec("R-1")
def test_a_memory_is_given_the_model_to_ask(scripted):
    said = [HumanMessage("ideas?"), AIMessage("1. Tuna pasta bake\n2. Garlic shrimp linguine"), HumanMessage("save it")]
    model = scripted(lambda _: AIMessage("[2]"))
    with PhoneMemory("sqlite://", reference_model=model) as memory:
        [meant] = memory.resolved(said).items
        assert meant["text"] == "Garlic shrimp linguine"
    with PhoneMemory("sqlite://") as memory:
        assert memory.resolved(said).question
