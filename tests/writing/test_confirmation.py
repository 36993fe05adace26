"""What waits for the person's word: decided once, asked about once, and not for ever."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update

from langmem_plugin import MemoryNotFound, PhoneMemory, StaleMemory
from langmem_plugin.database.memory_tables import memory as table
from langmem_plugin.memory.keep.usage_and_verdicts import Verdicts

ERIN, JASON = "+972501234567", "+972501234568"

pytestmark = [pytest.mark.both_engines, pytest.mark.spec("W-5")]


def recalled(memory, question="who is my dentist?"):
    return [each.memory.text for each in memory.service.recall(ERIN, question, min_similarity=0.3)]


def ask(memory, owner=ERIN):
    """What a reply does with its question."""
    found = memory.confirmations.unsure(owner)
    if found is not None:
        with memory.database.write() as connection:
            memory.confirmations.note_asked(connection, found)
    return found


def test_what_waits_is_listed_and_not_recalled_until_it_is_confirmed(memory, unsure):
    made = unsure("My dentist is Dr. Levi")

    assert recalled(memory) == []
    assert [each.text for each in memory.confirmations.waiting(ERIN)] == ["My dentist is Dr. Levi"]
    assert memory.confirmations.confirm(ERIN, made.id).status == "active"
    assert recalled(memory) == ["My dentist is Dr. Levi"]
    assert memory.confirmations.waiting(ERIN) == []


def test_what_is_declined_is_forgotten(memory, unsure):
    made = unsure("My dentist is Dr. Levi")

    memory.confirmations.decline(ERIN, made.id)

    assert memory.confirmations.waiting(ERIN) == []
    assert recalled(memory) == []
    with pytest.raises(MemoryNotFound):
        memory.confirmations.confirm(ERIN, made.id)


def test_only_what_waits_can_be_decided_and_only_by_its_owner(memory, unsure):
    waiting, known = unsure("My dentist is Dr. Levi"), memory.service.remember(ERIN, "I drink tea")

    for who, memory_id in ((JASON, waiting.id), (ERIN, known.id), (ERIN, "nothing")):
        for decide in (memory.confirmations.confirm, memory.confirmations.decline):
            with pytest.raises(MemoryNotFound, match="no memory"):
                decide(who, memory_id)
    assert [each.id for each in memory.confirmations.waiting(ERIN)] == [waiting.id]


@pytest.mark.spec("C-21")
def test_of_two_who_decide_at_once_one_does(memory, unsure, database_url, offline_model, clock):
    made = unsure("My dentist is Dr. Levi")

    def decided(decide):
        try:
            return decide(ERIN, made.id).status
        except (MemoryNotFound, StaleMemory):
            return None

    with PhoneMemory(database_url, embeddings=offline_model, now=clock) as other, ThreadPoolExecutor(4) as pool:
        verdicts = list(
            pool.map(
                decided,
                [
                    memory.confirmations.confirm,
                    other.confirmations.confirm,
                    memory.confirmations.decline,
                    other.confirmations.decline,
                ],
            )
        )

    assert len([each for each in verdicts if each is not None]) == 1
    counted = memory.confirmations.verdicts(ERIN)
    assert counted.confirmed + counted.declined == 1


def test_each_memory_is_asked_about_once_the_newest_first(memory, unsure, clock):
    unsure("My dentist is Dr. Levi")
    clock.forward(minutes=1)
    unsure("My gym is Holmes Place")

    assert ask(memory).memory.text == "My gym is Holmes Place"
    assert ask(memory).memory.text == "My dentist is Dr. Levi"
    assert ask(memory) is None
    assert memory.confirmations.unsure(JASON) is None


def test_who_does_not_want_to_be_remembered_is_asked_nothing(memory, unsure):
    unsure("My dentist is Dr. Levi")
    memory.consent.switch_off(ERIN)

    assert memory.confirmations.unsure(ERIN) is None
    memory.consent.switch_on(ERIN)
    assert memory.confirmations.unsure(ERIN) is not None


def test_what_changed_while_it_was_being_asked_about_is_left_as_it_is(memory, unsure):
    made = unsure("My dentist is Dr. Levi")
    found = memory.confirmations.unsure(ERIN)
    memory.confirmations.decline(ERIN, made.id)
    with memory.database.write() as connection:
        memory.confirmations.note_asked(connection, found)

    assert memory.confirmations.verdicts(ERIN) == Verdicts(declined=1)


def doubt(memory, clock, made):
    """As a new fact does to what rests on what it changed."""
    clock.forward(minutes=1)
    ground = memory.service.remember(ERIN, "I moved to Haifa", slot="self/home")
    with memory.database.write() as connection:
        memory.service.repository.change(connection, ERIN, made.id, {"doubted_at": clock()}, now=clock())
    return ground


def test_what_is_in_doubt_is_asked_about_once_with_what_changed(memory, clock):
    made = memory.service.remember(ERIN, "My gym is Holmes Place", slot="self/gym")
    ground = doubt(memory, clock, made)

    asked = ask(memory)
    assert (asked.memory.id, asked.in_doubt, asked.because.id) == (made.id, True, ground.id)
    assert ask(memory) is None
    held = memory.confirmations.still_so(ERIN, made.id, revision=asked.revision_asked)
    assert (held.doubted_at, held.status) == (None, "active")
    assert memory.confirmations.approval_rate(ERIN) is None  # a doubt is nothing that was found in what they said


@pytest.mark.spec("W-6")
def test_what_is_not_so_any_more_is_history_and_recalled_no_more(memory, clock):
    made = memory.service.remember(ERIN, "My gym is Holmes Place", slot="self/gym")
    doubt(memory, clock, made)
    since = clock()
    asked = ask(memory)
    clock.forward(hours=1)

    over = memory.confirmations.no_longer_so(ERIN, made.id, revision=asked.revision_asked)

    assert (over.status, over.valid_to) == ("superseded", since)
    assert recalled(memory, "which gym do I go to?") == []
    with pytest.raises(MemoryNotFound):
        memory.confirmations.still_so(ERIN, made.id, revision=over.revision)


@pytest.mark.spec("C-22")
def test_what_nobody_answered_for_thirty_days_is_archived(memory, unsure, clock):
    made = unsure("My dentist is Dr. Levi")
    ask(memory)
    clock.forward(days=30, seconds=-1)
    assert memory.housekeeping.sweep() == Counter()
    clock.forward(seconds=1)

    assert memory.housekeeping.sweep() == Counter(pending_lapsed=1)
    assert memory.confirmations.waiting(ERIN) == []
    with pytest.raises(MemoryNotFound):
        memory.confirmations.confirm(ERIN, made.id)
    assert memory.confirmations.verdicts() == Verdicts(asked=1, lapsed=1)
    assert memory.housekeeping.sweep() == Counter()


def test_the_part_that_was_approved_is_known_for_one_person_and_for_all(memory, unsure):
    for owner, texts in ((ERIN, "abcd"), (JASON, "ab")):
        for text in texts:
            unsure(f"fact {text}", owner)
    for each in memory.confirmations.waiting(ERIN)[:3]:
        memory.confirmations.confirm(ERIN, each.id)
    memory.confirmations.decline(ERIN, memory.confirmations.waiting(ERIN)[0].id)
    for each in memory.confirmations.waiting(JASON):
        memory.confirmations.decline(JASON, each.id)

    assert memory.confirmations.approval_rate(ERIN) == 0.75
    assert memory.confirmations.approval_rate(JASON) == 0.0
    assert memory.confirmations.approval_rate() == 0.5
    assert memory.confirmations.approval_rate("+972501234569") is None


@pytest.mark.spec("C-20")
def test_who_becomes_one_person_with_another_decides_what_waited_for_either(memory, unsure):
    made = unsure("My dentist is Dr. Levi", "telegram:4242")
    memory.confirmations.confirm(4242, unsure("I drink tea", "telegram:4242").id)
    merged = memory.people.merge(ERIN, 4242)

    assert [each.id for each in memory.confirmations.waiting(ERIN)] == [made.id]
    assert memory.confirmations.confirm(4242, made.id).owner == ERIN
    assert memory.confirmations.verdicts(ERIN) == Verdicts(confirmed=2)
    memory.people.unlink(merged)
    assert memory.confirmations.verdicts(ERIN) == Verdicts(confirmed=2)  # what was counted stays where it was counted


def test_what_is_damaged_is_not_asked_about_and_hides_nothing_else(memory, unsure, clock):
    unsure("My dentist is Dr. Levi")
    clock.forward(minutes=1)
    damaged = unsure("My gym is Holmes Place")
    with memory.database.write() as connection:
        connection.execute(update(table).where(table.c.memory_id == damaged.id).values(text="My gym is elsewhere"))

    assert ask(memory).memory.text == "My dentist is Dr. Levi"
    assert [each.text for each in memory.confirmations.waiting(ERIN)] == ["My dentist is Dr. Levi"]
    with pytest.raises(MemoryNotFound):
        memory.confirmations.confirm(ERIN, damaged.id)
