"""Where everything is encrypted nothing of a conversation can be read without its keys, nor in another's place."""

import pytest
from sqlalchemy import select, update

from langmem_plugin import ConversationSaver, Settings
from langmem_plugin.conversation.storage.session_repair import examine, examine_beside
from langmem_plugin.database.encryption.encrypted_columns import ENCRYPTED
from langmem_plugin.database.encryption.master_keys import new_master_key
from langmem_plugin.errors import DamagedSession, SessionRefused
from tests.cases import for_each
from tests.conversation.encrypted_talk import DAD, MOM, WORDS, raw, readers, talk

OF_CONVERSATIONS = [each for each in ENCRYPTED if each.refusal is SessionRefused]


@pytest.fixture
def settings(tmp_path):
    return Settings(
        keys=new_master_key(),
        key_database=f"sqlite:///{tmp_path}/people.keys",
        media="database",
        sweep_every=None,
    )


@pytest.fixture
def opened(settings, database_url, clock):
    """Makes savers that know nothing yet, as after a restart."""
    made = []

    def make(given=settings):
        made.append(ConversationSaver.from_settings(given, database_url, now=clock))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.spec("P-1")
def test_nothing_that_was_said_is_found_in_the_bytes_of_the_database(opened, clock, database_url, tmp_path):
    saver = opened()
    for person in (MOM, DAD):
        talk(saver, clock, person)
    saver.close()
    bytes_of_all = raw(database_url) + b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())
    for said in (*WORDS.values(), "recipes", "crash", "the model is gone", "picture of"):
        assert said.encode() not in bytes_of_all
    for metadata_of_checkpoint in (b"channel_versions", b"parents", b'"step"'):
        assert metadata_of_checkpoint not in bytes_of_all


@pytest.mark.spec("P-1")
def test_without_encryption_the_same_search_finds_it_all(opened, clock, database_url):
    """Else the test above would prove nothing."""
    saver = opened(Settings(media="database", sweep_every=None))
    talk(saver, clock, MOM)
    saver.close()
    assert {words for _, words in readers(clock).values() if words.encode() not in raw(database_url)} == set()


def _read(opened, clock, column, person):
    saver = opened()
    read, _ = readers(clock)[column]
    try:
        return str(read(saver, person))
    except DamagedSession:
        return ""
    finally:
        saver.close()


def _expected(clock, column, person):
    _, words = readers(clock)[column]
    return f"{WORDS[person]} {words}" if words != "of a table" and words else words


def _holds(text, clock, column, person):
    return _expected(clock, column, person) in text and WORDS[person] in text


@pytest.mark.slow
@pytest.mark.spec("P-1")
@for_each("column", OF_CONVERSATIONS, ids=lambda each: str(each.column))
def test_what_is_not_encrypted_for_its_row_is_shown_to_nobody(opened, clock, column):
    saver = opened()
    for person in (MOM, DAD):
        talk(saver, clock, person)
    table, keys = column.column.table, list(column.column.table.primary_key)
    rows = select(*keys, column.column).where(column.column.is_not(None)).order_by(*keys)
    with saver.database.read() as connection:
        mine, others = (connection.execute(rows.where(keys[0] == person)).all() for person in (MOM, DAD))
        plain = [column.decrypted(connection, row[: len(keys)], row[-1]) for row in mine]
    assert _holds(_read(opened, clock, column, MOM), clock, column, MOM)
    for stored in ([row[-1] for row in others], plain):
        with saver.database.write() as connection:
            for row, value in zip(mine, stored, strict=True):
                this = (key == part for key, part in zip(keys, row, strict=False))
                connection.execute(update(table).where(*this).values({column.column.name: value}))
        shown = _read(opened, clock, column, MOM)
        assert WORDS[DAD] not in shown
        assert not _holds(shown, clock, column, MOM)
        doctor = opened()
        reported = [*(each.why for each in examine(doctor)), *(each.why for each in examine_beside(doctor))]
        assert any(f"{table.name}.{column.column.name}" in why for why in reported)
        assert _holds(_read(opened, clock, column, DAD), clock, column, DAD)
