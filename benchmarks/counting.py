"""Counts what is asked of a database and of an embedding model."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import psycopg
from sqlalchemy import Engine, event

from langmem_plugin.memory.embedding.embedder import Embedder

_CONTROL = ("COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA", "SET")


@dataclass
class Counts:
    """What was asked for in a block. BEGIN and COMMIT are no statements; what `executemany` sends is one."""

    statements: list[str] = field(default_factory=list)
    transactions: int = 0
    synchronous: int = 0  # commits that wait for a disk
    embedded: int = 0  # texts

    def note(self, statement: str) -> None:
        if threading.current_thread().daemon:  # of the background: it asks now and then, whoever is answered
            return
        words = statement.lstrip().upper()
        if words.startswith("BEGIN"):
            self.transactions += 1
            self.synchronous += not ("REPEATABLE READ" in words or "SYNCHRONOUS_COMMIT" in words)
        elif not words.startswith(_CONTROL):
            self.statements.append(statement)


@contextmanager
def counting(*sqlite: Engine | sqlite3.Connection) -> Iterator[Counts]:
    """Counts in all threads: whatever goes to PostgreSQL, to these connections to SQLite, and to a memory's model.

    SQLite's commits are not told apart: every transaction counts as a synchronous one.
    """
    counts = Counts()
    with ExitStack() as patched:
        for name in ("execute", "executemany"):
            patched.enter_context(patch.object(psycopg.Cursor, name, _noting(counts, getattr(psycopg.Cursor, name))))
        patched.enter_context(patch.object(Embedder, "_embedded", _counted(counts, Embedder._embedded)))
        for each in sqlite:
            if isinstance(each, Engine):
                _trace_engine(each, counts, patched)
            else:
                each.set_trace_callback(counts.note)
                patched.callback(each.set_trace_callback, None)
        yield counts


def _noting(counts: Counts, run: Any) -> Any:
    def noted(self: Any, query: Any, *given: Any, **named: Any) -> Any:
        counts.note(query if isinstance(query, str) else str(query))
        return run(self, query, *given, **named)

    return noted


def _counted(counts: Counts, embed: Any) -> Any:
    def counted(self: Any, call: Any, count: int, *given: Any, **named: Any) -> Any:
        counts.embedded += count
        return embed(self, call, count, *given, **named)

    return counted


def _trace_engine(engine: Engine, counts: Counts, patched: ExitStack) -> None:
    if engine.dialect.name != "sqlite":
        return

    def traced(connection: sqlite3.Connection, *_: Any) -> None:
        connection.set_trace_callback(counts.note)

    def silent(connection: sqlite3.Connection, *_: Any) -> None:
        connection.set_trace_callback(None)

    for moment, listener in (("checkout", traced), ("checkin", silent)):
        event.listen(engine, moment, listener)
        patched.callback(event.remove, engine, moment, listener)
