"""A PostgreSQL that kills the processes people are served by, and one that stands still."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import psycopg

from benchmarks.faults.oracle import Text
from benchmarks.faults.stage import Stage, Worker
from benchmarks.faults.standstill import text_while

_KILLS = 40
_STANDS_STILL = (4.9, 8.0)
_PEOPLE = 8  # of each process

People = list[tuple[Worker, str]]


def play(stage: Stage) -> str:
    workers = stage.workers(2)
    people = [(each, stage.oracle.phone()) for each in workers for _ in range(_PEOPLE)]
    with psycopg.connect(stage.url, autocommit=True) as connection:
        kills = stage.times(_KILLS, 4)
        _text_while_backends_are_killed(stage, people, connection, kills)
        first = _first_process(connection)
    times = _STANDS_STILL[: stage.times(len(_STANDS_STILL))] if first else ()
    for seconds in times:
        text_while(stage, workers, _stopped(first), seconds)
    stage.wait(*[stage.send(each, stage.oracle.chat(phone, undisturbed=True)) for each, phone in people])
    stood_still = f"{len(times)} times stopped" if first else "not stopped: it is on another machine"
    return f"server: {kills} times all backends killed, {stood_still}"


def _text_while_backends_are_killed(stage: Stage, people: People, connection: psycopg.Connection, kills: int) -> None:
    said: dict[str, Text] = {}
    for _ in range(kills):
        until = time.monotonic() + stage.chance.uniform(0.1, 1.0)
        stage.keep_texting(people, said, until, partial(stage.oracle.chat, thinks=0.05))
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    stage.wait(*said.values())


def _first_process(connection: psycopg.Connection) -> int | None:
    """Of the server; none if it is not on this machine."""
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    backend = Path(f"/proc/{row[0] if row else 0}")
    if not (backend / "comm").exists() or "postgres" not in (backend / "comm").read_text():
        return None
    return int((backend / "stat").read_text().rpartition(")")[2].split()[1])


@contextmanager
def _stopped(first: int) -> Iterator[None]:
    """All its processes: while the first one stands still it makes no others."""
    os.kill(first, signal.SIGSTOP)
    processes = [first, *children_of(first)]
    signal_to(processes, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_to(processes, signal.SIGCONT)


def children_of(first: int) -> list[int]:
    return [*map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]


def signal_to(processes: list[int], number: signal.Signals) -> None:
    for each in processes:
        with suppress(ProcessLookupError):
            os.kill(each, number)
