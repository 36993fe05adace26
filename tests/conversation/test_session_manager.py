"""Sessions and messages as records, in the very sessions the checkpointer keeps."""

import logging
from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import update

from langmem_plugin import ConversationSaver, InvalidInput, SessionManager, UnknownSession
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import session
from tests.cases import for_each
from tests.log_events import events

ERIN = "972501234567@c.us"


@pytest.fixture
def saver(database_url, clock):
    with ConversationSaver(database_url, now=clock) as opened:
        yield opened


@pytest.fixture
def manager(saver):
    return SessionManager(saver)


def _echo(saver):
    return (
        StateGraph(MessagesState)
        .add_node("agent", lambda state: {"messages": AIMessage(f"heard {len(state['messages'])}")})
        .add_edge(START, "agent")
        .compile(checkpointer=saver)
    )


@pytest.mark.spec("C-11", "C-12")
def test_a_new_session_is_empty(manager, clock):
    session = manager.get_session(ERIN)

    assert (session.message_counter, session.total_tokens, session.message_ids) == (0, 0, ())
    assert session.created_at == session.last_active == clock()
    assert manager.get_conversation_history(ERIN) == []


@pytest.mark.spec("C-16")
def test_a_session_that_goes_on_is_read_while_somebody_writes(manager, database_url):
    manager.add_message(ERIN, "user", "A")
    with Database(database_url) as other, other.write() as connection:
        connection.execute(update(session).values(to_take=1))
        assert manager.get_session(ERIN).message_counter == 1
        assert manager.get_conversation_history(ERIN) == [{"role": "user", "content": "A"}]


@pytest.mark.spec("C-11", "C-12")
def test_messages_are_numbered_counted_and_given_back_in_order(manager):
    for role, text in (("user", "A"), ("assistant", "B"), ("user", "C" * 40)):
        manager.add_message(ERIN, role, text, sender="x", recipient="y", client_name="Erin")

    session = manager.get_session(ERIN)
    messages = manager.messages(session.session_id)
    assert manager.get_conversation_history(ERIN) == [
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": "B"},
        {"role": "user", "content": "C" * 40},
    ]
    assert [message.order_num for message in messages] == [1, 2, 3]
    assert tuple(message.message_id for message in messages) == session.message_ids
    assert (messages[0].sender, messages[0].recipient, messages[0].was_received) == ("x", "y", True)
    assert (session.total_tokens, session.client_name, session.client_phone) == (10, "Erin", "+972501234567")


@pytest.mark.spec("C-12")
def test_a_graph_goes_on_from_what_was_added_and_the_manager_reads_what_the_graph_said(manager, saver):
    manager.add_message(ERIN, "user", "hello")
    manager.add_message(ERIN, "assistant", "hi")

    with saver.turn(ERIN) as config:
        result = _echo(saver).invoke({"messages": [("user", "are you there?")]}, config)

    assert [message.text for message in result["messages"]] == ["hello", "hi", "are you there?", "heard 3"]
    assert [said["content"] for said in manager.get_conversation_history(ERIN)][-1] == "heard 3"
    assert len(manager.sessions(ERIN)) == 1


@pytest.mark.spec("C-7", "C-12")
def test_a_client_sees_the_newest_messages_within_4000_tokens_and_the_rest_stays_stored(manager):
    for _ in range(5):
        manager.add_message(ERIN, "user", "x" * 4_400)

    assert len(manager.get_conversation_history(ERIN, "client")) == 3
    assert len(manager.get_conversation_history(ERIN, "godfather")) == 5
    assert manager.get_session(ERIN).message_counter == 5


@pytest.mark.spec("C-7")
def test_one_oversized_message_is_taken_with_a_warning(manager, caplog):
    manager.add_message(ERIN, "user", "before")
    with caplog.at_level(logging.WARNING):
        manager.add_message(ERIN, "user", "x" * 44_000)

    assert "message.oversized" in events(caplog)
    assert len(manager.get_conversation_history(ERIN)) == 2


@pytest.mark.spec("C-13")
def test_an_unknown_role_is_refused_and_nothing_is_stored(manager):
    with pytest.raises(ValueError, match="role 'system' is unknown"):
        manager.add_message(ERIN, "system", "x")

    assert manager.get_session(ERIN).message_counter == 0


