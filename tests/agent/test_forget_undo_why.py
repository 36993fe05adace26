"""/forget asks before it forgets what it only believes to be meant, and /undo takes it back."""

import pytest
from sqlalchemy import insert, select

from langmem_plugin import PhoneMemory
from langmem_plugin.agent.replying.reply_texts import replies_in
from langmem_plugin.database.conversation_tables import question
from langmem_plugin.memory.find.recall_and_visibility import SHARED, share
from tests.cases import for_each

ERIN, JASON = "+972501234567", "+972501234568"


def texts(memory, owner=ERIN):
    return {each.text for each in memory.service.list_memories(owner)}


@pytest.mark.spec("U-2")
@for_each("wanted", ["a", "I", "the", "have a", "og", "do", "-", "4"])
def test_a_little_word_never_forgets_and_asks_about_nothing(memory, wanted):
    memory.command(ERIN, "/remember I have a dog")

    assert memory.command(ERIN, f"/forget {wanted}").startswith("I remember nothing like")
    assert memory.command(ERIN, "yes") is None
    assert texts(memory) == {"I have a dog"}


@pytest.mark.spec("U-2")
def test_three_words_of_four_are_not_enough(memory):
    memory.command(ERIN, "/remember Моя сестра любит красное вино")  # the offline model knows no Russian

    assert memory.command(ERIN, "/forget сестра красное вино машина").startswith("I remember nothing like")
    assert memory.command(ERIN, "/forget сестра красное вино").startswith("Shall I forget this?")


@pytest.mark.spec("U-2")
def test_what_means_nearly_the_same_is_offered(memory):
    memory.command(ERIN, "/remember I have a dog")

    assert memory.command(ERIN, "/forget my puppy").startswith("Shall I forget this? I have a dog")


@pytest.mark.slow
@pytest.mark.spec("U-2")
@for_each("yes", ["yes", "Yes.", "YES!", "כן", "sí", "Si", "👍", "👍🏿", "1", "ok"])
def test_yes_in_any_language_forgets_what_was_shown(memory, yes):
    memory.command(ERIN, "/remember I have a dog")
    memory.command(ERIN, "/forget dog")

    assert memory.command(ERIN, yes).endswith(": I have a dog")
    assert texts(memory) == set()
    assert memory.command(ERIN, yes) is None


@pytest.mark.spec("U-2")
@for_each("no", ["no", "No!", "לא", "never mind", "no gracias", "👎"])
def test_no_keeps_it_and_closes_the_question(memory, no):
    memory.command(ERIN, "/remember I have a dog")
    memory.command(ERIN, "/forget dog")

    assert memory.command(ERIN, no)
    assert memory.command(ERIN, "yes") is None
    assert texts(memory) == {"I have a dog"}


@pytest.mark.spec("U-2")
@for_each("other", ["yes, and find me a vet", "what is the weather?", "/help", "/etc/hosts", "yes " * 100, "1.5"])
def test_anything_else_drops_the_question_and_goes_where_it_belongs(memory, other):
    memory.command(ERIN, "/remember I have a dog")
    memory.command(ERIN, "/forget dog")

    assert (memory.command(ERIN, other) is None) == (other != "/help")
    assert memory.command(ERIN, "yes") is None
    assert texts(memory) == {"I have a dog"}


@pytest.mark.spec("U-2")
def test_of_several_a_number_chooses_and_a_yes_does_not(memory):
    for fact in ("I drink black tea", "I drink green tea"):
        memory.command(ERIN, f"/remember {fact}")
    lines = memory.command(ERIN, "/forget tea").splitlines()
    second = lines[2].removeprefix("2. ").split(" (")[0]

    assert memory.command(ERIN, "yes") == "Answer with a number from 1 to 2, or no."
    assert memory.command(ERIN, "3") == "Answer with a number from 1 to 2, or no."
    assert memory.command(ERIN, "number 2") == f"🗑️ Forgotten: {second}"
    assert len(texts(memory)) == 1


