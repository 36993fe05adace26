"""Brings a database to the current tables, forward only, one process at a time."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from langmem_plugin.errors import ConfigurationError

HEAD = "0006"
"""The revision this code needs: the newest file in versions/."""

Transaction = Callable[[], AbstractContextManager[Connection]]

_ADVISORY_LOCK = 7_203_511
_REVISIONS = Path(__file__).with_name("versions")


def upgrade(read: Transaction, write: Transaction) -> None:
    """Runs what is missing. Costs one small query when nothing is.

    Raises ConfigurationError for a database that a newer version of this code has written.
    """
    with read() as connection:
        found = _revision(connection)
    if found == HEAD:
        return
    if found is not None and not any(file.name.startswith(f"{found}_") for file in _REVISIONS.iterdir()):
        raise ConfigurationError(
            f"the database is newer than this program (revision {found}, {HEAD} is known): upgrade langmem-plugin"
        )
    with write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _ADVISORY_LOCK})
        if _revision(connection) != HEAD:
            _run(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _run(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415 - 0.3 s that an up-to-date database does not pay
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)
