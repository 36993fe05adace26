"""The store of sessions on its own: no graph, no checkpoint, no message."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from langmem_plugin import InvalidInput, Silence, TurnLost, UnknownSession
from langmem_plugin.conversation.sessions.session_lifecycle import SessionStore
from langmem_plugin.conversation.sessions.session_rows import Client
from langmem_plugin.conversation.sessions.session_timeout import is_silent
from langmem_plugin.database.conversation_tables import session as session_table
from tests.cases import for_each

MOM = "+972501234567"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Nothing:
    """What is in sessions that nobody wrote to."""

    readable = True

    def first_state(self, connection, session):
        return [None] if self.readable else []

    def has_run(self, connection, session):
        return False


def store(database, clock, contents=None):
    return SessionStore(database, silence=Silence(HOUR), region="IL", now=clock, contents=contents or Nothing())


@pytest.fixture
def sessions(database, clock):
    return store(database, clock)


def of(**more):
    return {"configurable": {"thread_id": "050-123-4567", **more}}


@pytest.mark.spec("C-3")
def test_a_conversation_has_one_current_session_until_it_falls_silent(sessions, clock):
    first = sessions.current("050-123-4567")
    clock.forward(minutes=59)
    assert sessions.current(MOM) == first
    clock.forward(minutes=1)
    second = sessions.current(MOM)
    assert second.number > first.number
    assert sessions.session_of(of()) == second.session_id
    assert sessions.session_of(of(langmem_session=first.session_id)) == first.session_id


@pytest.mark.spec("C-3")
def test_what_is_touched_stays_alive_and_what_is_ended_is_over(sessions, clock):
    first = sessions.current(MOM)
    clock.forward(minutes=59)
    sessions.touch(of(), Client("Erin"))
    clock.forward(minutes=59)
    assert sessions.current(MOM).session_id == first.session_id
    sessions.end(MOM)
    assert sessions.current(MOM).session_id != first.session_id
    sessions.restore(first.session_id)
    assert sessions.current(MOM).session_id == first.session_id


@pytest.mark.spec("C-3")
def test_all_that_fell_silent_are_archived_at_once(sessions, clock, database):
    for number in range(120):
        sessions.current(f"+9725012{number:05}")
    clock.forward(minutes=30)
    sessions.current("+972507654321")
    clock.forward(minutes=30)
    assert sum(sessions.silent_ended()) == 120
    assert sum(sessions.silent_ended()) == 0
    with database.read() as connection:
        assert len(connection.execute(select(session_table).where(session_table.c.ended_at.is_(None))).all()) == 1


@pytest.mark.spec("C-9")
def test_a_turn_shuts_out_the_one_before_it(sessions, database):
    with database.write() as connection:
        late = sessions.open(connection, MOM, 1).config
    with database.write() as connection:
        sessions.open(connection, MOM, 2)
    with pytest.raises(TurnLost):
        sessions.touch(late)
    with pytest.raises(TurnLost), sessions.fenced(late), database.write():
        raise AssertionError("nothing may be written here")


@pytest.mark.spec("C-15")
def test_a_session_that_cannot_be_read_is_not_gone_on_with(database, clock):
    contents = Nothing()
    sessions = store(database, clock, contents)
    damaged = sessions.current(MOM)
    contents.readable = False
    assert sessions.current(MOM).session_id != damaged.session_id


@pytest.mark.spec("C-1")
def test_a_session_that_is_not_there_is_an_error_and_so_is_no_conversation(sessions):
    with pytest.raises(UnknownSession):
        sessions.restore("nowhere")
    with pytest.raises(UnknownSession):
        sessions.session_of(of(langmem_session="nowhere"))
    with pytest.raises(InvalidInput):
        sessions.session_of({"configurable": {}})


@pytest.mark.spec("C-3")
@for_each(
    ("passed", "timeout", "idle"),
    [(HOUR, HOUR, True), (HOUR - timedelta.resolution, HOUR, False), (-HOUR, HOUR, False), (HOUR, None, False)],
)
def test_a_silence_is_over_with_its_last_instant(passed, timeout, idle):
    assert is_silent(NOON, None, NOON + passed, timeout) is idle


@pytest.mark.spec("C-3")
def test_a_clock_that_ran_ahead_and_was_put_right_ends_no_conversation():
    assert is_silent(NOON - 2 * HOUR, None, NOON + HOUR / 2, HOUR)
    assert not is_silent(NOON - 2 * HOUR, NOON, NOON + HOUR / 2, HOUR)
    assert is_silent(NOON - 2 * HOUR, NOON, NOON + HOUR, HOUR)


@pytest.mark.spec("C-3")
def test_no_silence_is_too_long_to_be_counted():
    assert Silence.of(timedelta.max).since(NOON) == Silence.of(None).since(NOON) < NOON - timedelta(days=700_000)
    assert Silence.of(HOUR).since(NOON) == NOON - HOUR
    assert Silence.of(HOUR).while_interrupted == timedelta(days=1)