@pytest.mark.spec("U-2")
def test_a_number_that_is_not_there_is_asked_about_again_as_it_was_asked(memory):
    memory.command(ERIN, "/remember I have a dog")
    memory.command(ERIN, "/forget dog")
    assert memory.command(ERIN, "3") == "Answer yes or no."
    assert memory.command(ERIN, "yes") == "🗑️ Forgotten: I have a dog"


@pytest.mark.spec("U-2")
@for_each("several", ["both", "All of them.", "las dos", "שניהם"])
def test_several_at_once_are_asked_about_again_and_all_stay(memory, several):
    for fact in ("I drink black tea", "I drink green tea"):
        memory.command(ERIN, f"/remember {fact}")
    memory.command(ERIN, "/forget tea")
    assert memory.command(ERIN, several) in {
        replies_in(each).forget_number.format(most=2) for each in ("en", "es", "he")
    }
    assert len(texts(memory)) == 2
    memory.command(ERIN, "1")
    assert len(texts(memory)) == 1


@pytest.mark.spec("U-2")
def test_more_than_five_are_not_all_listed(memory):
    memory.service.remember_many(ERIN, [(f"My tea number {number} is green", {}) for number in range(9)])

    asked = memory.command(ERIN, "/forget tea").splitlines()

    assert len(asked) == 7
    assert asked[-1].startswith("There are more.")


@pytest.mark.spec("U-2")
def test_a_question_is_open_for_ten_minutes(memory, clock):
    memory.command(ERIN, "/remember I have a dog")
    memory.command(ERIN, "/forget dog")
    clock.forward(minutes=10)

    assert memory.command(ERIN, "yes") is None
    assert texts(memory) == {"I have a dog"}


@pytest.mark.spec("U-2", "C-5")
def test_another_process_knows_the_question_and_one_of_the_two_answers_it(database_url, clock, offline_model):
    with (
        PhoneMemory(database_url, embeddings=offline_model, now=clock) as one,
        PhoneMemory(database_url, embeddings=offline_model, now=clock) as other,
    ):
        one.command(ERIN, "/remember I have a dog")
        one.command(ERIN, "/forget dog")

        assert other.command(ERIN, "yes") == "🗑️ Forgotten: I have a dog"
        assert one.command(ERIN, "yes") is None


@pytest.mark.spec("P-6", "U-2")
def test_one_persons_question_is_not_anothers(memory):
    for phone in (ERIN, JASON):
        memory.command(phone, "/remember I have a dog")
    memory.command(ERIN, "/forget dog")

    assert memory.command(JASON, "yes") is None
    assert memory.command(ERIN, "yes") == "🗑️ Forgotten: I have a dog"
    assert texts(memory, JASON) == {"I have a dog"}


@pytest.mark.spec("U-2")
def test_what_changed_after_it_was_shown_is_kept(memory):
    made = memory.service.remember(ERIN, "I have a dog")
    memory.command(ERIN, "/forget dog")
    memory.service.update(ERIN, made.id, text="I have a dog and a cat")

    assert memory.command(ERIN, "yes").startswith("It has changed meanwhile")
    assert texts(memory) == {"I have a dog and a cat"}


@pytest.mark.spec("U-2")
def test_what_something_else_asked_is_left_alone(memory, clock):
    asked = {"thread": ERIN, "asked_at": clock(), "payload": b'{"kind": "another"}'}
    with memory.database.write() as connection:
        connection.execute(insert(question).values(asked))

    assert memory.command(ERIN, "yes") is None
    with memory.database.read() as connection:
        assert connection.execute(select(question.c.payload)).scalars().all() == [b'{"kind": "another"}']


@pytest.mark.spec("U-2")
def test_every_memory_of_the_same_text_is_forgotten_with_it(memory):
    memory.service.remember(ERIN, "I have a dog")
    memory.service.remember(ERIN, "i have  a dog.", key="pet")
    memory.service.remember(ERIN, "I HAVE A DOG", key="animal", fact_type="personal")

    assert memory.command(ERIN, "/forget I have a dog") == "🗑️ Forgotten: I have a dog"
    assert texts(memory) == set()
    assert memory.service.search(ERIN, "dog") == []
    assert memory.service.get_all_sessions() == []


