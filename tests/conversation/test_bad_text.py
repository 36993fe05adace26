"""Texts that no database stores, at the doors of conversations: refused by name or kept, the same on both engines."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langmem_plugin import ConversationSaver, SessionManager
from langmem_plugin.errors import InvalidInput, LangMemError
from tests.cases import for_each

ERIN = "+972501234567"
_anything = st.text(st.characters(exclude_categories=()), max_size=20)
texts = st.one_of(_anything, st.sampled_from(("\x00", "a\x00b", "\ud83d", "", " ", "k" * 3_000, "😀" * 300)))


def place(**more):
    return {"configurable": {"thread_id": ERIN, **more}}


DOORS = {
    "chat": lambda manager, _, text: manager.get_session(text).message_counter >= 0,
    "message of": lambda manager, _, text: bool(manager.add_message(text, "user", "hello")),
    "message": lambda manager, _, text: bool(manager.add_message(ERIN, "user", text)),
    "role": lambda manager, _, text: bool(manager.add_message(ERIN, text, "hello")),
    "sender": lambda manager, _, text: bool(manager.add_message(ERIN, "user", "hello", text, text)),
    "client": lambda manager, _, text: bool(manager.add_message(ERIN, "user", "hello", client_name=text)),
    "picture": lambda manager, _, text: bool(manager.add_message(ERIN, "user", "hello", image_path=text)),
    "history": lambda manager, _, text: len(manager.get_conversation_history(text)) >= 0,
    "cleared": lambda manager, _, text: manager.clear_session(text),
    "session": lambda manager, _, text: manager.session(text).message_counter,
    "messages": lambda manager, _, text: len(manager.messages(text)),
    "sessions": lambda manager, _, text: len(manager.sessions(text)) >= 0 if text else None,
    "restored": lambda manager, _, text: manager.restore(text).message_counter,
    "purged": lambda manager, _, text: manager.purge(text),
    "thread": lambda _, saver, text: saver.get_tuple({"configurable": {"thread_id": text}}) is None,
    "session of": lambda _, saver, text: saver.get_tuple(place(langmem_session=text)) is None,
    "checkpoint": lambda _, saver, text: saver.get_tuple(place(checkpoint_id=text)) is None if text else None,
    "namespace": lambda _, saver, text: saver.get_tuple(place(checkpoint_ns=text)) is None if text else None,
    "deleted": lambda _, saver, text: saver.delete_thread(text),
    "copied": lambda _, saver, text: saver.copy_thread(ERIN, text),
    "runs": lambda _, saver, text: saver.delete_for_runs([text]),
}


@pytest.fixture(scope="module")
def savers(postgresql_server, tmp_path_factory):
    with postgresql_server.copy("bad_words") as url:
        urls = f"sqlite:///{tmp_path_factory.mktemp('bad')}/langmem.db", url
        opened = [ConversationSaver(url) for url in urls]
        yield opened
        for saver in opened:
            saver.close()


def outcome(door, saver, text):
    manager = SessionManager(saver)
    manager.add_message(ERIN, "user", "hello before")
    try:
        return "done", DOORS[door](manager, saver, text)
    except LangMemError as error:
        return type(error).__name__, str(error)


@pytest.mark.slow
@pytest.mark.spec("C-13", "A-5")
@settings(max_examples=30)
@given(door=st.sampled_from(sorted(DOORS)), text=texts)
def test_whatever_the_text_both_engines_do_the_same_and_refuse_by_name(savers, door, text):
    of_sqlite, of_postgresql = (outcome(door, saver, text) for saver in savers)

    assert of_sqlite == of_postgresql


@pytest.mark.spec("C-11", "A-5")
@for_each("name", ["a\x00b", "a\ud83d", "\x1b", "n" * 3_000], ids=["NUL", "half an emoji", "escape", "long"])
def test_a_client_may_have_any_name(savers, name):
    for saver in savers:
        manager = SessionManager(saver)

        manager.add_message(ERIN, "user", "hello", client_name=name)

        assert manager.get_session(ERIN).client_name == name


@pytest.mark.spec("C-13")
@for_each("chat", ["a\x00b", "a\ud83d", "k" * 1_001], ids=["NUL", "half an emoji", "long"])
def test_what_can_be_nobodys_key_is_refused_and_nothing_is_stored(savers, chat):
    for saver in savers:
        with pytest.raises(InvalidInput):
            SessionManager(saver).add_message(chat, "user", "hello")
