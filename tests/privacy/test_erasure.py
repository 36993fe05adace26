"""Who asks to be erased is found by no door of any process; it can be undone for thirty days, and then it is proven."""

import multiprocessing
import os
from datetime import timedelta

import pytest
from langchain_core.messages import HumanMessage
from sqlalchemy import Column, MetaData, String, Table, select

from langmem_plugin.conversation.storage.session_repair import examine
from langmem_plugin.database import personal_tables as personal
from langmem_plugin.database.conversation_tables import turn
from langmem_plugin.database.operations_tables import erasure, held_file, held_row
from langmem_plugin.database.people_tables import link_attempt, link_code, merge, new_link
from langmem_plugin.database.schema import Owner, metadata
from langmem_plugin.errors import ErasureIncomplete, InvalidInput, UnknownErasure, UnknownSession
from langmem_plugin.memory.keep.damage_check import examine as examine_memories
from langmem_plugin.privacy.erasure import Erasure
from tests.database.conftest import Child
from tests.privacy.conftest import (
    ANNA,
    ANNAS,
    ANNAS_TELEGRAM,
    BEN,
    BENS,
    FACTS,
    PICTURE,
    SAID,
    graph_of,
    opened,
    rows,
)

pytestmark = pytest.mark.slow

_NOT_PUT_BACK = {"langmem_acknowledged", link_code.name, link_attempt.name, new_link.name, "langmem_memory_index"}


def _recalled(memory, who, question="peanuts allergic sails oboe"):
    return {each.memory.text for each in memory.service.search(memory.people.resolve(who), question, min_relevance=0.0)}


def _heard(memory, who, question="sister brother visits הבן abuela"):
    return [each.message.text for each in memory.service.history.search(memory.people.resolve(who), question)]


def _texts(memory, who):
    return sorted(each.text for each in memory.service.list_memories(memory.people.resolve(who)))


@pytest.mark.spec("P-4")
def test_every_table_says_whose_its_rows_are_or_is_listed_as_nobodys():
    covered = {table for table, _ in personal.personal_tables()}
    assert all(columns for _, columns in personal.personal_tables())
    assert covered | personal.OF_NOBODY == set(metadata.tables.values())
    named = {column for _, columns in personal.personal_tables() for column in columns}
    assert {c for t in covered for c in t.columns if isinstance(c.type, Owner)} <= named


@pytest.mark.spec("P-4")
def test_a_new_table_that_names_nobody_would_be_noticed():
    unknown = Table("langmem_new", MetaData(), Column("somebody", String, primary_key=True))
    assert not [each for each in unknown.columns if each.name in personal._NAMES]


@pytest.mark.spec("P-4")
def test_nothing_of_who_was_erased_is_in_any_table_and_others_are_untouched(memory, anna):
    before, bens = rows(memory, ANNAS), rows(memory, BENS)
    missing = {table.name for table, _ in personal.personal_tables()} - before.keys()
    assert missing == {turn.name}, "the person of these tests lacks something: give it to them in conftest.py"

    receipt = memory.erase("050-123-4567")

    assert rows(memory, ANNAS) == {}
    assert rows(memory, BENS) == bens
    assert (receipt.state, receipt.verified, receipt.can_be_undone) == ("held", False, True)
    assert receipt.due_at - receipt.asked_at == timedelta(days=30)
    assert receipt.counts["langmem_message"] == len(before["langmem_message"])
    assert receipt.counts["files"] == 1
    assert len(receipt.identifiers) == 3
    assert "group" in receipt.not_covered[0]
    assert ANNA[1:] not in str(receipt)
    assert memory.erasure.receipt(receipt.id) == receipt


