"""How long a service lets things live is noted in the database: the longest that is in use, and only what is committed."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from langmem_plugin import ConversationSaver, Settings
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_timeout import (
    ARCHIVED_TERM,
    INTERRUPT_TERM,
    SESSION_TERM,
    longest_noted,
)

ERIN = "+972501234567"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def _kept(saver):
    """The terms by which this one would sweep."""
    with saver.database.read() as connection:
        return longest_noted(connection, {ARCHIVED_TERM: HOUR, **saver.sessions.terms.own})


def _turn(saver):
    with saver.turn(ERIN):
        pass


@pytest.fixture
def services(database, clock):
    """Two on one database, with a silence of a day and of an hour."""
    with (
        ConversationSaver(database, now=clock, silence=DAY) as patient,
        ConversationSaver(database, now=clock, silence=HOUR) as hasty,
    ):
        yield patient, hasty


@pytest.mark.spec("C-22")
def test_whoever_takes_a_turn_notes_its_silence_and_nobody_else_does(services, database, clock):
    _, hasty = services
    with ConversationSaver.from_settings(
        Settings(archive_days=7, session_timeout=2 * HOUR), database, now=clock
    ) as saver:
        assert _kept(hasty) == {SESSION_TERM: HOUR, INTERRUPT_TERM: DAY, ARCHIVED_TERM: HOUR}
        _turn(saver)
    assert _kept(hasty) == {SESSION_TERM: 2 * HOUR, INTERRUPT_TERM: DAY, ARCHIVED_TERM: timedelta(days=7)}


@pytest.mark.spec("C-22")
def test_the_longer_one_stays_for_a_week_after_it_was_last_used(services, clock):
    patient, hasty = services
    _turn(patient)
    _turn(hasty)
    assert _kept(hasty)[SESSION_TERM] == DAY
    clock.forward(days=6)
    _turn(hasty)
    assert _kept(hasty)[SESSION_TERM] == DAY
    clock.forward(days=2)
    _turn(hasty)
    assert _kept(hasty)[SESSION_TERM] == HOUR
    _turn(patient)
    assert _kept(hasty)[SESSION_TERM] == DAY


@pytest.mark.spec("C-22", "C-5")
def test_what_was_not_committed_is_noted_by_the_next_turn(services, monkeypatch):
    patient, hasty = services
    with monkeypatch.context() as patch:
        patch.setattr("langmem_plugin.conversation.sessions.session_rows.begin", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            patient.current_session(ERIN)
    assert _kept(hasty)[SESSION_TERM] == HOUR
    _turn(patient)
    assert _kept(hasty)[SESSION_TERM] == DAY


@pytest.mark.spec("C-22")
def test_never_is_longer_than_any_time(services, database, clock):
    _, hasty = services
    with ConversationSaver(database, now=clock, silence=None) as saver:
        _turn(saver)
    assert _kept(hasty)[SESSION_TERM] is None


@pytest.mark.spec("C-22", "C-9")
def test_who_notes_while_another_begins_the_same_session_waits_for_nobody_that_waits_for_it(database, monkeypatch):
    begun, may_go_on = threading.Event(), threading.Event()
    one_at_a_time = session_rows.one_at_a_time

    def slow_the_first_time(connection, thread):
        if not begun.is_set():
            begun.set()
            may_go_on.wait(60)
        one_at_a_time(connection, thread)

    monkeypatch.setattr(session_rows, "one_at_a_time", slow_the_first_time)
    with ConversationSaver(database) as saver, ThreadPoolExecutor(3) as pool:
        first = pool.submit(saver.current_session, ERIN)
        assert begun.wait(60)
        if saver.database.is_sqlite:
            may_go_on.set()  # it has one writer at a time
        second = pool.submit(saver.current_session, ERIN)
        second.result(60)
        third = pool.submit(_turn, saver)
        time.sleep(0.5)  # so that it holds what it holds, or waits
        may_go_on.set()
        third.result(60)
        assert first.result(60).session_id == second.result(60).session_id
