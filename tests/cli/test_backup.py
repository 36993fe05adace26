"""A backup made while a service writes is of one moment: every session can be read, and every picture is there."""

import base64
import os
import resource
import secrets
import shutil
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.conversation.storage.conversation_doctor import examine
from langmem_plugin.database import backup
from langmem_plugin.database.encryption.master_keys import new_master_key
from tests.cli.conftest import QUIET, langmem
from tests.conversation.encrypted_talk import PNG

pytestmark = pytest.mark.both_engines

ERIN = "+972501234567"


def _picture(number):
    return PNG + str(number).encode() * 40


def _say(memory, number):
    data = base64.b64encode(_picture(number)).decode()
    block = {"type": "image", "base64": data, "mime_type": "image/png"}
    memory.sessions.record(ERIN, HumanMessage([{"type": "text", "text": f"number {number}"}, block]))


@pytest.mark.slow
@pytest.mark.spec("U-5", "C-15")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_copy_made_while_a_service_writes_is_whole(database_url, memory, tmp_path):
    for number in range(3):
        _say(memory, number)
    stopped = threading.Event()
    said = [3]

    def go_on():
        while not stopped.is_set():
            _say(memory, said[0])
            said[0] += 1

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        made = [backup.backup(memory.database, tmp_path / f"copy{at}", memory.media.folder) for at in range(3)]
    finally:
        stopped.set()
        writer.join()
    assert said[0] > 3
    for each in made:
        assert each.missing == ()
        with PhoneMemory(f"sqlite:///{each.database}", settings=QUIET) as copy:
            assert examine(copy.saver) == []
            [session] = copy.sessions.sessions(ERIN)
            pictures = [*(each.folder / "langmem-media").iterdir()]
            assert sorted(file.read_bytes() for file in pictures) == sorted(
                _picture(number) for number in range(session.message_counter)
            )
        assert each.pictures == session.message_counter >= 3


