"""The question that a command asked a person, until they answer it: in the database, the same for every process."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select

from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import question as table
from langmem_plugin.database.schema import upsert

_OPEN_FOR = timedelta(minutes=10)


class OpenQuestions:
    """One for each person; the newer question takes the place of the older."""

    def __init__(self, database: Database, kind: str, *, now: Callable[[], datetime]) -> None:
        self._database = database
        self._kind = kind
        self._now = now

    def ask(self, owner: str, details: Mapping[str, Any]) -> None:
        """Keeps `details`, which are plain data, until `take`."""
        asked = {"asked_at": self._now(), "payload": json.dumps({"kind": self._kind, **details}).encode()}
        with self._database.write() as connection:
            connection.execute(
                upsert(connection, table)
                .values(thread=owner, **asked)
                .on_conflict_do_update(index_elements=["thread"], set_=asked)
            )

    def look(self, owner: str) -> dict[str, Any] | None:
        """The details of the open question, which stays open."""
        with self._database.read() as connection:
            row = connection.execute(
                select(table.c.asked_at, table.c.payload).where(table.c.thread == owner)
            ).one_or_none()
        return self._details(row.payload) if row is not None and row.asked_at + _OPEN_FOR > self._now() else None

    def take(self, owner: str) -> dict[str, Any] | None:
        """The details of the open question, which is closed by this: of two processes one gets them."""
        with self._database.read() as connection:
            row = connection.execute(
                select(table.c.asked_at, table.c.payload).where(table.c.thread == owner)
            ).one_or_none()
        if row is None or (details := self._details(row.payload)) is None:
            return None
        with self._database.write() as connection:
            closed = connection.execute(
                delete(table).where(table.c.thread == owner, table.c.payload == row.payload)
            ).rowcount
        return details if closed and row.asked_at + _OPEN_FOR > self._now() else None

    def _details(self, payload: bytes) -> dict[str, Any] | None:
        """None for a question of another kind."""
        try:
            details = json.loads(payload)
        except ValueError:
            return None
        return details if isinstance(details, dict) and details.get("kind") == self._kind else None
