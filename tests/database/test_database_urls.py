"""What names a database is a URL, a path or PostgreSQL's own keywords, wherever it stands; anything else is refused."""

import json
import os
import string
from pathlib import Path

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import make_url
from typer.testing import CliRunner

from langmem_plugin import ConversationSaver, MemoryService, PhoneMemory, Settings
from langmem_plugin.cli import app
from langmem_plugin.database.database_urls import database_url, shown
from langmem_plugin.errors import ConfigurationError, LangMemError, StoreUnavailable
from tests.cases import for_each

SECRET = "hunter2"


def by_command(named):
    done = CliRunner().invoke(app, ["memories", "list", "+972501234567", "--database", named])
    assert done.exit_code != 0
    raise ConfigurationError(done.output)


def by_file(named):
    said = {"feature_flags": {"enable_memory_system": True}, "langmem": {"database": named}}
    Path("config.json").write_text(json.dumps(said))
    return PhoneMemory.from_config("config.json")


def by_environment(named):
    os.environ["LANGMEM_DATABASE"] = named
    try:
        return PhoneMemory()
    finally:
        del os.environ["LANGMEM_DATABASE"]


PLACES = {
    "saver": ConversationSaver,
    "connection string": ConversationSaver.from_conn_string,
    "memory": PhoneMemory,
    "service": MemoryService,
    "settings": lambda named: PhoneMemory(settings=Settings(database=named)),
    "tenant": lambda named: PhoneMemory(named, tenant="shop"),
    "command": by_command,
    "environment": by_environment,
    "file": by_file,
}


@pytest.mark.spec("P-5", "C-2")
@for_each("place", PLACES.values(), ids=PLACES)
@for_each(
    "named",
    [
        "host=127.0.0.1 port=1 user=bot password=hunter2 dbname=chat",
        "dbname=chat password = 'hunter2' host=127.0.0.1 port=1",
        "hots=127.0.0.1 password=hunter2",
        "host=127.0.0.1 password='hunter2",
        "chat.db password=hunter2",
        "postgresql:/bot:hunter2@127.0.0.1/chat",
        "jdbc:postgresql://bot:hunter2@127.0.0.1/chat",
        "bot:hunter2@127.0.0.1/chat",
        "//bot:hunter2@127.0.0.1/chat",
        "mysql://bot:hunter2@127.0.0.1/chat",
        "",
        " ",
        "postgresql://127.0.0.1:1/chat?user=bot&password=hunter2",
        "sqlite:///chat.db?password=hunter2",
    ],
)
def test_no_file_is_made_of_what_is_no_path_and_no_password_is_shown(tmp_path, monkeypatch, place, named):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LangMemError) as raised:
        place(named)
    assert SECRET not in f"{raised.value!r} {raised.value.__cause__!r}"
    assert [each.name for each in tmp_path.iterdir() if each.name != "config.json"] == []


@pytest.mark.slow
@pytest.mark.spec("C-2")
@for_each("name", ["orders #1?.db", "a%20b.db", "my talks.db", "x=1.db", "./host=a.db", "./a:b@c.db"])
@for_each("form", [str, "sqlite:///{}".format], ids=["path", "url"])
def test_a_path_is_exactly_that_file(tmp_path, monkeypatch, offline_model, name, form):
    monkeypatch.chdir(tmp_path)
    with PhoneMemory(form(name), embeddings=offline_model) as memory:
        memory.service.remember("+972501234567", "TestCorp owes me 5000")
    assert (tmp_path / name).is_file()
    with MemoryService(tmp_path / name, embeddings=offline_model) as service:
        assert service.count("+972501234567") == 1


@pytest.mark.spec("A-4")
def test_the_form_of_libpq_opens_postgresql(postgresql_server):
    with postgresql_server.copy("by_keywords") as url:
        wanted = make_url(url)
        named = f"host={wanted.query['host']} user={wanted.username} dbname=by_keywords application_name='my bot'"
        with ConversationSaver.from_conn_string(named) as saver, saver.database.read() as connection:
            assert connection.exec_driver_sql("SELECT current_database()").scalar() == "by_keywords"
            assert connection.exec_driver_sql("SHOW application_name").scalar() == "my bot"


@pytest.mark.slow
@pytest.mark.spec("P-5")
@settings(max_examples=200)
@given(
    st.dictionaries(st.sampled_from(["host", "user", "dbname", "options"]), st.text(string.printable, min_size=1)),
    st.text(string.ascii_letters, min_size=8, max_size=8).map(lambda text: f"{text}{SECRET}"),
)
def test_whatever_libpq_understands_is_postgresql_and_hides_its_password(found, password):
    url = database_url(psycopg.conninfo.make_conninfo(password=password, **found))
    assert url.get_backend_name() == "postgresql"
    assert url.password == password
    assert SECRET not in shown(url)


@pytest.mark.spec("A-4")
def test_a_server_that_is_not_there_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreUnavailable):
        ConversationSaver.from_conn_string("host=127.0.0.1 port=1 dbname=chat")
    assert list(tmp_path.iterdir()) == []
