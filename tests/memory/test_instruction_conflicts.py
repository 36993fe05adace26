"""Which of two instructions holds where only one can, and what becomes of the person's newest word."""

import threading

import pytest

from langmem_plugin.errors import TooManyInstructions
from langmem_plugin.memory import MemoryService
from langmem_plugin.memory.instructions.conditions import Situation
from langmem_plugin.memory.instructions.conflicts import opposed
from tests.cases import for_each

ANNA, BEN = "+972501234567", "+972507654321"


@pytest.mark.slow
@pytest.mark.spec("I-2")
@for_each(
    ("first", "second"),
    [
        ("answer in Spanish", "Always reply in English."),
        ("answer in Spanish", "never answer in Spanish"),
        ("be brief", "give detailed answers"),
        ("keep your answers short", "answer in detail"),
        ("be formal", "be casual"),
        ("be funny", "be serious"),
        ("use emojis", "stop using emojis"),
        ("no emojis", "please use emojis"),
        ("use metric units", "use imperial units"),
        ("use Celsius", "use Fahrenheit"),
        ("call me Dani", "call me Daniel"),
        ("don't call me Daniel", "call me Daniel"),
        ("always cite the source", "never cite the source"),
        ("תענה בעברית", "תעני לי באנגלית"),
        ("תענה בקצרה", "תענה בפירוט"),
        ("אף פעם אל תשתמש באימוג'ים", "תשתמש באימוג'ים"),
        ("תקרא לי דני", "תקרא לי דניאל"),
        ("responde en inglés", "contéstame en español"),
        ("nunca uses emojis", "usa emojis"),
        ("sé breve", "da respuestas largas"),
        ("tutéame", "trátame de usted"),
        ("answer in Spanish", "תענה בעברית"),
        ("answer in Spanish and be brief", "answer in English and give detailed answers"),
    ],
)
def test_of_two_that_cannot_both_be_followed_the_one_said_last_holds(memory, clock, first, second):
    for earlier, later in ((first, second), (second, first)):
        assert opposed(later, earlier)
        clock.forward(minutes=1)
        owner = f"+9725012345{len(earlier):02}"
        memory.instructions.take(owner, earlier)
        clock.forward(minutes=1)
        memory.instructions.take(owner, later)
        assert [each.text for each in memory.instructions.list_instructions(owner)] in ([later], [])


@pytest.mark.spec("I-2")
@for_each(
    ("first", "second"),
    [
        ("answer in Spanish", "never answer in English"),
        ("answer in Spanish", "be brief"),
        ("answer in Spanish", "answer in English unless I ask about law"),
        ("answer in Spanish", "answer in English and cite the source"),
        ("use miles", "use Celsius"),
        ("don't call me Daniel", "call me Dani"),
        ("never send me links", "send me reminders"),
        ("answer in Spanish", "answer in Spanish."),
        ("answer in Spanish and be brief", "never answer in Spanish and give detailed answers"),
        ("be kind", "be patient"),
        ("תענה בעברית", "תענה בקצרה"),
        ("", "never use emojis"),
    ],
)
def test_in_doubt_both_stay(first, second):
    assert not (opposed(first, second) and opposed(second, first))


@pytest.mark.spec("I-2", "I-3")
def test_one_that_holds_at_other_times_is_an_exception_and_no_conflict(memory):
    memory.instructions.take(ANNA, "answer in Spanish")
    memory.instructions.take(ANNA, "answer in English", condition='topic is "work"')
    assert len(memory.instructions.list_instructions(ANNA)) == 2
    memory.instructions.take(ANNA, "answer in French", condition='Topic is "work"')
    assert {each.text for each in memory.instructions.list_instructions(ANNA)} == {
        "answer in Spanish",
        "answer in French",
    }


@pytest.mark.spec("I-2")
def test_priority_decides_first_then_the_newer(memory, clock):
    standing = memory.instructions
    first = standing.add(ANNA, "answer in Spanish")
    clock.forward(minutes=1)
    second = standing.add(ANNA, "answer in English")
    assert standing.applicable(ANNA, Situation(clock())) == [second, first]  # the model is told that the first wins

    first = standing.update(ANNA, first.id, priority=5)
    assert standing.applicable(ANNA, Situation(clock())) == [first, second]
    standing.take(ANNA, "answer in French", priority=2)
    assert [each.text for each in standing.list_instructions(ANNA)] == ["answer in Spanish", "answer in French"]


