"""The table of what waits to be taken from conversations into the long-term memory."""

import json
from collections.abc import Collection

from sqlalchemy import BigInteger, Boolean, Column, Dialect, ForeignKeyConstraint, Index, Integer, Table, Text
from sqlalchemy.types import TypeDecorator

from langmem_plugin.database.conversation_tables import session
from langmem_plugin.database.schema import Checked, Instant, Json, Name, Words, metadata


class Rows(Checked, TypeDecorator[frozenset[int]]):
    """Row numbers, as the first and the last of each stretch of them. Damaged ones read as none.

    Not the highest alone: each process has numbers of its own to give, so a later message may have a lower one.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Collection[int] | None, dialect: Dialect) -> str:  # noqa: ARG002
        stretches: list[list[int]] = []
        for row in sorted(value or ()):
            if stretches and row == stretches[-1][1] + 1:
                stretches[-1][1] = row
            else:
                stretches.append([row, row])
        return json.dumps(stretches, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> frozenset[int]:  # noqa: ARG002
        try:
            return frozenset(row for first, last in json.loads(value or "[]") for row in range(first, last + 1))
        except (TypeError, ValueError):
            self.damaged()
            return frozenset()


extraction_job = Table(  # one for each session that somebody spoke in; gone with the session
    "langmem_extraction_job",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("session", session.c.number.type, primary_key=True),
    Column("state", Name, nullable=False),  # pending, processing, completed or failed
    Column("again", Boolean, nullable=False, default=False),  # more was said while it was processed
    Column("claim", BigInteger, nullable=False, default=0),  # rises with every claim: an older one writes nothing more
    Column("beats", BigInteger, nullable=False, default=0),  # counted up while whoever claimed it lives
    Column("attempts", Integer, nullable=False, default=0),
    Column("not_before", Instant),  # null: as soon as the session is quiet
    Column("taken", Rows, nullable=False, default=frozenset),  # the message rows that have been read
    Column("facts", Json(list), nullable=False, default=list),  # what was read in them and is not stored yet
    Column("error", Words),
    ForeignKeyConstraint(
        ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
    ),
    sqlite_with_rowid=False,
)
Index("langmem_extraction_state", extraction_job.c.state)
