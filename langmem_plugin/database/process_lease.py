"""A lease for one process at a time to do what several would do twice; a killed one delays others for 30 seconds."""

import contextlib
import threading
import time
from collections.abc import Iterator

from filelock import FileLock, Timeout
from sqlalchemy import text

from langmem_plugin.database.audit_recording import keyed_hash
from langmem_plugin.database.engine import Database
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.logs import event_log

log = event_log(__name__)

_LEASE_SECONDS = 30
_RENEW_SECONDS = 10.0
_FIRST_LOOK_SECONDS, _LONGEST_LOOK_SECONDS = 0.05, 1.0


@contextlib.contextmanager
def alone(database: Database, name: str, of: str = "", *, waits: bool = True) -> Iterator[bool]:
    """Keep all other processes out of blocks of this name on this database; not re-entrant.

    Waits as long as needed. If it does not wait, it gives False and enters anyway where another process is inside. On
    PostgreSQL several may be inside for different `of`.
    """
    if not database.is_sqlite:
        with _lease(database, f"{name} {of}", waits=waits) as held:
            yield held
        return
    with contextlib.ExitStack() as held_file:
        is_alone = True
        if database.path is not None:
            lock = FileLock(f"{database.path}-{name}.lock", timeout=-1 if waits else 0, mode=0o600)
            try:
                held_file.enter_context(lock)
            except Timeout:
                is_alone = False
        yield is_alone


class _Lease:
    """A row that says until when somebody holds the name, by the server's clock alone, renewed by a thread.

    A lock of the connection would be lost behind a pooler, or would be another client's; a lock of a transaction would
    occupy a connection.
    """

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._ended = threading.Event()
        with database.read() as connection:
            self._name = f"alone:{keyed_hash(connection, name).hex()}"  # hashed: the name may tell whose it is
        self._since: int | None = None

    def take(self) -> bool:
        self._since = self._run(_TAKE, seconds=_LEASE_SECONDS)
        return self._since is not None

    def keep(self) -> None:
        while not self._ended.wait(_RENEW_SECONDS):
            with contextlib.suppress(StoreUnavailable):  # the next round may reach the database
                self._since = self._run(_RENEW, since=self._since)

    def release(self, keeper: threading.Thread) -> None:
        self._ended.set()
        keeper.join()
        with contextlib.suppress(StoreUnavailable):  # the lease ends by itself
            if self._run(_RELEASE, since=self._since) is None:
                log.warning("lease.lost")

    def _run(self, statement: str, **values: int | None) -> int | None:
        with self._database.write() as connection:
            since: int | None = connection.execute(text(statement), {"name": self._name, **values}).scalar()
        return since


@contextlib.contextmanager
def _lease(database: Database, name: str, *, waits: bool) -> Iterator[bool]:
    lease, pause = _Lease(database, name), _FIRST_LOOK_SECONDS
    while not (held := lease.take()) and waits:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_LOOK_SECONDS)
    if not held:
        yield False
        return
    keeper = threading.Thread(target=lease.keep, name="langmem-lease", daemon=True)
    keeper.start()
    try:
        yield True
    finally:
        lease.release(keeper)


_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_TAKE = f"""
    INSERT INTO langmem_upkeep AS held (name, noted_at, seconds) VALUES (:name, {_NOW}, :seconds)
    ON CONFLICT (name) DO UPDATE SET noted_at = excluded.noted_at
    WHERE held.noted_at + held.seconds * 1000000 < excluded.noted_at RETURNING noted_at
"""  # noqa: S608 - of constants
_RENEW = f"""
    UPDATE langmem_upkeep SET noted_at = greatest(noted_at + 1, {_NOW}) WHERE name = :name AND noted_at = :since
    RETURNING noted_at
"""  # noqa: S608
_RELEASE = "DELETE FROM langmem_upkeep WHERE name = :name AND noted_at = :since RETURNING noted_at"