@pytest.mark.spec("C-8", "C-13")
def test_empty_text_naive_instants_and_missing_images_are_taken_with_a_warning(manager, caplog):
    with caplog.at_level(logging.WARNING):
        manager.add_message(ERIN, "user", "  ", timestamp=datetime(2026, 3, 1, 8), image_path="/nowhere.png")  # noqa: DTZ001

    [message] = manager.messages(manager.get_session(ERIN).session_id)
    assert {"message.empty", "message.naive_timestamp", "message.image_missing"} <= set(events(caplog))
    assert message.timestamp == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert (message.image_path, message.tokens) == ("/nowhere.png", 0)


@pytest.mark.spec("C-3", "C-4")
def test_silence_starts_a_new_session_and_keeps_the_old_one_readable(manager, clock):
    manager.add_message(ERIN, "user", "before", client_name="Erin")
    before = manager.get_session(ERIN)
    clock.forward(minutes=30)

    after = manager.get_session(ERIN)

    assert after.session_id != before.session_id
    assert after.client_name == "Erin"
    assert manager.get_conversation_history(ERIN) == []
    assert [message.content for message in manager.messages(before.session_id)] == ["before"]
    assert manager.session(before.session_id).ended_at == clock()


@pytest.mark.spec("C-3")
@for_each("gap", [0.05, 0.4, 0.499999, 0.5, 0.9])
def test_silence_counts_from_the_very_last_message(manager, clock, gap):
    manager.add_message(ERIN, "user", "one")
    clock.forward(seconds=gap)
    manager.add_message(ERIN, "user", "two")
    first = manager.get_session(ERIN).session_id
    for seconds in (1_799.4, 0.5, 0.099999):
        clock.forward(seconds=seconds)
        assert manager.get_session(ERIN).session_id == first
        assert manager.expire() == (0, 0)
    clock.forward(seconds=0.000001)
    assert manager.expire() == (1, 0)
    assert manager.get_session(ERIN).session_id != first


@pytest.mark.spec("C-11", "U-5")
def test_sessions_are_listed_the_last_active_first_of_a_chat_as_of_all(manager, clock):
    said = []
    for number in range(5):
        clock.forward(minutes=40)
        manager.add_message(ERIN, "user", f"message {number}")
        said.insert(0, manager.get_session(ERIN).session_id)

    def listed(*arguments, **limit):
        return [each.session_id for each in manager.sessions(*arguments, **limit)]

    assert listed(ERIN) == listed() == said
    assert listed(ERIN, limit=2) == listed(limit=2) == said[:2]
    clock.forward(minutes=1)
    manager.restore(said[-1])
    assert listed(ERIN, limit=1) == [said[-1]]


@pytest.mark.spec("C-4")
def test_an_archived_session_can_be_restored_and_goes_on(manager, clock):
    manager.add_message(ERIN, "user", "before")
    before = manager.get_session(ERIN)
    manager.clear_session(ERIN)
    manager.add_message(ERIN, "user", "after")
    clock.forward(days=3)

    manager.restore(before.session_id)

    manager.add_message(ERIN, "user", "again")
    assert [said["content"] for said in manager.get_conversation_history(ERIN)] == ["before", "again"]
    assert len([found for found in manager.sessions(ERIN) if found.ended_at is None]) == 1


@pytest.mark.spec("C-4")
def test_expiry_archives_the_silent_and_purges_what_is_30_days_old(manager, clock):
    manager.add_message(ERIN, "user", "old")
    old = manager.get_session(ERIN).session_id
    manager.add_message("+972501234568", "user", "other")

    assert manager.expire() == (0, 0)
    clock.forward(minutes=31)
    assert manager.expire() == (2, 0)
    clock.forward(days=31)
    manager.add_message(ERIN, "user", "new")
    assert manager.expire() == (0, 2)

    with pytest.raises(UnknownSession, match="there is no session"):
        manager.messages(old)
    assert [said["content"] for said in manager.get_conversation_history(ERIN)] == ["new"]


