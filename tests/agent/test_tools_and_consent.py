"""What an agent's tools keep: after a no only what the person asks for, with the message that it comes from."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from tests.cases import for_each

pytestmark = pytest.mark.spec("P-2", "W-7")

ERIN = "+972501234567"
TOOLS = {
    "save_memory": {"key": "health", "value": "diabetes"},
    "remember_fact": {"text": "Erin has diabetes"},
}


@pytest.fixture(params=TOOLS)
def says(memory, scripted, request):
    """What the person says to an agent that would keep it at once; what is remembered then."""
    call = AIMessage("", tool_calls=[{"name": request.param, "args": TOOLS[request.param], "id": "1"}])

    def answer(messages):
        if "offer" in messages[-1].text:
            return AIMessage("Shall I remember that?")
        return AIMessage("ok") if messages[-1].type == "tool" else call

    agent = create_agent(
        scripted(answer),
        [*memory.tools(), *memory.key_value_tools()],
        middleware=[memory.middleware()],
        checkpointer=memory.saver,
    )

    def say(text, **more):
        memory.reply(agent, ERIN, text, **more)
        return [each.text for each in memory.service.list_memories(ERIN)]

    return say


@pytest.mark.slow
@for_each(
    "said",
    [
        "ugh, my diabetes is acting up",
        "do you remember that I have diabetes?",
        "I can't remember whether I told you of my diabetes",
        "you never keep quiet about my diabetes",
        "remember when I got diabetes?",
        "remember to buy insulin for my diabetes",
        "mi médico recuerda que tengo diabetes",
        "אתה לא תזכור את הסוכרת שלי",
        "tengo diabetes",
        "יש לי סוכרת",
        "yes",
    ],
)
@for_each("switch", ["/privacy off", "/privacy sensitive off"])
def test_after_a_no_nothing_is_kept_that_was_not_asked_for(says, said, switch):
    says(switch)

    assert says(said) == []


@pytest.mark.slow
@for_each(
    "said",
    [
        "please remember that I have diabetes, ok?",
        "I have diabetes. Can you save that?",
        "don't forget my diabetes and show me recipes",
        "תזכרי שיש לי סוכרת ומה לאכול?",
        "tengo diabetes, apúntalo y dime qué comer",
    ],
)
def test_what_is_asked_for_is_kept_after_a_no_too(says, said):
    says("/privacy off")

    assert len(says(said)) == 1


@for_each(
    "said",
    [
        "don't save this: I have diabetes",
        "keep this between us, I have diabetes",
        "no lo guardes, pero tengo diabetes",
        "אל תשמור את זה: יש לי סוכרת",
    ],
)
@for_each("switch", ["/memories", "/privacy on"])
def test_what_the_person_asks_not_to_keep_no_tool_keeps(says, said, switch):
    says(switch)

    assert says(said) == []


def test_a_yes_to_the_assistants_offer_asks_for_it(says):
    says("/privacy off")
    says("offer to keep my diabetes")

    assert len(says("yes")) == 1


def test_who_was_never_asked_is_remembered_as_the_model_thinks_fit(says):
    assert len(says("ugh, my diabetes is acting up")) == 1


def test_what_no_person_wrote_asks_for_nothing(says):
    assert says("please remember my diabetes", automated=True) == []


def test_the_message_is_known_that_a_tools_memory_comes_from(says, memory):
    says("I have had diabetes since May")

    (made,) = memory.service.list_memories(ERIN)
    assert memory.provenance.why(ERIN, made.id).quote == "I have had diabetes since May"
