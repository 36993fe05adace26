"""A SQLite file belongs to SQLite: nobody else opens it, and one that is gone is noticed."""

import functools
import shutil
import threading

import pytest
from sqlalchemy import text

from langmem_plugin import ConversationSaver, MemoryService, PhoneMemory, SessionManager
from langmem_plugin.database import Database
from langmem_plugin.errors import DataDirectoryError, StoreUnavailable
from tests.cases import for_each
from tests.database.conftest import serving

pytestmark = pytest.mark.slow

MOM = "+972501234567"


def said_by(phone, url):
    with SessionManager(url) as manager:
        [session] = manager.sessions(phone)
        return [each.content for each in manager.messages(session.session_id) if each.role == "user"]


@pytest.mark.spec("C-5", "C-12")
@for_each("another", [ConversationSaver, SessionManager, MemoryService, PhoneMemory, Database])
def test_a_second_object_on_the_file_loses_nothing_when_another_process_comes_and_goes(
    tmp_path, offline_model, elsewhere, forked, another
):
    url, path = f"sqlite:///{tmp_path}/langmem.db", tmp_path / "langmem.db"
    named = {"embeddings": offline_model} if another in (MemoryService, PhoneMemory) else {}
    with PhoneMemory(url, embeddings=offline_model) as memory:
        server = serving(memory)
        server.says(MOM, "before")
        with another(url, **named):
            elsewhere(
                f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('SELECT * FROM langmem_session'); c.close()"
            )
            assert path.with_name("langmem.db-wal").exists()
            for number in range(5):
                server.says(MOM, f"after {number}")
        # What a process sees that was not there when it was written.
        said = forked(functools.partial(said_by, MOM, url)).result()
        checked = elsewhere(f"import sqlite3; print(*sqlite3.connect({str(path)!r}).execute('PRAGMA integrity_check'))")
    assert said == ["before", *(f"after {number}" for number in range(5))]
    assert checked == "('ok',)"


@pytest.mark.spec("C-5")
def test_many_that_make_the_file_at_once_keep_their_locks(tmp_path, elsewhere):
    path = tmp_path / "langmem.db"
    together, opened = threading.Barrier(8), []

    def open_it():
        together.wait()
        opened.append(Database(f"sqlite:///{path}"))

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elsewhere(
        f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('SELECT * FROM langmem_session'); c.close()"
    )
    assert path.with_name("langmem.db-wal").exists()
    assert path.stat().st_mode & 0o777 == 0o600
    for database in opened:
        database.close()


@pytest.mark.spec("C-13")
def test_a_folder_where_the_file_should_be_is_refused(tmp_path):
    (tmp_path / "langmem.db").mkdir()
    with pytest.raises(DataDirectoryError):
        Database(f"sqlite:///{tmp_path}/langmem.db")


def deleted(path):
    path.unlink()


def replaced(path):
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def moved(path):
    path.parent.rename(path.parent.with_name("elsewhere"))


@pytest.mark.spec("C-5", "C-14")
@for_each("taken_away", [deleted, replaced, moved])
def test_a_file_that_is_gone_acknowledges_nothing_more(tmp_path, offline_model, taken_away):
    folder = tmp_path / "data"
    with PhoneMemory(f"sqlite:///{folder}/langmem.db", embeddings=offline_model) as memory:
        server = serving(memory)
        server.says(MOM, "before")
        taken_away(folder / "langmem.db")

        assert "temporarily unavailable" in server.says(MOM, "after")
        with pytest.raises(StoreUnavailable, match=r"data/langmem\.db"), memory.database.write():
            pass
        with pytest.raises(StoreUnavailable, match=r"data/langmem\.db"):
            memory.service.remember(MOM, "I like tea")
        assert not (folder / "langmem.db").exists() or taken_away is replaced


@pytest.mark.spec("C-5", "C-14")
def test_a_file_that_was_put_back_is_written_to_again(tmp_path):
    path = tmp_path / "langmem.db"
    with Database(f"sqlite:///{path}") as database:
        path.rename(tmp_path / "away")
        with pytest.raises(StoreUnavailable), database.write() as connection:
            connection.execute(text("CREATE TABLE lost (x int)"))
        (tmp_path / "away").rename(path)
        with database.write() as connection:
            connection.execute(text("CREATE TABLE kept (x int)"))
        with database.read() as connection:
            tables = connection.execute(text("SELECT name FROM sqlite_master WHERE name IN ('lost', 'kept')")).scalars()
            assert tables.all() == ["kept"]
