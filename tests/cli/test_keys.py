"""`langmem keys`: a key is made, people's keys are wrapped anew, and what was stored in plain is encrypted in place."""

import os
import signal

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from langmem_plugin import ConversationSaver, Settings
from langmem_plugin.cli import app
from langmem_plugin.conversation.storage.conversation_doctor import examine, examine_beside
from langmem_plugin.database.conversation_tables import question
from langmem_plugin.database.encryption import conversion
from langmem_plugin.database.encryption.master_keys import MasterKeys, new_master_key
from langmem_plugin.errors import ConfigurationError
from tests.cases import for_each
from tests.conversation.encrypted_talk import DAD, MOM, WORDS, raw, talk, unread

pytestmark = pytest.mark.both_engines


@pytest.fixture(params=["folder", "database"])
def media(request, tmp_path):
    return tmp_path / "photos" if request.param == "folder" else "database"


@pytest.fixture
def key():
    return new_master_key()


@pytest.fixture
def run(database_url, monkeypatch, tmp_path):
    def invoke(*arguments, exit_code=0, database=True, **variables):
        for name, value in variables.items():
            monkeypatch.setenv(f"LANGMEM_{name.upper()}", str(value))
        result = CliRunner().invoke(app, [*arguments, *(("--database", database_url) if database else ())])
        assert result.exit_code == exit_code, result.output
        return result

    return invoke


def _talked(settings, database_url, clock):
    with ConversationSaver.from_settings(settings, database_url, now=clock) as saver:
        for person in (MOM, DAD):
            talk(saver, clock, person)


def _unread(settings, database_url, clock):
    """The columns out of which somebody's words cannot be read."""
    with ConversationSaver.from_settings(settings, database_url, now=clock) as saver:
        return {column for person in (MOM, DAD) for column in unread(saver, clock, person, person)}


def _in_files(database_url, tmp_path):
    return raw(database_url) + b"".join(each.read_bytes() for each in tmp_path.rglob("*") if each.is_file())


@pytest.mark.spec("P-1")
def test_a_new_key_is_one_that_the_settings_take(run):
    made = run("keys", "new", database=False)
    assert MasterKeys.of(made.stdout.strip()).newest.secret
    assert "LANGMEM_KEYS" in made.stderr
    assert made.stdout != run("keys", "new", database=False).stdout


@pytest.mark.spec("P-1")
@for_each("command", ["status", "rotate", "encrypt"])
def test_without_keys_it_says_how_to_get_one(run, command):
    assert "langmem keys new" in run("keys", command, exit_code=1).stderr


@pytest.mark.spec("P-1")
def test_it_is_shown_which_key_wraps_how_many_and_all_are_wrapped_by_the_newest(run, key, database_url, clock):
    newer = new_master_key()
    name, newer_name = (each.partition(":")[0] for each in (key, newer))
    _talked(Settings(keys=key, media="database"), database_url, clock)
    before = run("keys", "status", keys=f"{newer},{key}").stdout
    assert "encrypted: everything" in before
    assert f"{name}: 2 people" in before
    assert f"{newer_name}: 0 people, the newest key" in before
    assert key.partition(":")[2] not in before
    assert newer_name in run("keys", "rotate").stdout
    after = run("keys", "status", keys=newer).stdout
    assert f"{newer_name}: 2 people" in after
    assert "rotate" not in after


@pytest.mark.spec("P-1")
def test_a_database_in_plain_is_encrypted_in_place(run, key, database_url, clock, media, tmp_path):
    _talked(Settings(media=media), database_url, clock)
    assert all(words.encode() in _in_files(database_url, tmp_path) for words in WORDS.values())
    run("keys", "encrypt", "--yes", keys=key, media=media)
    found = _in_files(database_url, tmp_path)
    for said in (*WORDS.values(), "recipes", "crash", "channel_versions", "picture of"):
        assert said.encode() not in found
    settings = Settings(keys=key, media=media)
    assert _unread(settings, database_url, clock) == set()
    with ConversationSaver.from_settings(settings, database_url) as saver:
        assert examine(saver) == [] == examine_beside(saver)
    with pytest.raises(ConfigurationError, match="LANGMEM_KEYS"):
        ConversationSaver(database_url)
    assert run("keys", "encrypt", "--yes").stdout.startswith("0 rows")  # again there is nothing to do


@pytest.mark.slow
@pytest.mark.spec("P-1")
def test_killed_in_the_middle_it_goes_on_and_nobody_opens_the_database_before(
    run, key, database_url, clock, media, tmp_path, monkeypatch
):
    plain = Settings(media=media)
    _talked(plain, database_url, clock)
    settings = Settings(keys=key, media=media)
    monkeypatch.setattr(conversion, "_AT_ONCE", 1)
    for killed_after in (0, 7, 20):
        if os.fork() == 0:
            _kill_after(killed_after, monkeypatch)
            run("keys", "encrypt", "--yes", keys=key, media=media)
            os._exit(1)
        assert os.WIFSIGNALED(os.wait()[1])
        with pytest.raises(ConfigurationError, match="LANGMEM_KEYS"):
            ConversationSaver.from_settings(plain, database_url)
        with pytest.raises(ConfigurationError, match="langmem keys encrypt"):
            ConversationSaver.from_settings(settings, database_url)
    assert "not everything yet" in run("keys", "status", keys=key, media=media).stdout
    run("keys", "encrypt", "--yes")
    assert all(words.encode() not in _in_files(database_url, tmp_path) for words in WORDS.values())
    assert _unread(settings, database_url, clock) == set()


def _kill_after(rows, monkeypatch):
    written, left = conversion._written, [rows]

    def then_die(*arguments):
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return written(*arguments)

    monkeypatch.setattr(conversion, "_written", then_die)


@pytest.mark.spec("P-1", "C-15")
def test_the_doctor_names_what_is_not_for_its_row_and_leaves_what_lacks_its_key(run, key, database_url, clock):
    settings = Settings(keys=key, media="database")
    _talked(settings, database_url, clock)
    assert "every session can be read" in run("doctor", keys=key, media="database").stdout
    with ConversationSaver.from_settings(settings, database_url) as saver:
        with saver.database.write() as connection:
            connection.execute(update(question).where(question.c.thread == MOM).values(payload=b'{"kind": "forget"}'))
        saver.database.encryption.shred(DAD)
    found = run("doctor", "--rebuild", exit_code=1).stdout
    assert "langmem_question.payload holds a value that is not encrypted" in found
    assert "the key of langmem_checkpoint.payload is not there" in found
    assert "left as it is: bring back the key database" in found
    assert "rebuilt" not in found
    assert MOM not in found