@pytest.mark.spec("P-4")
def test_no_door_leads_to_who_was_erased(memory, anna):
    sessions = [each.session_id for who in (ANNA, ANNAS[3]) for each in memory.sessions.sessions(who)]
    [picture] = [
        reference
        for each in memory.sessions.messages(sessions[1]) + memory.sessions.messages(sessions[0])
        if (reference := each.image_path)
    ]
    assert picture
    memory.erase(ANNA)

    assert _recalled(memory, ANNA) == set()
    assert _heard(memory, ANNA) == []
    assert memory.service.list_memories(ANNA) == memory.instructions.list_instructions(ANNA) == []
    assert memory.sessions.sessions(ANNA) == memory.confirmations.waiting(ANNA) == []
    assert {each.whatsapp_chat for each in memory.sessions.sessions(limit=100)} <= {*BENS}
    for session_id in sessions:
        for ask in (memory.sessions.session, memory.sessions.messages, memory.sessions.restore, memory.sessions.purge):
            with pytest.raises(UnknownSession):
                ask(session_id)
    assert list(memory.saver.list({"configurable": {"thread_id": ANNA}})) == []
    assert {each.config["configurable"]["thread_id"] for each in memory.saver.list(None)} <= {*BENS}
    assert memory.people.identifiers(ANNA) == [ANNA]
    assert len(memory.people.identifiers(BEN)) > 1
    assert memory.people.time_zone(ANNA).key == "Asia/Jerusalem"  # of the phone's country, as of anybody's
    assert memory.consent.of(ANNA).extraction.allowed is None
    assert memory.consent.word_of(ANNA) is None
    assert examine(memory.saver) == examine_memories(memory.database) == []
    assert memory.command(ANNA, "/undo") is not None
    assert memory.reply(anna, ANNA, "do you know me?", message_id="m1") == "I heard do you know me?"
    assert len(memory.sessions.messages(memory.sessions.get_session(ANNA).session_id)) == 2


@pytest.mark.spec("P-4")
def test_what_was_erased_comes_back_as_it_was(memory, anna, clock):
    before, found, heard = rows(memory, ANNAS), _recalled(memory, ANNA), _heard(memory, ANNA)
    memory.erase(ANNA)
    clock.forward(days=29)

    restored = memory.restore_erased(4242777)

    after = rows(memory, ANNAS)
    for name in before.keys() - _NOT_PUT_BACK - {"langmem_session", "langmem_memory_owner"}:
        assert after[name] == before[name], name
    assert restored.state == "restored"
    assert _recalled(memory, ANNA) == found != set()
    assert _heard(memory, ANNA) == heard != []
    assert examine(memory.saver) == examine_memories(memory.database) == []
    assert memory.service.remember(ANNA, FACTS[ANNA][2]).outcome == "duplicate"
    with pytest.raises(UnknownErasure):
        memory.restore_erased(ANNA)
    with memory.database.read() as connection:
        assert connection.execute(select(held_row)).all() == connection.execute(select(held_file)).all() == []
        assert connection.execute(select(erasure.c.who)).scalars().all() == [None]
        merged = connection.execute(select(merge.c.other).where(merge.c.person == ANNA)).scalar_one()
    memory.people.unlink(merged)  # also what was moved before it was held
    assert any("sails" in each for each in _texts(memory, "telegram:5353888"))


@pytest.mark.spec("P-4", "C-20")
def test_who_begins_anew_has_both_after_a_restore(memory, anna, clock):
    old = _texts(memory, ANNA)
    receipt = memory.erase(ANNA)
    clock.forward(days=1)
    memory.reply(anna, ANNA, "hello, I am new here", message_id="m1")
    memory.service.remember(ANNA, "Anna has moved to Eilat")
    memory.service.remember(ANNAS_TELEGRAM, "Anna bought a kayak")
    memory.instructions.add(ANNA, "answer in rhymes")

    memory.restore_erased(receipt.id)

    assert _texts(memory, 4242777) == sorted([*old, "Anna has moved to Eilat", "Anna bought a kayak"])
    assert memory.people.resolve(4242777) == ANNA
    assert {each.text for each in memory.instructions.list_instructions(ANNA)} >= {"answer in rhymes"}
    talks = [[m.content for m in memory.sessions.messages(s.session_id)] for s in memory.sessions.sessions(ANNA)]
    assert sum(each.ended_at is None for each in memory.sessions.sessions(ANNA)) == 1
    assert ["hello, I am new here", "I heard hello, I am new here"] in talks
    assert any(SAID[ANNA][1] in each for each in talks)
    assert not [key for key in _all_keys(memory) if "aside" in key]
    assert examine(memory.saver) == examine_memories(memory.database) == []


def _all_keys(memory):
    with memory.database.read() as connection:
        return {
            str(key)
            for table, columns in personal.personal_tables()
            for column in columns
            for key in connection.execute(select(column)).scalars()
            if key is not None
        }


@pytest.mark.spec("P-4", "C-20")
def test_an_identifier_that_is_somebody_elses_meanwhile_stays_theirs(memory, anna):
    memory.erase(ANNA)
    memory.people.link(BEN, ANNAS_TELEGRAM)
    memory.restore_erased(ANNA)
    assert memory.people.resolve(ANNAS_TELEGRAM) == BEN
    assert memory.people.resolve(5353888) == ANNA