@pytest.mark.spec("U-2", "W-5")
def test_what_waits_for_confirmation_is_forgotten_with_what_says_the_same(memory):
    session = "s"
    waiting = memory.service.create_memory(session, "I have a dog", owner=ERIN, status="pending")
    memory.service.remember(ERIN, "I have a dog", key="pet")

    memory.command(ERIN, "/forget I have a dog")

    assert memory.service.list_memories(ERIN, statuses=("active", "pending")) == []
    assert waiting.status == "pending"


@pytest.mark.spec("U-2", "M-16")
def test_what_is_shared_is_nobodys_to_forget_and_shows_no_id(memory):
    shared = share(memory.service, "The office dog is called Rex", with_clients=True)

    assert "[" not in memory.command(ERIN, "/search office dog")
    for wanted in (shared.id, shared.id[:8], "office dog", shared.text):
        assert memory.command(ERIN, f"/forget {wanted}").startswith("I remember nothing like")
    assert len(memory.service.list_memories(SHARED)) == 1


@pytest.mark.spec("U-2")
def test_the_ids_that_search_gives_are_known_to_forget(memory):
    memory.command(ERIN, "/remember I have a dog")

    short_id = memory.command(ERIN, "/search dog").rsplit("[", 1)[1].rstrip("]")

    assert memory.command(ERIN, f"/forget [{short_id}]") == "🗑️ Forgotten: I have a dog"


@pytest.mark.spec("U-2")
def test_undo_brings_back_the_last_ones_one_by_one_and_they_are_found_again(memory):
    for fact in ("I have a dog", "I drink green tea"):
        memory.command(ERIN, f"/remember {fact}")
        memory.command(ERIN, f"/forget {fact}")
    assert memory.service.search(ERIN, "dog", mode="semantic") == []

    assert memory.command(ERIN, "/undo") == "↩️ I remember again: I drink green tea"
    assert memory.command(ERIN, "/undo") == "↩️ I remember again: I have a dog"
    assert memory.command(ERIN, "/undo").startswith("I have forgotten nothing")
    assert memory.service.search(ERIN, "my puppy", mode="semantic")[0].memory.text == "I have a dog"
    assert texts(memory) == {"I have a dog", "I drink green tea"}


@pytest.mark.spec("U-2")
def test_undo_is_for_ten_minutes_and_for_the_person_alone(memory, clock):
    memory.command(ERIN, "/remember I have a dog")
    memory.command(ERIN, "/forget I have a dog")

    assert memory.command(JASON, "/undo").startswith("I have forgotten nothing")
    clock.forward(minutes=10)
    assert memory.command(ERIN, "/undo").startswith("I have forgotten nothing")
    assert memory.service.list_memories(ERIN, statuses=("forgotten",)) != []
    clock.forward(days=30)
    memory.service.purge()
    assert memory.service.list_memories(ERIN, statuses=("forgotten",)) == []


@pytest.mark.spec("U-2")
def test_undo_makes_no_second_memory_of_what_was_told_again(memory):
    for line in ("/remember I drink tea", "/forget I drink tea", "/remember I have a dog", "/forget I have a dog"):
        memory.command(ERIN, line)
    memory.command(ERIN, "/remember I have a dog")

    assert memory.command(ERIN, "/undo") == "↩️ I remember again: I drink tea"
    assert len(memory.service.list_memories(ERIN)) == 2


@pytest.mark.spec("C-14", "U-2")
def test_while_the_embedding_model_is_down_words_still_find_it(database_url, clock, breaking):
    with PhoneMemory(database_url, embeddings=breaking, now=clock) as memory:
        memory.service.embedder._sleep = lambda _seconds: None
        memory.command(ERIN, "/remember I have a dog")
        breaking.failing = True

        assert memory.command(ERIN, "/forget dog").startswith("Shall I forget this?")
        assert memory.command(ERIN, "/forget puppy").startswith("I remember nothing like")