@pytest.mark.spec("I-2", "I-4")
def test_the_newest_word_holds_also_against_what_was_said_to_be_important(memory, clock):
    standing = memory.instructions
    standing.take(ANNA, "answer in Spanish", priority=9)
    clock.forward(minutes=1)
    taken = standing.take(ANNA, "answer in English")

    assert (taken.outcome, taken.instruction.priority) == ("stored", 9)
    assert [each.text for each in standing.applicable(ANNA, Situation(clock()))] == ["answer in English"]
    assert standing.take(ANNA, "be patient").instruction.priority == 1


@pytest.mark.spec("I-4")
def test_what_is_said_again_is_stored_once_and_holds_anew_where_it_did_not(memory, clock):
    standing = memory.instructions
    first = standing.take(ANNA, "Answer in Spanish").instruction
    assert standing.take(ANNA, "answer  in spanish.").outcome == "duplicate"
    clock.forward(minutes=1)
    standing.take(ANNA, "answer in English")
    clock.forward(minutes=1)
    again = standing.take(ANNA, "answer in Spanish")

    assert again.outcome == "stored"
    assert again.instruction.id != first.id
    assert [each.text for each in standing.applicable(ANNA, Situation(clock()))] == ["answer in Spanish"]
    assert len(standing.list_instructions(ANNA, active_only=False)) == 2


@pytest.mark.spec("I-1")
def test_said_again_with_an_end_it_has_that_end(memory, clock):
    ends = clock().replace(hour=20)
    memory.instructions.take(ANNA, "be brief")
    taken = memory.instructions.take(ANNA, "be brief", expires_at=ends)

    assert taken.outcome == "duplicate"
    assert [each.expires_at for each in memory.instructions.list_instructions(ANNA)] == [ends]
    clock.instant = ends
    assert memory.instructions.take(ANNA, "be brief").outcome == "stored"


@pytest.mark.spec("I-4")
def test_stop_takes_back_what_is_there_and_is_an_instruction_where_nothing_is(memory, clock):
    standing = memory.instructions
    standing.take(ANNA, "answer in Spanish")
    for _ in range(2):  # a run may read its message twice
        taken = standing.take(ANNA, "stop answering in Spanish")
        assert (taken.outcome, taken.instruction.text) == ("withdrawn", "answer in Spanish")
    assert standing.list_instructions(ANNA) == []
    assert len(standing.list_instructions(ANNA, active_only=False)) == 1

    assert standing.take(BEN, "stop answering in Spanish").outcome == "stored"
    assert standing.take(BEN, "stop using emojis").outcome == "stored"


@pytest.mark.spec("I-4")
def test_a_message_is_taken_once_and_not_again_when_it_was_switched_off(memory):
    standing = memory.instructions
    first = standing.take(ANNA, "be brief", said_in="m1")
    again = standing.take(ANNA, "be brief", said_in="m1")
    assert (first.outcome, again.outcome) == ("stored", "stored")  # told again: the first run may have been cut short
    assert again.instruction == first.instruction

    standing.update(ANNA, first.instruction.id, active=False)
    assert standing.take(ANNA, "be brief", said_in="m1").outcome == "duplicate"
    assert standing.list_instructions(ANNA) == []
    assert standing.take(BEN, "be brief", said_in="m1").instruction.id != first.instruction.id


@pytest.mark.spec("I-4")
def test_two_processes_at_once_store_it_once(database_url, clock, offline_model):
    with (
        MemoryService(database_url, embeddings=offline_model, now=clock) as one,
        MemoryService(database_url, embeddings=offline_model, now=clock) as other,
    ):
        outcomes = []

        def take(service, barrier):
            barrier.wait()
            outcomes.append(service.instructions.take(ANNA, "never use emojis").outcome)

        barrier = threading.Barrier(4)
        threads = [threading.Thread(target=take, args=(each, barrier)) for each in (one, other, one, other)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

        assert sorted(outcomes) == ["duplicate", "duplicate", "duplicate", "stored"]
        assert len(one.instructions.list_instructions(ANNA)) == 1


@pytest.mark.spec("I-1")
def test_the_two_hundred_and_first_is_refused_and_a_repeated_one_is_not(memory):
    for number in range(200):
        memory.instructions.add(ANNA, f"rule {number}")

    with pytest.raises(TooManyInstructions):
        memory.instructions.take(ANNA, "be brief")
    assert memory.instructions.take(ANNA, "rule 7").outcome == "duplicate"