@pytest.mark.spec("U-5", "P-1")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_copy_is_private_and_holds_no_keys(database_url, tmp_path):
    key = new_master_key()
    keyed = {"LANGMEM_KEYS": key}
    Path(database_url.removeprefix("sqlite:///")).unlink()
    with PhoneMemory(database_url, settings=Settings(keys=key, sweep_every=None)) as memory:
        _say(memory, 7)
    told = langmem("backup", str(tmp_path / "copy"), "--database", database_url, **keyed)
    assert "the keys of people are not in it" in told.out
    assert "1 pictures" in told.out
    files = [each for each in (tmp_path / "copy").rglob("*") if each.is_file()]
    assert sorted(each.parent.name for each in files) == ["copy", "langmem-media"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o700
    assert not any(key.partition(":")[2].encode() in each.read_bytes() for each in files)
    assert (
        "is there already" in langmem("backup", str(tmp_path / "copy"), "--database", database_url, code=1, **keyed).err
    )


@pytest.mark.spec("U-5")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_picture_that_goes_while_it_is_copied_makes_the_rows_be_copied_again(
    database_url, memory, tmp_path, monkeypatch
):
    _say(memory, 1)
    whole, purged = backup._snapshot, []

    def then_purge(database, file):
        names = whole(database, file)
        if not purged:
            [session] = memory.sessions.sessions(ERIN)
            memory.sessions.purge(session.session_id)
            purged.append(session)
        return names

    monkeypatch.setattr(backup, "_snapshot", then_purge)
    made = backup.backup(memory.database, tmp_path / "copy", memory.media.folder)
    assert (made.pictures, made.missing) == (0, ())
    with PhoneMemory(f"sqlite:///{made.database}", settings=QUIET) as copy:
        assert copy.sessions.sessions(ERIN) == []


@pytest.mark.spec("U-5")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_picture_that_is_lost_is_named_and_a_backup_that_fails_leaves_nothing(
    database_url, memory, tmp_path, monkeypatch
):
    _say(memory, 1)
    [file] = memory.media.folder.iterdir()
    file.unlink()
    told = langmem("backup", str(tmp_path / "copy"), "--database", database_url, "--json").json
    assert (told["pictures"], told["missing"]) == (0, [file.stem])
    monkeypatch.setattr(backup, "_copy_files", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        backup.backup(memory.database, tmp_path / "other", memory.media.folder)
    assert [each.name for each in tmp_path.iterdir() if "other" in each.name] == []


@pytest.mark.slow
@pytest.mark.spec("U-5")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_servers_database_is_copied_by_its_own_program_and_comes_back(
    database_url, memory, tmp_path, postgresql_server
):
    memory.service.remember(ERIN, "Erin likes tea")
    with memory.database.read() as connection:
        programs = connection.exec_driver_sql("SELECT setting FROM pg_config WHERE name = 'BINDIR'").scalar()
    nothing = langmem("backup", str(tmp_path / "copy"), "--database", database_url, code=1, PATH=str(tmp_path))
    assert "pg_dump" in nothing.err
    assert not (tmp_path / "copy.unfinished").exists()
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    told = langmem("backup", str(tmp_path / "copy"), "--database", database_url, "--json", PATH=path).json
    dump = Path(told["database"])
    assert dump.stat().st_mode & 0o777 == 0o600
    program = shutil.which("pg_restore", path=programs)
    with postgresql_server.copy("comes_back") as url:
        subprocess.run([program, "--clean", "--if-exists", "--exit-on-error", f"--dbname={url}", dump], check=True)
        with PhoneMemory(url, settings=QUIET) as restored:
            assert [each.text for each in restored.service.list_memories(ERIN)] == ["Erin likes tea"]
            assert restored.service.recall(ERIN, "what does she drink?")[0].memory.text == "Erin likes tea"


@pytest.mark.spec("U-5", "P-6")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_backup_is_noted_once_it_was_made(database_url, memory, tmp_path):
    (tmp_path / "there").mkdir()
    langmem("backup", str(tmp_path / "there"), "--database", database_url, code=1)
    langmem("backup", str(tmp_path / "new"), "--database", database_url)
    assert [each.subject for each in memory.audit.newest(50) if each.action == "data.exported"] == ["backup"]


@pytest.mark.spec("U-5", "P-3")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_place_that_cannot_be_written_is_told_as_it_was_named(database_url, memory, tmp_path):
    _say(memory, 1)
    longest = "x" * 255  # a name beside it is longer than a file system takes
    for command in (["backup", str(tmp_path / longest)], ["export", ERIN, "--to", str(tmp_path / longest)]):
        told = langmem(*command, "--database", database_url, code=1).err
        assert longest in told
        assert ".part" not in told
        assert ".unfinished" not in told
    assert [each for each in tmp_path.iterdir() if each.name.startswith(("x", ".x"))] == []


@contextmanager
def _files_of_at_most(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.spec("U-5", "C-14", "P-3")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_place_that_becomes_full_is_told_and_nothing_half_written_is_left(database_url, memory, tmp_path):
    for _ in range(100):
        memory.sessions.add_message(ERIN, "user", secrets.token_hex(2_000))
    [session] = memory.sessions.sessions(ERIN)
    out = tmp_path / "out"
    out.mkdir()
    commands = (
        ["backup", str(out / "copy")],
        ["export", ERIN, "--to", str(out / "erin.json")],
        ["export", ERIN, "--to", str(out / "erin.zip"), "--format", "csv"],
        ["sessions", "export", session.session_id, "--to", str(out / "talk.jsonl")],
    )
    with _files_of_at_most(150_000):
        for command in commands:
            [*_, told] = langmem(*command, "--database", database_url, code=1).err.splitlines()
            assert told.startswith("langmem: ")
            assert "free space there" in told or str(out) in told
            assert [*out.iterdir()] == []
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        ended = subprocess.run(
            [
                sys.executable,
                "-c",
                "from langmem_plugin.cli import app; app()",
                "export",
                ERIN,
                "--database",
                database_url,
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode != 0
    assert "free some space" in ended.stderr
