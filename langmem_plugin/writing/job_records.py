"""Records of extraction, one a session: how far it is, and the facts that were read and are not stored yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, tuple_, update

from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.database.conversation_tables import session
from langmem_plugin.database.encryption.encrypted_columns import EXTRACTED_FACTS, EXTRACTION_ERROR
from langmem_plugin.database.memory_tables import extraction_job as table


@dataclass(frozen=True, slots=True)
class JobRecord:
    """The extraction of one session; `taken` are the message rows that have been read."""

    state: Literal["pending", "completed", "failed"]
    taken: frozenset[int]
    facts: Sequence[Mapping[str, Any]]
    error: str | None


def of_session(connection: Connection, session: Session) -> JobRecord | None:
    """Return the record of a session; a job that is being worked on is shown as if it waited."""
    mine = select(table).where(table.c.thread == session.thread, table.c.session == session.number)
    row = connection.execute(mine).first()
    if row is None:
        return None
    key = (session.thread, session.number)
    facts = EXTRACTED_FACTS.decrypted(connection, key, row.facts)
    error = EXTRACTION_ERROR.decrypted(connection, key, row.error)
    return JobRecord("pending" if row.state == "processing" else row.state, row.taken, facts, error)


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A session that is read no more until more is said in it, or until it is tried again."""

    session_id: str
    thread: str
    last_active: datetime
    attempts: int
    error: str


def failed(connection: Connection, *, limit: int = 50) -> list[FailedJob]:
    """Return the failed jobs, the last active first."""
    both = table.join(session, (table.c.thread == session.c.thread) & (table.c.session == session.c.number))
    columns = (table.c.thread, table.c.session, table.c.attempts, table.c.error)
    rows = (
        select(*columns, session.c.session_id, session.c.last_active)
        .select_from(both)
        .where(table.c.state == "failed")
        .order_by(session.c.last_active.desc())
        .limit(limit)
    )
    return [
        FailedJob(
            row.session_id,
            row.thread,
            row.last_active,
            row.attempts,
            EXTRACTION_ERROR.decrypted(connection, (row.thread, row.session), row.error) or "",
        )
        for row in connection.execute(rows)
    ]


def try_again(connection: Connection, session_id: str) -> bool:
    """Let a failed job wait like any other from now on; False where it has not failed, or not any more."""
    its = select(session.c.thread, session.c.number).where(session.c.session_id == session_id)
    values = {"state": "pending", "attempts": 0, "not_before": None}
    mine = tuple_(table.c.thread, table.c.session).in_(its)
    return connection.execute(update(table).where(mine, table.c.state == "failed").values(values)).rowcount > 0


def keep(connection: Connection, session: Session, record: JobRecord) -> None:
    """Store the record of a session that has none yet."""
    key = (session.thread, session.number)
    facts = EXTRACTED_FACTS.encrypted(connection, key, list(record.facts))
    error = EXTRACTION_ERROR.encrypted(connection, key, record.error)
    values = {"state": record.state, "taken": record.taken, "facts": facts, "error": error}
    connection.execute(insert(table).values(thread=session.thread, session=session.number, **values))
