"""A mistyped database stays what it is: nothing, or another program's."""

import sqlite3

import pytest

from tests.cases import for_each
from tests.cli.conftest import langmem

ERIN = "+972501234567"
ON_WHAT_IS_THERE = [
    ["sessions", "list"],
    ["sessions", "show", "x"],
    ["sessions", "restore", "x"],
    ["sessions", "purge", "x", "--yes"],
    ["memories", "list", ERIN],
    ["memories", "add", ERIN, "I like tea"],
    ["memories", "show", "x"],
    ["memories", "edit", "x", "y"],
    ["memories", "forget", "x", "--yes"],
    ["people", "list"],
    ["people", "show", ERIN],
    ["people", "link", ERIN, "telegram:5", "--yes"],
    ["people", "unlink", ERIN],
    ["recall", "tea?", "--phone", ERIN],
    ["resolve", "number 2", "--phone", ERIN],
    ["export", ERIN],
    ["erase", ERIN, "--yes"],
    ["restore", ERIN],
    ["audit"],
    ["expire"],
    ["doctor"],
    ["reindex"],
    ["worker", "--once"],
]


@pytest.mark.slow
@pytest.mark.spec("U-5")
@for_each("arguments", ON_WHAT_IS_THERE, ids=" ".join)
def test_no_database_is_made_for_a_mistyped_name(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = langmem(*arguments, "--database", f"sqlite:///{tmp_path}/folder/typo.db", code=1)
    assert ended.out == ""
    [line] = ended.err.splitlines()
    assert "there is no database of langmem at sqlite:///" in line
    assert [*tmp_path.iterdir()] == []


@pytest.mark.spec("U-5")
def test_a_document_is_imported_into_a_new_database_only_where_that_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, new = tmp_path / "mem0.json", f"sqlite:///{tmp_path}/new.db"
    file.write_text('[{"id": "1", "memory": "Likes tea", "user_id": "+972501234567"}]')
    refused = langmem("import", str(file), "--from", "mem0", "--database", new, code=1)
    assert "say --create to make it" in refused.err
    assert not (tmp_path / "new.db").exists()
    told = langmem("import", str(file), "--from", "mem0", "--database", new, "--create", "--json").json
    assert told["stored"] == {"memory": 1}
    langmem("import", str(file), "--from", "mem0")
    assert (tmp_path / "data" / "langmem.db").exists()


@pytest.mark.spec("U-5")
def test_another_programs_database_gets_no_table_and_no_change(tmp_path):
    file = tmp_path / "addresses.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE address (name TEXT)")
    connection.close()
    before = file.read_bytes()
    for arguments in (["sessions", "list"], ["memories", "add", ERIN, "tea"], ["doctor", "--rebuild"]):
        assert "no database of langmem" in langmem(*arguments, "--database", f"sqlite:///{file}", code=1).err
    assert file.read_bytes() == before


@pytest.mark.spec("U-5")
def test_an_empty_file_stays_empty(tmp_path):
    (tmp_path / "empty.db").touch()
    langmem("doctor", "--database", f"sqlite:///{tmp_path}/empty.db", code=1)
    assert (tmp_path / "empty.db").stat().st_size == 0


@pytest.mark.spec("U-5")
def test_a_servers_database_without_our_tables_gets_none(postgresql_server):
    postgresql_server.psql("CREATE DATABASE addresses")
    url = postgresql_server.get_uri(database="addresses")
    assert "no database of langmem" in langmem("people", "list", "--database", url, code=1).err
    assert "no database of langmem" in langmem("people", "list", "--database", url, code=1).err
    postgresql_server.psql("DROP DATABASE addresses WITH (FORCE)")


@pytest.mark.spec("U-5")
def test_a_database_in_memory_is_refused_with_its_reason():
    assert "in memory holds nothing" in langmem("sessions", "list", "--database", "sqlite://", code=1).err
