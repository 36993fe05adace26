"""What of a person's memories is worth a look; nothing is changed by saying it."""

from datetime import timedelta

import pytest

pytestmark = pytest.mark.both_engines

ERIN, MOM = "+972501234567", "+972509999999"


def _told(memory, who=ERIN):
    return {(each.kind, each.memory_ids) for each in memory.insight.recommendations(who)}


@pytest.mark.spec("A-6")
def test_what_no_reply_used_for_ninety_days_is_unused(memory, clock):
    service = memory.service
    unused, used = service.remember(ERIN, "Erin sold her piano"), service.remember(ERIN, "Erin lives in Haifa")
    service.remember(ERIN, "the gate code is kept here", key="gate")
    clock.forward(days=89)
    service.note_access(ERIN, {used.id: 0.9}, "injected")
    assert _told(memory) == set()
    clock.forward(days=1)
    assert _told(memory) == {("unused", (unused.id,))}
    clock.forward(days=89)
    [_, one] = sorted(memory.insight.recommendations(ERIN), key=lambda each: each.memory_ids[0] == used.id)
    assert (one.memory_ids, one.sentence) == ((used.id,), "No reply has used it for 90 days.")
    assert _told(memory, MOM) == set()


@pytest.mark.spec("A-6")
def test_what_is_said_twice_is_a_duplicate_and_the_surer_one_is_to_be_kept(memory, clock):
    service = memory.service
    with memory.database.write() as connection:  # as an import or an older version may have left it
        texts = (
            ("Erin is allergic to peanuts", 0.7),
            ("Erin is allergic to peanuts!", 1.0),
            ("Erin lives in Haifa", 1.0),
        )
        drafts = [
            (service.repository.draft(ERIN, text, {"confidence": sure}, now=clock()), vector)
            for (text, sure), vector in zip(texts, service.embedder.texts([text for text, _ in texts]), strict=True)
        ]
        less_sure, surer, _ = service.repository.insert(connection, ERIN, drafts)
    [one] = memory.insight.recommendations(ERIN)
    assert (one.kind, one.memory_ids) == ("duplicate", (surer.id, less_sure.id))
    assert one.proposal == "keep the first and forget the second"
    assert len(service.list_memories(ERIN)) == 3


@pytest.mark.spec("A-6")
def test_what_a_model_holds_to_be_the_same_and_is_not_stays_out(memory):
    for one, other in (
        ("Ben is taller than Tom", "Tom is taller than Ben"),
        ("Dana told Noa the secret", "Noa told Dana the secret"),
        ("Tea from shop A is good", "Tea from shop B is good"),
        ("Mia's teacher is Ruth", "Ruth's teacher is Mia"),
    ):
        outcomes = [memory.service.remember(ERIN, text).outcome for text in (one, other)]
        assert outcomes == ["stored", "stored"]
    assert _told(memory) == set()


@pytest.mark.spec("A-6")
def test_what_is_in_doubt_or_over_is_stale_and_what_is_unsure_is_told_with_how_sure(memory, clock):
    service = memory.service
    doubted = service.remember(ERIN, "Erin walks to work")
    service.update(ERIN, doubted.id, doubted_at=clock())
    over = service.remember(ERIN, "Erin stays with Noa", valid_to=clock() + timedelta(days=3))
    waiting = service.remember(ERIN, "Erin may move to Oslo", status="pending", confidence=0.6)
    unsure = service.remember(ERIN, "Erin once played chess", confidence=0.5)
    asked = service.remember(ERIN, "Erin was in Rome", confidence=0.5)
    service.update(ERIN, asked.id, asked_at=clock())  # and it is active: it was confirmed
    clock.forward(days=4)
    found = memory.insight.recommendations(ERIN)
    assert [(each.kind, each.memory_ids[0]) for each in found] == [
        ("stale", doubted.id),
        ("stale", over.id),
        ("low_confidence", unsure.id),
        ("low_confidence", waiting.id),
    ]
    assert found[0].sentence == "What it rests on changed on 2026-03-01."
    assert found[1].sentence == "It held until 2026-03-04."
    assert found[3].sentence == "It is only 60% sure."


@pytest.mark.spec("A-6")
def test_a_memory_is_recommended_once_and_none_of_its_words_is_told(memory, clock):
    made = memory.service.remember(ERIN, "Griselda may visit", confidence=0.5, valid_to=clock() + timedelta(days=1))
    clock.forward(days=120)
    [one] = memory.insight.recommendations(ERIN)
    assert (one.kind, one.memory_ids) == ("stale", (made.id,))
    assert (one.sentence, one.proposal) == ("It held until 2026-03-02.", "keep it as history")


@pytest.mark.spec("A-6")
def test_what_is_forgotten_expired_or_anothers_is_not_recommended(memory, clock):
    service = memory.service
    gone = service.remember(ERIN, "Erin sold her piano", confidence=0.5)
    service.forget(ERIN, gone.id)
    service.remember(ERIN, "Erin is in Rome", confidence=0.5, expires_at=clock() + timedelta(days=1))
    service.remember(MOM, "Mom may move", confidence=0.5)
    clock.forward(days=100)
    assert _told(memory) == set()
