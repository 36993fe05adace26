"""`langmem keys`: a key is made, and people's keys are wrapped anew."""

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from langmem_plugin import ConversationSaver, Settings
from langmem_plugin.cli import app
from langmem_plugin.database.conversation_tables import question
from langmem_plugin.database.encryption.master_keys import MasterKeys, new_master_key
from tests.cases import for_each
from tests.conversation.encrypted_talk import DAD, MOM, talk

pytestmark = pytest.mark.both_engines


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


@pytest.mark.spec("P-1")
def test_a_new_key_is_one_that_the_settings_take(run):
    made = run("keys", "new", database=False)
    assert MasterKeys.of(made.stdout.strip()).newest.secret
    assert "LANGMEM_KEYS" in made.stderr
    assert made.stdout != run("keys", "new", database=False).stdout


@pytest.mark.spec("P-1")
@for_each("command", ["status", "rotate"])
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