@pytest.mark.spec("P-4")
def test_after_its_time_the_sweep_makes_it_final(memory, anna, clock):
    bens = rows(memory, BENS)
    receipt = memory.erase(ANNA)
    clock.forward(days=30, minutes=1)
    swept = memory.housekeeping.sweep()

    done = memory.erasure.receipt(receipt.id)
    assert swept["erasures_finished"] == 1
    assert (done.state, done.verified, done.done_at) == ("done", True, clock())
    with pytest.raises(UnknownErasure, match="undone"):
        memory.restore_erased(ANNA)
    with pytest.raises(UnknownErasure):
        memory.restore_erased(receipt.id)
    assert memory.housekeeping.sweep()["erasures_finished"] == 0
    assert _that_last(rows(memory, BENS)) == _that_last(bens) != []


def _that_last(rows):
    """Without what waits for the person's word, which lapses in the same time."""
    return [each for each in rows["langmem_memory"] if "as well" not in each]


@pytest.mark.spec("P-4")
def test_now_finishes_what_was_held_and_keeps_what_came_anew_apart(memory, anna):
    first = memory.erase(ANNA)
    assert memory.erase(ANNA).id == first.id  # nothing new was there
    memory.service.remember(ANNA, "Anna is back")
    second = memory.erase(ANNA, now=True)
    assert second.id != first.id
    assert {memory.erasure.receipt(each).state for each in (first.id, second.id)} == {"done"}


@pytest.mark.spec("P-4")
def test_a_picture_that_somebody_else_sent_too_stays(memory, anna):
    memory.reply(anna, BEN, "look", image=PICTURE[ANNA], message_id="m20")
    memory.erase(ANNA, now=True)
    files = list(memory.media.folder.iterdir()) if memory.media.folder else []
    if files:
        assert sorted(each.read_bytes() for each in files) == sorted([PICTURE[ANNA], PICTURE[BEN]])
    references = [each.image_path for each in memory.sessions.messages(memory.sessions.get_session(BEN).session_id)]
    assert any(references)


@pytest.mark.spec("P-4")
def test_a_picture_of_who_may_come_back_outlives_the_sweep(memory, anna, clock):
    memory.erase(ANNA)
    if memory.media.folder is not None:
        for file in memory.media.folder.iterdir():
            import os

            os.utime(file, (0, 0))
    clock.forward(days=2)
    memory.housekeeping.sweep()
    memory.restore_erased(ANNA)
    paths = [
        each.image_path
        for found in memory.sessions.sessions(ANNA)
        for each in memory.sessions.messages(found.session_id)
        if each.image_path
    ]
    assert len(paths) == 1
    if memory.media.folder is not None:
        assert (memory.media.folder.parent / paths[0]).read_bytes() == PICTURE[ANNA]


@pytest.mark.spec("P-4")
def test_a_group_is_erased_by_its_own_key_and_not_with_its_members(memory, anna):
    group = "120363041234567890@g.us"
    memory.reply(anna, group, "I bring the cake", sender=ANNA, message_id="g1")
    memory.service.remember(group, "the party is on Friday")
    memory.erase(ANNA)
    assert _texts(memory, group) == ["the party is on Friday"]
    memory.erase(group, now=True)
    assert rows(memory, [group]) == {}


@pytest.mark.spec("P-4")
def test_who_is_not_known_gets_a_receipt_of_nothing(memory):
    receipt = memory.erase("+34600000001", now=True)
    assert (receipt.counts, receipt.state) == ({}, "done")
    with pytest.raises(InvalidInput):
        memory.erase(" ")