@pytest.mark.spec("U-2", "C-21")
def test_in_a_talk_yes_answers_the_question_and_after_other_words_it_is_the_agents(memory, graph_of, scripted):
    graph = graph_of(scripted())
    memory.command(ERIN, "/remember I have a dog")
    memory.command(ERIN, "/remember I drink green tea")

    assert memory.reply(graph, ERIN, "/forget dog").startswith("Shall I forget this?")
    assert memory.reply(graph, ERIN, "yes") == "🗑️ Forgotten: I have a dog"
    assert memory.reply(graph, ERIN, "yes") == "heard 2"
    for other in ("what is the weather like?", "/etc/hosts"):
        memory.reply(graph, ERIN, "/forget green tea or so, tea")
        memory.reply(graph, ERIN, "/forget tea")
        assert memory.reply(graph, ERIN, other).startswith("heard")
        assert memory.reply(graph, ERIN, "yes").startswith("heard")
    assert texts(memory) == {"I drink green tea"}


@pytest.mark.spec("U-2")
def test_replies_of_the_channel_are_in_the_persons_language(memory, graph_of, scripted):
    graph = graph_of(scripted())

    assert memory.reply(graph, ERIN, "שלום, מה שלומך?").startswith("heard")
    assert memory.reply(graph, ERIN, "  ") == replies_in("he").empty_message
    assert memory.reply(graph, ERIN, "/reset") == replies_in("he").conversation_cleared


@pytest.mark.spec("U-2")
@for_each(("said", "gone"), [("the first one", 1), ("the last one", 2), ("השני", 2), ("number 2 please", 2)])
def test_a_question_is_answered_by_a_place_in_words(memory, said, gone):
    memory.command(ERIN, "/remember green tea in the morning")
    memory.command(ERIN, "/remember black tea at noon")
    asked = memory.command(ERIN, "/forget tea").splitlines()
    [meant] = [line for line in asked if line.startswith(f"{gone}. ")]

    memory.command(ERIN, said)

    [left] = memory.service.list_memories(ERIN)
    assert left.text not in meant


@pytest.mark.spec("U-2")
@for_each("said", ["yep, go ahead", "sure thing", "do it", "יאללה"])
def test_a_question_is_answered_by_any_yes_that_a_graphs_is(memory, said):
    memory.command(ERIN, "/remember green tea in the morning")
    memory.command(ERIN, "/forget tea")
    memory.command(ERIN, said)

    assert memory.service.list_memories(ERIN) == []


@pytest.mark.spec("U-2", "W-9")
@for_each(
    ("kept", "said"),
    [
        ("The garage code is 8812", "please delete the garage code"),
        ("I live in Ghent", "can you forget where I live?"),
        ("My sister Ada is moving out", "delete what you know about my sister"),
        ("El código del garaje es 8812", "borra el código del garaje, por favor"),
        ("הקוד של החניה הוא 8812", "תמחקי את הקוד של החניה"),
    ],
)
def test_what_is_to_be_deleted_in_plain_words_is_found_and_asked_about(memory, kept, said):
    memory.command(ERIN, f"/remember {kept}")
    told = memory.command(ERIN, said)

    assert kept in told
    assert [each.text for each in memory.service.list_memories(ERIN)] == [kept]
    memory.command(ERIN, "yes")
    assert memory.service.list_memories(ERIN) == []


@pytest.mark.spec("U-2")
@for_each(
    "said",
    ["delete the milk from the list", "remove the recipe", "delete the second one", "forget the milk", "borra la cita"],
)
def test_what_is_no_memory_is_the_agents_to_delete(memory, said):
    memory.command(ERIN, "/remember The garage code is 8812")

    assert memory.command(ERIN, said) is None
