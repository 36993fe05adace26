"""A file from elsewhere is refused with a reason: nothing in it is run, and nothing of it is written over."""

import os
import sqlite3
import stat
from contextlib import closing

import pytest

from langmem_plugin.database import Database
from langmem_plugin.errors import ConfigurationError, DataDirectoryError, LangMemError, StoreUnavailable
from tests.cases import for_each
from tests.warm_process import ran

pytestmark = pytest.mark.spec("P-10")


@pytest.fixture
def file(migrated_file, tmp_path):
    path = tmp_path / "langmem.db"
    path.write_bytes(migrated_file.read_bytes())
    return path


def changed(path, *statements):
    with closing(sqlite3.connect(path)) as connection:
        for each in statements:
            connection.execute(each)
        connection.commit()


def opened(path):
    return Database(f"sqlite:///{path}")


HOSTILE = {
    "a trigger on a table of ours": [
        "CREATE TRIGGER quiet AFTER UPDATE ON langmem_version BEGIN DELETE FROM langmem_memory; END"
    ],
    "a trigger with our name": ["CREATE TABLE x (y)", "CREATE TRIGGER langmem_x AFTER INSERT ON x BEGIN SELECT 1; END"],
    "a view in place of a table": [
        "ALTER TABLE langmem_memory RENAME TO hidden",
        "CREATE VIEW langmem_memory AS SELECT * FROM hidden",
    ],
    "a view with our name": ["CREATE VIEW langmem_extra AS SELECT 1"],
    "no table": ["DROP TABLE langmem_memory"],
    "a table without its columns": ["DROP TABLE langmem_memory", "CREATE TABLE langmem_memory (id TEXT)"],
    "another's version table": ["DROP TABLE langmem_version", "CREATE TABLE langmem_version (number TEXT)"],
    "a version from the future": ["UPDATE langmem_version SET version_num = '9999'"],
    "a version that is a path": ["UPDATE langmem_version SET version_num = '../../x'"],
    "only a trigger, and no table yet": [],
}


@for_each("what", HOSTILE)
def test_a_file_with_another_schema_is_refused_and_left_as_it_is(file, what):
    if not HOSTILE[what]:
        file.unlink()
        changed(file, "CREATE TABLE a (b)", "CREATE TRIGGER langmem_t AFTER INSERT ON a BEGIN DELETE FROM a; END")
    changed(file, *HOSTILE[what])
    with closing(sqlite3.connect(file)) as connection:
        before = list(connection.iterdump())

    with pytest.raises(ConfigurationError):
        opened(file)

    with closing(sqlite3.connect(file)) as connection:
        assert list(connection.iterdump()) == before


@for_each("content", [b"hello", b"x" * 100_000, b"SQLite format 3\x00" + b"\xff" * 5_000])
def test_a_file_that_is_no_database_is_refused_and_not_written_over(tmp_path, content):
    path = tmp_path / "langmem.db"
    path.write_bytes(content)

    with pytest.raises(StoreUnavailable, match=r"cannot be read|disk|format"):
        opened(path)

    assert path.read_bytes() == content


def test_a_damaged_page_is_an_error_and_not_an_answer(file):
    data = bytearray(file.read_bytes())
    data[4_096:] = b"\xff" * (len(data) - 4_096)
    file.write_bytes(data)

    with pytest.raises(LangMemError):
        opened(file)


def test_what_a_schema_calls_is_not_trusted(file):
    with opened(file) as database, database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA trusted_schema").scalar() == 0
        assert connection.exec_driver_sql("PRAGMA cell_size_check").scalar() == 1


def test_an_applications_own_triggers_and_views_stay_its_own(file):
    changed(
        file,
        "CREATE TABLE orders (id)",
        "CREATE TRIGGER noted AFTER INSERT ON orders BEGIN DELETE FROM orders WHERE id IS NULL; END",
        "CREATE VIEW recent AS SELECT * FROM orders",
    )

    opened(file).close()


def test_a_link_in_a_folder_that_everybody_may_write_to_is_not_followed(tmp_path, file):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "langmem.db").symlink_to(file)
    before = file.read_bytes()

    with pytest.raises(ConfigurationError, match="link"):
        opened(shared / "langmem.db")
    assert file.read_bytes() == before

    shared.chmod(0o700)
    opened(shared / "langmem.db").close()


def test_a_link_that_leads_nowhere_makes_no_file_there(tmp_path):
    (tmp_path / "langmem.db").symlink_to(tmp_path / "elsewhere.db")

    with pytest.raises(DataDirectoryError):
        opened(tmp_path / "langmem.db")

    assert not (tmp_path / "elsewhere.db").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a file to another user")
def test_another_users_file_in_a_folder_that_everybody_may_write_to_is_refused(tmp_path, file):
    tmp_path.chmod(0o1777)
    os.chown(file, 4_711, 4_711)

    with pytest.raises(ConfigurationError, match="another user"):
        opened(file)


def test_a_folder_that_everybody_may_write_to_is_named_in_the_log(tmp_path, caplog):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    opened(shared / "langmem.db").close()
    opened(shared / "langmem.db").close()

    assert any(getattr(each, "event", "") == "database.folder_open" for each in caplog.records)


_WRITES = """
import os, sys
os.umask(int(sys.argv[2], 8))
from langchain_core.messages import HumanMessage
from langmem_plugin import PhoneMemory, Settings
from tests.memory.test_bad_text import Letters
folder = sys.argv[1]
kept = Settings(vector_index=f"chroma:{folder}/data/index", index_after=2, owner_limit=100, sweep_every="1h")
png = b"\\x89PNG\\r\\n\\x1a\\n" + b"x" * 50
with PhoneMemory(f"sqlite:///{folder}/data/deep/langmem.db", settings=kept, embeddings=Letters()) as memory:
    for number in range(5):
        memory.service.remember("+972501234567", f"tea {number}")
    memory.service.reindex("+972501234567")  # a search alone would have it made in the background
    memory.service.search("+972501234567", "tea")
    memory.media.keep(png, "image/png")
    memory.sessions.record("+972501234567", HumanMessage("hello"))
    for folder_, folders, files in os.walk(f"{folder}/data"):
        for each in [folder_, *(os.path.join(folder_, name) for name in files)]:
            print(oct(os.stat(each).st_mode), each)
"""


@pytest.mark.slow
@pytest.mark.spec("P-1", "P-10")
@for_each("umask", ["000", "022"])
def test_every_file_is_its_owners_alone_whatever_the_umask(tmp_path, umask):
    told = ran(_WRITES, tmp_path, umask)

    made = {path: int(mode, 8) for mode, path in (line.split(" ", 1) for line in told.splitlines())}
    assert any(path.endswith("-wal") for path in made)
    assert any(path.endswith(".png") for path in made)
    assert any("/index" in path for path in made)
    wide = {
        path: oct(mode) for path, mode in made.items() if stat.S_IMODE(mode) != (0o700 if stat.S_ISDIR(mode) else 0o600)
    }
    assert wide == {}
