"""A reply asks, at its end and once, whether to remember something; the next message answers it exactly once."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langgraph.types import interrupt

from langmem_plugin import PhoneMemory, StoreUnavailable
from langmem_plugin.agent.commands.command_dispatch import Reading
from langmem_plugin.agent.commands.remember_and_confirm import verdict
from langmem_plugin.agent.replying.reply_texts import ENGLISH, replies_in
from langmem_plugin.conversation.turns.message_claims import MessageClaims
from langmem_plugin.memory.keep.usage_and_verdicts import Verdicts
from langmem_plugin.writing.confirmation import Confirmations
from tests.cases import for_each
from tests.chat_graph import chat_graph

pytestmark = pytest.mark.spec("W-5", "U-2")

ERIN, GROUP = "+972501234567", "972501234567-1@g.us"
FACT = "My dentist is Dr. Levi"
ASKED = f"Shall I remember this: “{FACT}”?"


@pytest.fixture(params=["nodes", "agent"])
def graph(request, memory, scripted):
    return built(request.param, memory, scripted(lambda _: AIMessage("Done.")))


def built(how, memory, model):
    if how == "agent":
        return create_agent(model, [], middleware=[memory.middleware()], checkpointer=memory.saver)
    return chat_graph(memory, lambda state: {"messages": model.invoke(memory.prompt(state, "Help."))})


@pytest.fixture
def unsure(memory):
    def store(text=FACT, owner=ERIN):
        return memory.service.remember(owner, text, status="pending", confidence=0.6)

    return store


def status(memory, made):
    with memory.database.read() as connection:
        return memory.service.repository.by_ids(connection, made.owner, [made.id])[0].status


def history(graph, phone=ERIN):
    found = graph.get_state({"configurable": {"thread_id": phone}}).values.get("messages", [])
    return [each.text for each in found]


@for_each("reply", ["reply", "areply"])
def test_a_reply_asks_at_its_end_and_yes_remembers(memory, graph, unsure, reply):
    made = unsure()

    def text(said):
        given = getattr(memory, reply)(graph, ERIN, said)
        return asyncio.run(given) if reply == "areply" else given

    assert text("find a recipe") == f"Done.\n\n{ASKED}"
    assert history(graph) == ["find a recipe", f"Done.\n\n{ASKED}"]
    assert text("yes") == f"✅ Remembered: {FACT}"
    assert status(memory, made) == "active"
    assert text("find another") == "Done."


def test_no_forgets_and_it_is_never_asked_again(memory, graph, unsure):
    made = unsure()
    memory.reply(graph, ERIN, "find a recipe")

    assert memory.reply(graph, ERIN, "no") == f"All right, I do not remember that: {FACT}"
    assert status(memory, made) == "forgotten"
    assert memory.reply(graph, ERIN, "find another") == "Done."


@pytest.mark.slow
@for_each("other", ["no, it is Dr. Cohen", "find another", "yes, and find a recipe", "/help", "👍🏿 or not"])
def test_anything_else_leaves_it_waiting_and_closes_the_question(memory, graph, unsure, other):
    made = unsure()
    memory.reply(graph, ERIN, "find a recipe")

    assert FACT not in memory.reply(graph, ERIN, other)
    assert memory.reply(graph, ERIN, "yes") == "Done."
    assert status(memory, made) == "pending"
    assert memory.command(ERIN, "/confirm") == (
        f"I am not sure of this (1):\n1. {FACT}\n"
        "Shall I remember it? /confirm 1 for yes, /confirm no 1 for no, /confirm all for all."
    )


@for_each(
    ("language", "said", "yes", "no"),
    [
        ("he", "תמצא לי מתכון", "כן, תזכור את זה", "לא, אל תזכור"),
        ("es", "busca una receta", "sí, recuérdalo", "no lo recuerdes"),
    ],
)
def test_it_is_asked_and_answered_in_the_persons_language(memory, graph, unsure, language, said, yes, no):
    texts = replies_in(language)
    first, second = unsure(), unsure("My gym is Holmes Place")

    assert memory.reply(graph, ERIN, said).endswith(texts.remember_this.format(fact=second.text))
    assert memory.reply(graph, ERIN, yes) == texts.remembered.format(fact=second.text)
    assert memory.reply(graph, ERIN, said).endswith(texts.remember_this.format(fact=first.text))
    assert memory.reply(graph, ERIN, no) == texts.declined.format(fact=first.text)


@for_each(
    "said",
    [
        "yes",
        "Yes, please!",
        "yes, remember it",
        "כן",
        "כן בבקשה",
        "sí",
        "👍🏽",
        "ok",
        "yep",
        "correct",
        "still",
        "yes it is",
        "it is still so",
    ],
)
def test_a_yes_is_understood(said):
    assert verdict(said) is True


@for_each("said", ["no", "No!", "don’t remember that", "not any more", "no longer", "לא", "אל תזכור", "ya no", "👎"])
def test_a_no_is_understood(said):
    assert verdict(said) is False


@for_each(
    "said",
    ["", "yes, forget it", "yes but call him Bob", "no, remember it", "maybe", "\ud83d", "nothing", "2", "yes " * 40],
)
def test_anything_less_than_sure_is_neither(said):
    assert verdict(said) is None


_DISMISSALS = [
    "never mind",
    "Nevermind.",
    "forget it",
    "Forget that",
    "stop",
    "no thanks",
    "No, thanks!",
    "no thank you",
    "not now",
    "not now please",
    "nah",
    "no problem",
    "no worries",
    "cancel",
    "לא תודה",
    "לא, תודה",
    "עזוב",
    "תשכח מזה",
    "no gracias",
    "No, gracias.",
    "olvídalo",
    "cancela",
]


def test_what_waves_a_question_away_is_neither():
    assert [each for each in _DISMISSALS if verdict(each) is not None] == []


@pytest.mark.slow
@pytest.mark.spec("W-6")
@for_each("said", ["never mind", "no thanks", "no worries", "לא תודה"])
def test_a_doubt_that_is_waved_away_leaves_the_memory_as_it_is_and_closes_the_question(memory, graph, clock, said):
    made = memory.service.remember(ERIN, "My gym is Holmes Place", slot="self/gym")
    with memory.database.write() as connection:
        memory.service.repository.change(connection, ERIN, made.id, {"doubted_at": clock()}, now=clock())
    assert "Holmes Place" in memory.reply(graph, ERIN, "find a recipe")

    assert memory.reply(graph, ERIN, said) == "Done."
    assert memory.reply(graph, ERIN, "no") == "Done."
    assert status(memory, made) == "active"


@for_each("over", ["silence", "ended"])
def test_a_question_lapses_with_the_session_that_it_was_asked_in(memory, graph, unsure, clock, over):
    made = unsure()
    memory.reply(graph, ERIN, "find a recipe")
    if over == "ended":
        memory.saver.end_session(ERIN)
        clock.forward(seconds=1)
    else:
        clock.forward(seconds=memory.settings.session_timeout.total_seconds())

    assert memory.reply(graph, ERIN, "no") == "Done."
    assert status(memory, made) == "pending"


def test_a_question_is_open_while_its_session_goes_on(memory, graph, unsure, clock):
    made = unsure()
    memory.reply(graph, ERIN, "find a recipe")
    clock.forward(seconds=memory.settings.session_timeout.total_seconds() - 1)

    memory.reply(graph, ERIN, "yes")
    assert status(memory, made) == "active"


@for_each("reply", ["Shall I order it?", "Which one?\n1. Soup\n2. Pasta", "¿Lo pido?", "Order it?! 🙂", "האם להזמין?"])
def test_a_reply_that_asks_something_itself_is_left_alone(memory, scripted, unsure, reply):
    unsure()
    graph = built("nodes", memory, scripted(lambda _: AIMessage(reply)))

    assert memory.reply(graph, ERIN, "find a recipe") == reply


def test_an_address_with_a_question_mark_asks_nothing(memory, scripted, unsure):
    unsure()
    graph = built("nodes", memory, scripted(lambda _: AIMessage("See https://x.org/?q=soup")))

    assert memory.reply(graph, ERIN, "find a recipe").endswith(ASKED)


def test_one_question_at_a_time(memory, graph, unsure):
    unsure()
    unsure("I drink tea")

    assert memory.reply(graph, ERIN, "find a recipe").count("Shall I") == 1


@pytest.mark.spec("C-6", "W-7")
def test_nothing_is_asked_below_what_answers_an_automated_message_nor_in_a_group(memory, graph, unsure):
    unsure()
    unsure(owner=GROUP)

    assert memory.reply(graph, ERIN, "good morning", automated=True) == "Done."
    assert memory.reply(graph, GROUP, "good morning", sender=ERIN) == "Done."


def test_nothing_is_asked_while_the_graph_waits_for_an_answer(memory, unsure):
    made = unsure()

    def agent(state):
        return {"messages": AIMessage(f"You said {interrupt('Shall I order it?')}")}

    graph = chat_graph(memory, agent)
    assert memory.reply(graph, ERIN, "order it") == "Shall I order it?"
    assert memory.reply(graph, ERIN, "yes") == f"You said yes\n\n{ASKED}"
    assert status(memory, made) == "pending"


def test_a_question_that_something_else_asked_meanwhile_goes_first(memory, scripted, unsure):
    memory.service.remember(ERIN, "I have a dog")

    def answer(messages):
        memory.command(ERIN, "/forget dog")
        return AIMessage("Done.")

    made = unsure()
    graph = built("nodes", memory, scripted(answer))

    assert memory.reply(graph, ERIN, "find a recipe") == "Done."
    assert memory.reply(graph, ERIN, "yes").endswith("I have a dog")
    assert status(memory, made) == "pending"


def test_what_the_assistant_says_by_itself_afterwards_is_what_a_yes_is_to(memory, graph, unsure):
    made = unsure()
    memory.reply(graph, ERIN, "find a recipe")
    memory.say(ERIN, "Shall I order it?")

    assert memory.reply(graph, ERIN, "yes") == "Done."
    assert status(memory, made) == "pending"


def test_what_was_written_before_it_was_asked_is_no_answer(memory, graph, unsure, clock):
    made = unsure()
    before = clock()
    clock.forward(minutes=1)
    memory.reply(graph, ERIN, "find a recipe")

    assert memory.reply(graph, ERIN, "yes", sent_at=before) == "Done."
    assert status(memory, made) == "pending"


def test_a_message_that_waited_for_its_turn_is_no_answer_either(memory, scripted, unsure):
    made = unsure()
    graph = built("agent", memory, scripted(lambda _: AIMessage("Done.")))
    memory.reply(graph, ERIN, "find a recipe")
    # It was taken for the agent's before the question was there, so it never came by the commands.
    memory.commands.reading = lambda *_, **__: Reading(is_asked=True)

    assert memory.reply(graph, ERIN, "yes") == "Done."
    assert status(memory, made) == "pending"


def test_an_answer_a_day_later_is_no_answer_any_more(memory, graph, unsure, clock):
    made = unsure()
    memory.reply(graph, ERIN, "find a recipe")
    clock.forward(days=1)

    assert memory.reply(graph, ERIN, "yes") == "Done."
    assert status(memory, made) == "pending"


def test_what_was_forgotten_or_changed_meanwhile_is_left_as_it_is(memory, graph, unsure):
    made = unsure()
    memory.reply(graph, ERIN, "find a recipe")
    memory.service.forget(ERIN, made.id)
    assert memory.reply(graph, ERIN, "yes") == ENGLISH.confirm_changed
    assert status(memory, made) == "forgotten"

    made = unsure("My gym is Holmes Place")
    memory.reply(graph, ERIN, "find a recipe")
    memory.service.update(ERIN, made.id, text="My gym is Space")
    assert memory.reply(graph, ERIN, "yes") == ENGLISH.confirm_changed
    assert status(memory, made) == "pending"


@pytest.mark.spec("C-21")
def test_an_answer_delivered_twice_to_two_workers_counts_once(
    memory, graph, unsure, database_url, offline_model, clock
):
    unsure()
    memory.reply(graph, ERIN, "find a recipe", message_id=1)
    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as other:
        elsewhere = chat_graph(other, lambda _: {"messages": AIMessage("heard it")})
        first = memory.reply(graph, ERIN, "yes", message_id=2)
        second = other.reply(elsewhere, ERIN, "yes", message_id=2)

    assert (first, second) == (f"✅ Remembered: {FACT}",) * 2
    assert (first.repeated, second.repeated) == (False, True)
    assert memory.confirmations.verdicts() == Verdicts(asked=1, confirmed=1)


@pytest.mark.spec("C-21")
def test_the_message_whose_reply_asked_may_be_delivered_again_without_closing_the_question(memory, graph, unsure):
    unsure()
    first = memory.reply(graph, ERIN, "find a recipe", message_id=1)
    second = memory.reply(graph, ERIN, "find a recipe", message_id=1)

    assert first == second == f"Done.\n\n{ASKED}"
    assert second.repeated
    assert memory.reply(graph, ERIN, "yes", message_id=2) == f"✅ Remembered: {FACT}"


@pytest.mark.spec("C-21", "C-5")
def test_a_question_that_was_never_sent_is_not_open(memory, unsure, scripted, monkeypatch):
    made = unsure()
    graph = built("nodes", memory, scripted(lambda _: AIMessage("Done.")))

    def cut_short(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(MessageClaims, "answered", cut_short)
        with pytest.raises(KeyboardInterrupt):
            memory.reply(graph, ERIN, "find a recipe", message_id=1)

    assert memory.reply(graph, ERIN, "yes") != f"✅ Remembered: {FACT}"
    assert status(memory, made) == "pending"


@pytest.mark.spec("M-14")
def test_while_the_database_is_down_the_reply_goes_out_without_the_question(memory, graph, unsure, monkeypatch):
    unsure()

    def stopped(*_):
        raise StoreUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(Confirmations, "unsure", stopped)
        assert memory.reply(graph, ERIN, "find a recipe") == "Done."
    with monkeypatch.context() as patch:
        patch.setattr(Confirmations, "note_asked", stopped)
        assert memory.reply(graph, 4242, "find a recipe") == "Done."
    assert memory.reply(graph, ERIN, "find a recipe") == f"Done.\n\n{ASKED}"


@pytest.mark.spec("C-20")
def test_a_question_asked_before_two_became_one_person_is_answered_by_the_one(memory, graph, unsure):
    made = unsure(owner="telegram:4242")
    assert memory.reply(graph, 4242, "find a recipe").endswith(ASKED)
    memory.people.merge(ERIN, 4242)

    assert memory.reply(graph, 4242, "yes") == f"✅ Remembered: {FACT}"
    assert [each.id for each in memory.service.list_memories(ERIN)] == [made.id]


def test_a_run_of_the_agent_outside_of_reply_asks_and_is_answered(memory, scripted, unsure):
    made = unsure()
    model = scripted(lambda _: AIMessage("Done."))
    graph = built("agent", memory, model)

    def said(text):
        with memory.turn(ERIN) as config:
            return graph.invoke({"messages": text}, config)["messages"][-1].text

    assert said("find a recipe") == f"Done.\n\n{ASKED}"
    assert said("yes") == f"✅ Remembered: {FACT}"
    assert status(memory, made) == "active"
    assert len(model.seen) == 1
    assert said("yes") == "Done."


def test_confirm_takes_numbers_all_and_no(memory, unsure, clock):
    for text in ("I drink tea", "I drink milk", "I drink wine", "I drink rum"):
        unsure(text)
        clock.forward(seconds=1)
    memory.command(ERIN, "/confirm")

    assert memory.command(ERIN, "/confirm 2") == "✅ Remembered: I drink milk"
    # The numbers are those of the list that was shown, whatever was decided since.
    assert memory.command(ERIN, "/confirm no 3, 1") == (
        "All right, I do not remember that: I drink wine\nAll right, I do not remember that: I drink tea"
    )
    assert memory.command(ERIN, "/confirm 2") == "✅ Remembered: I drink milk"
    assert memory.command(ERIN, "/confirm 9") == "Give me numbers from 1 to 4, as /confirm lists them."
    assert memory.command(ERIN, "/confirm yes to all").startswith("Give me")
    assert memory.command(ERIN, "/confirm all") == "✅ Remembered: I drink rum"
    assert memory.command(ERIN, "/confirm") == "Nothing waits for your word."
    assert memory.confirmations.verdicts() == Verdicts(confirmed=2, declined=2)


@for_each("rest", ["x", "-1", "0", "1.5", "²", "99999999999999999999", "\ud83d", "1 " * 500])
def test_what_names_nothing_that_waits_decides_nothing(memory, unsure, rest):
    made = unsure()

    assert memory.command(ERIN, f"/confirm {rest}").startswith("Give me numbers")
    assert status(memory, made) == "pending"


def test_the_only_one_that_waits_needs_no_number(memory, unsure):
    unsure()
    assert memory.command(ERIN, "/confirmar sí") == f"✅ Recordado: {FACT}"


def test_what_is_in_doubt_is_asked_about_and_a_no_makes_it_history(memory, graph, clock):
    made = memory.service.remember(ERIN, "My gym is Holmes Place", slot="self/gym")
    clock.forward(minutes=1)
    memory.service.remember(ERIN, "I moved to Haifa", slot="self/home")
    with memory.database.write() as connection:
        memory.service.repository.change(connection, ERIN, made.id, {"doubted_at": clock()}, now=clock())

    asked = "You told me: “I moved to Haifa”. Is this still so: “My gym is Holmes Place”?"
    assert memory.reply(graph, ERIN, "find a recipe") == f"Done.\n\n{asked}"
    assert memory.reply(graph, ERIN, "not any more") == "All right, that is over: My gym is Holmes Place"
    assert status(memory, made) == "superseded"
    assert memory.reply(graph, ERIN, "find another") == "Done."