@pytest.mark.spec("P-4")
def test_another_process_does_not_answer_from_what_it_holds(memory, anna, database_url, offline_model, clock):
    context = multiprocessing.get_context("fork")
    is_warm, is_erased = context.Event(), context.Event()

    def other():
        with opened(database_url, offline_model, clock) as theirs:
            graph = graph_of(theirs)

            def all_doors():
                history = graph.get_state({"configurable": {"thread_id": ANNA}}).values.get("messages", [])
                prompt = theirs.prompt({"messages": [HumanMessage("am I allergic?")]}, "", phone=ANNA)
                return (
                    sorted(_recalled(theirs, ANNA)),
                    _heard(theirs, ANNA),
                    [each.text for each in history],
                    sorted(each.text for each in theirs.instructions.list_instructions(ANNA)),
                    any("Grünspan" in str(each.content) for each in prompt),
                    theirs.people.resolve(ANNAS_TELEGRAM),
                )

            warm = all_doors()
            is_warm.set()
            assert is_erased.wait(120)
            cold = all_doors()
            said = theirs.reply(graph, ANNA, "who am I?", message_id="m77")
            return (
                warm,
                cold,
                str(said),
                [each.text for each in graph.get_state({"configurable": {"thread_id": ANNA}}).values["messages"]],
            )

    child = Child(other, 270)
    if not is_warm.wait(120):
        child.result()  # says why
    memory.erase(ANNA)
    is_erased.set()
    warm, cold, said, history = child.result()
    assert all(warm[:4])
    assert cold == ([], [], [], [], False, ANNAS_TELEGRAM)
    assert (said, history) == ("I heard who am I?", ["who am I?", "I heard who am I?"])


@pytest.mark.spec("P-4", "C-5")
def test_an_erasure_that_fails_in_the_middle_changes_nothing(memory, anna, monkeypatch):
    before = rows(memory, ANNAS)

    def crash(*_):
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as patched:
        patched.setattr("langmem_plugin.privacy.erasure.note_erased", crash)
        with pytest.raises(RuntimeError):
            memory.erase(ANNA)
    after = rows(memory, ANNAS)
    beside = {"langmem_memory_index", "langmem_session"}  # the index is made anew; a turn was taken
    assert {name: after[name] for name in after.keys() - beside} == {
        name: before[name] for name in before.keys() - beside
    }
    assert memory.erase(ANNA, now=True).verified


@pytest.mark.spec("P-4")
def test_a_reader_in_the_way_is_named_and_the_sweep_ends_the_work(memory, anna, database_url, monkeypatch):
    if not memory.database.is_sqlite:
        pytest.skip("a reader of PostgreSQL keeps nothing in files of ours")
    import sqlite3

    monkeypatch.setattr(memory.database, "_seconds", 0.2)
    reader = sqlite3.connect(database_url.removeprefix("sqlite:///"))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM langmem_message").fetchone()
    with pytest.raises(ErasureIncomplete, match="run it again"):
        memory.erase(ANNA, now=True)
    assert rows(memory, ANNAS) == {}
    with memory.database.read() as connection:
        [erasure_id] = connection.execute(select(erasure.c.erasure_id)).scalars()
    assert memory.erasure.receipt(erasure_id).state == "erased"
    assert memory.housekeeping.sweep()["erasures_finished"] == 0
    reader.close()
    assert memory.housekeeping.sweep()["erasures_finished"] == 1
    assert memory.erasure.receipt(erasure_id).verified


@pytest.mark.spec("P-4")
@pytest.mark.parametrize("killed_at", ["_delete_held", "_traces_deleted"])
def test_an_erasure_at_once_whose_process_is_killed_is_finished_by_the_next_sweep(
    memory, anna, database_url, offline_model, clock, killed_at
):
    def die():
        def ends(*_):
            os._exit(9)

        setattr(Erasure, killed_at, ends)
        with opened(database_url, offline_model, clock) as other:
            other.erase(ANNA, now=True)

    with pytest.raises(AssertionError, match="ended with status 2304"):
        Child(die, 60).result()

    assert memory.erasure.can_restore(ANNA) is None
    with pytest.raises(UnknownErasure):
        memory.restore_erased(ANNA)
    assert memory.housekeeping.sweep()["erasures_finished"] == 1
    with memory.database.read() as connection:
        assert connection.execute(select(held_row)).all() == []
        assert connection.execute(select(erasure.c.state)).scalars().all() == ["done"]
    assert rows(memory, ANNAS) == {}


@pytest.mark.spec("P-4")
def test_what_was_held_cannot_be_restored_once_it_is_asked_to_be_gone_at_once(memory, anna, monkeypatch):
    earlier = memory.erase(ANNA)
    monkeypatch.setattr(memory.erasure, "finish", lambda _: None)  # as if it were killed
    memory.erase(ANNA, now=True)
    with pytest.raises(UnknownErasure):
        memory.restore_erased(earlier.id)
    monkeypatch.undo()
    assert memory.housekeeping.sweep()["erasures_finished"] == 1
    assert memory.erasure.receipt(earlier.id).state == "done"
