"""Other processes that hold the database while people text, and a memory that is closed while it replies."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sqlalchemy import make_url

from benchmarks.faults.stage import Stage, Worker
from benchmarks.faults.standstill import text_while
from langmem_plugin.database.schema import metadata

_SECONDS = (2.0, 4.9, 6.0, 10.0)
_PEOPLE = 4  # of each process
_LONG = 7.0  # longer than a silent holder keeps its place
_OWNERS, _FACTS = 4, 5_000


def play(stage: Stage) -> str:
    workers = stage.workers(2)
    holds = [_writing] if stage.url.startswith("sqlite") else [_tables, _rows]
    times = _SECONDS[: stage.times(len(_SECONDS))]
    for seconds in times:
        for hold in holds:
            text_while(stage, workers, hold(stage.url), seconds)
    _text_while_much_is_stored(stage, workers)
    _text_while_closing(stage)
    held = ", ".join(f"{seconds:g}" for seconds in times)
    return f"locks held for {held} s"


def _text_while_much_is_stored(stage: Stage, workers: list[Worker]) -> None:
    [elsewhere] = stage.workers(1)
    bulks = [
        stage.send(elsewhere, stage.oracle.bulk(stage.oracle.phone(), _FACTS)) for _ in range(stage.times(_OWNERS))
    ]
    people = [(each, stage.oracle.phone()) for each in workers for _ in range(_PEOPLE)]
    while not all(bulk.ended for bulk in bulks) and time.monotonic() < bulks[0].begun + 60:
        stage.wait(*[stage.send(each, stage.oracle.chat(phone, thinks=0.2)) for each, phone in people])


def _text_while_closing(stage: Stage) -> None:
    """People text again, to another process, while the one that closes still answers them."""
    [closes, other] = stage.workers(2)
    phones = [stage.oracle.phone() for _ in range(_PEOPLE)]
    slow = [stage.send(closes, stage.oracle.chat(phone, _LONG)) for phone in phones]
    stage.listen(time.monotonic() + 0.5)
    closes.pipe.send("close")
    after = [stage.send(other, stage.oracle.chat(phone), excused=_LONG) for phone in phones]
    stage.wait(*slow, *after)


@contextmanager
def _writing(url: str) -> Iterator[None]:
    with closing(sqlite3.connect(str(make_url(url).database), isolation_level=None, timeout=30)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")


@contextmanager
def _tables(url: str) -> Iterator[None]:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute(f"LOCK TABLE {', '.join(metadata.tables)} IN ACCESS EXCLUSIVE MODE")
        yield


@contextmanager
def _rows(url: str) -> Iterator[None]:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("SELECT 1 FROM langmem_session FOR UPDATE")
        yield
