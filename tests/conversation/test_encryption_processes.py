"""Encrypted conversations in several processes, with the wrong keys, and while keys are rotated."""

import logging
import os
import threading
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from sqlalchemy import select, update

from langmem_plugin import ConversationSaver, Settings
from langmem_plugin.conversation.storage.message_rows import TEXT
from langmem_plugin.conversation.storage.session_repair import examine, rebuild
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import checkpoint, message, session
from langmem_plugin.database.database_from_settings import open_database
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import ConfigurationError, LangMemError, SessionRefused
from tests.log_events import events

MOM = "+972501234567"


@pytest.fixture
def key():
    return new_master_key()


@pytest.fixture
def of(tmp_path):
    """Settings with these keys, the newest first."""

    def made(*keys, name="people.keys"):
        key_database = f"sqlite:///{tmp_path}/{name}"
        return Settings(keys=",".join(keys), key_database=key_database, sweep_every=None)

    return made


def say(saver, text, person=MOM):
    """Each step is on disk before the next one begins: the rows are in the order of the messages."""

    def agent(state):
        return {"messages": AIMessage(f"heard {len(state['messages'])}")}

    graph = StateGraph(MessagesState).add_node(agent).add_edge(START, "agent").compile(checkpointer=saver)
    with saver.turn(person) as config:
        return [each.text for each in graph.invoke({"messages": text}, config, durability="sync")["messages"]]


@pytest.mark.spec("P-1")
def test_two_services_go_on_with_one_conversation_in_turn(database_url, of, key):
    settings = of(key)
    with (
        ConversationSaver.from_settings(settings, database_url) as one,
        ConversationSaver.from_settings(settings, database_url) as other,
    ):
        for number, saver in enumerate((one, other, one, other)):
            said = say(saver, f"message {number}")
        assert said[::2] == [f"message {number}" for number in range(4)]


@pytest.mark.spec("P-1")
def test_a_forked_process_goes_on_with_its_conversation(database_url, of, key):
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        say(saver, "before")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if say(saver, "in the child")[::2] == ["before", "in the child"] else 2
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert say(saver, "after")[::2] == ["before", "in the child", "after"]


@pytest.mark.spec("P-1")
@pytest.mark.slow
def test_keys_are_rotated_while_people_talk(database_url, of, key):
    newer = new_master_key()
    people, stop, failed, said = [f"+97250123456{number}" for number in range(4)], threading.Event(), [], {}

    def talks(saver, person):
        try:
            while not stop.is_set() or person not in said:
                said[person] = say(saver, "again", person)
        except LangMemError as error:
            failed.append(error)

    with ConversationSaver.from_settings(of(key, newer), database_url) as saver:
        workers = [threading.Thread(target=talks, args=(saver, person)) for person in people]
        for worker in workers:
            worker.start()
        with open_database(of(newer, key), database_url) as other:
            wrapped = sum(other.encryption.rotate())
            while not all(person in said for person in people):
                wrapped += sum(other.encryption.rotate())
            wrapped += sum(other.encryption.rotate())
        stop.set()
        for worker in workers:
            worker.join()
    assert failed == []
    assert wrapped >= len(people)
    with open_database(of(newer, key), database_url) as other:
        list(other.encryption.rotate())
    with ConversationSaver.from_settings(of(newer), database_url) as saver:
        for person in people:
            assert say(saver, "and now", person)[:-2] == said[person]


@pytest.mark.spec("P-1")
def test_the_database_is_not_opened_without_its_keys_or_with_others(database_url, of, key, tmp_path):
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        say(saver, "hello")
    with pytest.raises(ConfigurationError, match="LANGMEM_KEYS"):
        ConversationSaver(database_url)
    with Database(database_url) as plain, pytest.raises(ConfigurationError, match="LANGMEM_KEYS"):
        ConversationSaver(plain)
    with pytest.raises(ConfigurationError, match="lacks"):
        ConversationSaver.from_settings(of(new_master_key()), database_url)
    file = tmp_path / "people.keys"
    kept = file.read_bytes()
    file.unlink()
    with pytest.raises(ConfigurationError, match="key_database"):
        ConversationSaver.from_settings(of(key), database_url)
    for left in tmp_path.glob("people.keys*"):
        left.unlink()
    file.write_bytes(kept)
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        assert say(saver, "again")[0] == "hello"


def _rows(database):
    with database.read() as connection:
        return [connection.execute(select(each)).all() for each in (message.c.payload, checkpoint.c.payload)]


@pytest.mark.spec("P-1", "C-15")
def test_what_lacks_its_key_is_answered_without_and_kept_for_when_that_comes_back(
    database_url, of, key, tmp_path, caplog
):
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        say(saver, "my name is Dalia")
        rows = _rows(saver.database)
    kept = Path(tmp_path / "people.keys")
    before = kept.read_bytes()
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        assert saver.database.encryption.shred(MOM)
    with ConversationSaver.from_settings(of(key), database_url) as saver, caplog.at_level(logging.ERROR):
        [damaged] = {each.session_id for each in examine(saver)}
        with pytest.raises(SessionRefused) as refused:
            rebuild(saver, damaged)
        assert refused.value.lacks_key
        assert _rows(saver.database) == rows
        assert say(saver, "what is my name?") == ["what is my name?", "heard 1"]
        assert "session.damaged" in events(caplog)
        assert all(kept_rows[: len(old)] == old for kept_rows, old in zip(_rows(saver.database), rows, strict=True))
    for left in tmp_path.glob("people.keys*"):
        left.unlink()
    kept.write_bytes(before)
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        saver.sessions.restore(damaged)
        assert say(saver, "what is my name?")[0] == "my name is Dalia"


@pytest.mark.spec("P-1", "C-15")
def test_a_message_that_is_not_for_its_row_is_marked_and_the_session_is_rebuilt_without_it(database_url, of, key):
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        say(saver, "one")
        say(saver, "two")
        with saver.database.write() as connection:
            first = connection.execute(select(message.c.payload).where(message.c.row == 1)).scalar_one()
            connection.execute(update(message).where(message.c.row == 3).values(payload=first))
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        assert say(saver, "three") == ["one", "heard 1", TEXT, "heard 3", "three", "heard 5"]
        [session_id] = {each.session_id for each in examine(saver)}
        assert rebuild(saver, session_id) == (5, 1)
        assert say(saver, "four")[:5] == ["one", "heard 1", "heard 3", "three", "heard 5"]
        assert examine(saver) == []


@pytest.mark.spec("P-1")
def test_a_conversation_under_another_phone_is_not_shown(database_url, of, key):
    """A session is given to somebody else by hand, with all that hangs on it."""
    other = "+972507654321"
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        say(saver, "my secret")
        with saver.database.write() as connection:
            row = connection.execute(select(session).where(session.c.thread == MOM)).mappings().one()
            connection.execute(session.insert().values({**row, "thread": other, "session_id": "twin"}))
            for table in (message, checkpoint):
                connection.execute(update(table).where(table.c.thread == MOM).values(thread=other))
    with ConversationSaver.from_settings(of(key), database_url) as saver:
        assert say(saver, "show me", other) == ["show me", "heard 1"]
