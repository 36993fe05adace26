"""A model that is asked what is meant is asked once in a turn, whatever wants to know it."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langmem_plugin.agent.reference_choices import ReferenceChoices

DISHES = ["Tuna pasta bake", "Garlic shrimp linguine"]
SAID = HumanMessage("the creamy one", id="message-1")


@pytest.mark.spec("R-1")
def test_the_model_is_asked_once_in_a_turn(scripted):
    model = scripted(lambda _: AIMessage("[2]"))
    choices = ReferenceChoices(model)
    for _ in range(3):
        assert choices.of_turn(SAID)(SAID.text, "Two ideas.", DISHES) == (1,)
    assert len(model.seen) == 1


@pytest.mark.spec("R-4")
def test_a_model_that_failed_is_asked_again_in_the_next_turn_only(scripted):
    model = scripted(lambda _: 1 / 0)
    choices = ReferenceChoices(model)
    for _ in range(3):
        assert choices.of_turn(SAID)(SAID.text, "Two ideas.", DISHES) is None
    assert len(model.seen) == 1
    model.script = lambda _: AIMessage("[2]")
    later = SAID.model_copy(update={"id": "message-2"})
    assert choices.of_turn(later)(later.text, "Two ideas.", DISHES) == (1,)


@pytest.mark.spec("R-4")
def test_without_an_id_a_failure_is_no_ones_answer(scripted):
    model = scripted(lambda _: AIMessage("no idea"))
    choices = ReferenceChoices(model)
    nameless = HumanMessage("the creamy one")
    assert choices.of_turn(nameless)("the creamy one", "", DISHES) is None
    model.script = lambda _: AIMessage("[]")
    assert choices.of_turn(nameless)("the creamy one", "", DISHES) == ()


@pytest.mark.spec("R-4")
def test_nobody_is_answered_with_what_another_was_shown(scripted):
    model = scripted(lambda messages: AIMessage("[1]" if "Tuna" in messages[-1].text else "[2]"))
    choices = ReferenceChoices(model)
    same_id = SAID.model_copy()
    assert choices.of_turn(SAID)(SAID.text, "", DISHES) == (0,)
    assert choices.of_turn(same_id)(SAID.text, "", ["Apple crumble", "Banana bread"]) == (1,)


@pytest.mark.spec("R-4")
def test_half_an_emoji_is_no_obstacle(scripted):
    choices = ReferenceChoices(scripted(lambda _: AIMessage("[1]")))
    assert choices.of_turn(HumanMessage("\ud83d", id="\ud83d"))("that \ud83d", "\ude00", ["soup \ud83d"]) == (0,)