@pytest.mark.spec("C-4")
def test_purging_deletes_every_row_of_a_session_and_no_other(manager, saver):
    manager.add_message(ERIN, "user", "secret")
    manager.add_message("+972501234568", "user", "kept")
    manager.purge(manager.get_session(ERIN).session_id)

    with saver.database.read() as connection:
        counts = [
            connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()
            for table in ("langmem_session", "langmem_message", "langmem_checkpoint")
        ]
    assert counts == [1, 1, 1]


@pytest.mark.spec("C-1")
def test_two_chats_never_see_each_other_and_a_group_is_its_own(manager):
    manager.add_message(ERIN, "user", "mine")
    manager.add_message("972501234567-1234@g.us", "user", "ours")

    assert manager.get_conversation_history("+972 50-123-4567") == [{"role": "user", "content": "mine"}]
    assert manager.get_conversation_history("972501234568@c.us") == []


@pytest.mark.spec("C-13")
def test_an_empty_chat_is_refused(manager):
    with pytest.raises(InvalidInput, match="names nobody"):
        manager.get_session("  ")


@pytest.mark.spec("C-3")
def test_a_configured_timeout_of_a_day_is_kept(database_url, clock):
    from langmem_plugin.conversation.sessions.session_timeout import Silence

    with ConversationSaver(database_url, now=clock, silence=Silence(timeout=timedelta(hours=24))) as saver:
        manager = SessionManager(saver)
        first = manager.get_session(ERIN).session_id
        clock.forward(hours=23, minutes=59)
        assert manager.get_session(ERIN).session_id == first
        clock.forward(minutes=1)
        assert manager.get_session(ERIN).session_id != first


@pytest.mark.spec("C-4", "C-8")
def test_a_purged_session_takes_its_pictures_with_it_and_leaves_those_others_show(database_url, clock, tmp_path):
    import os
    import time

    from langchain_core.messages import HumanMessage

    from langmem_plugin.conversation.media.inline_media import image_block
    from langmem_plugin.conversation.media.media_reference import references_in
    from langmem_plugin.conversation.media.media_store import Media

    def show(saver, phone, *pictures):
        blocks = [image_block(b"\x89PNG\r\n\x1a\n" + picture) for picture in pictures]
        with saver.turn(phone) as config:
            _echo(saver).invoke({"messages": [HumanMessage(blocks)]}, config)

    with ConversationSaver(database_url, now=clock, media=Media(tmp_path / "media")) as saver:
        manager = SessionManager(saver)
        show(saver, ERIN, b"hers", b"both")
        show(saver, "+972501234568", b"both")
        _hers, both = references_in(manager.messages(manager.get_session(ERIN).session_id)[0].content)
        files = list((tmp_path / "media").iterdir())
        assert len(files) == 2
        for file in files:
            os.utime(file, (time.time() - 7_200,) * 2)

        manager.purge(manager.get_session(ERIN).session_id)

        [left] = (tmp_path / "media").iterdir()
        assert left.stem == both.sha256


@pytest.mark.spec("C-9", "A-5")
def test_two_that_begin_at_once_begin_one_session(saver):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: saver.current_session(ERIN).session_id, range(16)))

    assert len(set(opened)) == 1


@pytest.mark.spec("C-7", "C-12")
def test_an_unknown_role_is_taken_as_a_client_with_a_warning(manager, caplog):
    manager.add_message(ERIN, "user", "x" * 20_000, user_role="admin")
    manager.add_message(ERIN, "assistant", "y")
    manager.add_message(ERIN, "user", "z")

    assert [each["content"] for each in manager.get_conversation_history(ERIN, "admin")] == ["y", "z"]
    assert events(caplog).count("role.unknown") == 2


@pytest.mark.spec("C-7")
def test_the_limit_is_held_with_the_tokens_that_were_counted_when_a_message_was_stored(database_url, clock):
    counted = []

    def thousand_each(message):
        counted.append(message.text)
        return 1_000

    with ConversationSaver(database_url, now=clock, count_tokens=thousand_each) as saver:
        manager = SessionManager(saver)
        for number in range(6):
            manager.add_message(ERIN, "user", f"message {number}")
        before = len(counted)

        assert [each["content"] for each in manager.get_conversation_history(ERIN)] == [
            f"message {number}" for number in (2, 3, 4, 5)
        ]
        assert len(counted) == before
