"""Waiting for what is to hold, never for a time; and a process that is made to stand still."""

import os
import signal
import time
from pathlib import Path

from sqlalchemy import text

from langmem_plugin.database import Database
from langmem_plugin.database.schema import metadata
from langmem_plugin.errors import StoreUnavailable


def until(holds, seconds=60):
    """What `holds` returns, once that is true; it fails after so many seconds, which no busy machine needs."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.01)
    return found


def freeze(pid: int, database: Database) -> None:
    """Stop a process between two of its transactions: in the middle of one it would keep all others waiting."""

    def is_between():
        os.kill(pid, signal.SIGSTOP)
        until(lambda: all(_state(each) == "T" for each in Path(f"/proc/{pid}/task").iterdir()))
        try:
            with database.write() as connection:
                if not database.is_sqlite:
                    connection.execute(text(f"LOCK TABLE {', '.join(metadata.tables)} IN EXCLUSIVE MODE"))
        except StoreUnavailable:
            os.kill(pid, signal.SIGCONT)
            return False
        return True

    until(is_between)


def _state(task: Path) -> str:
    return (task / "stat").read_text().rpartition(")")[2].split()[0]
