"""Encrypted conversations that are copied, moved to another person, pruned; and their pictures in a folder."""

from hashlib import sha256

import pytest
from sqlalchemy import select, update

from langmem_plugin import ConversationSaver, SessionManager, Settings
from langmem_plugin.conversation.sessions import session_move
from langmem_plugin.conversation.storage.session_repair import examine, examine_beside
from langmem_plugin.database.conversation_tables import media, message
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import DecryptionRefused
from tests.cases import for_each
from tests.conversation.encrypted_talk import DAD, MOM, WORDS, picture_of, readers, talk, unread
from tests.log_events import events

AUNT = "+972509999999"


@pytest.fixture(params=["folder", "database"])
def settings(request, tmp_path):
    return Settings(
        keys=new_master_key(),
        key_database=f"sqlite:///{tmp_path}/people.keys",
        media=tmp_path / "photos" if request.param == "folder" else "database",
        sweep_every=None,
    )


@pytest.fixture
def opened(settings, database_url, clock):
    made = []

    def make():
        made.append(ConversationSaver.from_settings(settings, database_url, now=clock))
        return made[-1]

    yield make
    for each in made:
        each.close()


NOT_COPIED = {
    f"langmem_{name}"
    for name in ("decision.payload", "incoming.payload", "acknowledged.payload", "incoming.reply", "question.payload")
} | {"langmem_extraction_job.facts", "langmem_extraction_job.error"}


@pytest.fixture
def talked(opened, clock):
    saver = opened()
    WORDS[AUNT] = WORDS[MOM]
    for person in (MOM, DAD):
        talk(saver, clock, person)
    yield saver
    del WORDS[AUNT]


@pytest.mark.spec("P-1", "C-8")
def test_a_copy_is_read_also_when_the_keys_of_the_first_are_gone(talked, opened, clock):
    talked.copy_thread(MOM, AUNT)
    talked.delete_thread(MOM)
    assert talked.database.encryption.shred(MOM)
    assert unread(opened(), clock, AUNT, MOM, but=NOT_COPIED) == set()
    assert examine(opened()) == [] == [each for each in examine_beside(opened()) if each.thread == AUNT]


def _moved(saver, source, target):
    with saver.database.write() as connection:
        session_move.move_sessions(connection, saver.media, source, target, saver.sessions.now())
        session_move.move_incoming(connection, source, target)
        session_move.move_question(connection, source, target)


@pytest.mark.spec("P-1", "C-20")
def test_what_moves_to_another_person_is_read_with_their_key_and_back_again(talked, opened, clock):
    _moved(talked, MOM, AUNT)
    assert talked.database.encryption.shred(MOM)
    assert examine(opened()) == [] == examine_beside(opened())
    assert unread(opened(), clock, AUNT, MOM) == set()
    _moved(talked, AUNT, MOM)
    assert talked.database.encryption.shred(AUNT)
    assert unread(opened(), clock, MOM, MOM) == set()
    assert unread(opened(), clock, DAD, DAD) == set()


@pytest.mark.spec("P-1", "C-20")
def test_nothing_moves_where_something_was_not_encrypted_for_its_row(talked, opened, clock):
    of = {person: (message.c.thread == person, message.c.row == 1) for person in (MOM, DAD)}
    with talked.database.write() as connection:
        foreign, mine = (
            connection.execute(select(message.c.payload).where(*of[person])).scalar_one() for person in (DAD, MOM)
        )
        connection.execute(update(message).where(*of[MOM]).values(payload=foreign))
    with pytest.raises(DecryptionRefused, match=r"langmem_message\.payload"):
        _moved(talked, MOM, AUNT)
    with talked.database.write() as connection:
        connection.execute(update(message).where(*of[MOM]).values(payload=mine))
    assert unread(opened(), clock, MOM, MOM) == set()


@pytest.mark.spec("P-1", "C-8")
def test_what_is_left_after_pruning_is_read(talked, opened, clock):
    talked.prune([MOM])
    assert unread(opened(), clock, MOM, MOM) == set()
    assert examine(opened()) == []


# Pictures in a folder


@pytest.mark.spec("P-1", "C-8")
@pytest.mark.parametrize("settings", ["folder"], indirect=True)
def test_a_known_picture_is_not_told_by_the_name_of_its_file_or_its_row(talked, tmp_path):
    files = {each.name: each.read_bytes() for each in (tmp_path / "photos").iterdir()}
    with talked.database.read() as connection:
        assert set(connection.execute(select(media.c.sha256)).scalars()) == files.keys()
    for person in (MOM, DAD):
        assert sha256(picture_of(person)).hexdigest() not in files
    assert len(files) == 2
    assert b"picture of" not in b"".join(files.values())


@pytest.mark.spec("P-1", "C-8")
@pytest.mark.parametrize("settings", ["folder"], indirect=True)
def test_a_picture_is_kept_once_for_a_person_and_apart_for_each(talked, opened, clock, tmp_path, monkeypatch):
    talk(opened(), clock, MOM)
    assert len([*(tmp_path / "photos").iterdir()]) == 2
    monkeypatch.setitem(WORDS, DAD, WORDS[MOM])
    talk(opened(), clock, DAD)
    assert len([*(tmp_path / "photos").iterdir()]) == 3
    opened().delete_thread(MOM)
    assert len([*(tmp_path / "photos").iterdir()]) == 2


@pytest.mark.spec("P-1", "C-8")
@pytest.mark.parametrize("settings", ["folder"], indirect=True)
@for_each("how", ["another's", "plain"])
def test_a_file_that_was_put_in_anothers_place_is_not_shown(talked, opened, clock, tmp_path, how, caplog):
    read, _ = readers(clock)[next(each for each in readers(clock) if each.column.table is media)]
    files = list((tmp_path / "photos").iterdir())
    others = [each.read_bytes() for each in reversed(files)] if how == "another's" else [picture_of(DAD)] * 2
    for file, data in zip(files, others, strict=True):
        file.write_bytes(data)
    assert read(opened(), MOM) is None
    assert "media.refused" in events(caplog)


@pytest.mark.spec("P-1")
def test_a_client_is_remembered_by_the_next_session_too(talked, opened):
    talked.end_session(MOM)
    SessionManager(opened()).add_message(MOM, "user", "hello again")
    newest, _ = SessionManager(opened()).sessions(MOM)
    assert newest.client_name == "lemon chicken the cook"
