"""What is known of a session's extraction as a record: how far it is, and what was read and is not stored yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, insert, select

from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.database.encryption.encrypted_columns import EXTRACTED_FACTS, EXTRACTION_ERROR
from langmem_plugin.database.writing_tables import extraction_job as table


@dataclass(frozen=True, slots=True)
class JobRecord:
    """`taken` are the message rows that have been read."""

    state: Literal["pending", "completed", "failed"]
    taken: frozenset[int]
    facts: Sequence[Mapping[str, Any]]
    error: str | None


def of_session(connection: Connection, session: Session) -> JobRecord | None:
    """Of one that is being worked on as if it waited."""
    mine = select(table).where(table.c.thread == session.thread, table.c.session == session.number)
    row = connection.execute(mine).first()
    if row is None:
        return None
    key = (session.thread, session.number)
    facts = EXTRACTED_FACTS.decrypted(connection, key, row.facts)
    error = EXTRACTION_ERROR.decrypted(connection, key, row.error)
    return JobRecord("pending" if row.state == "processing" else row.state, row.taken, facts, error)


def keep(connection: Connection, session: Session, record: JobRecord) -> None:
    """For a session that has none yet."""
    key = (session.thread, session.number)
    facts = EXTRACTED_FACTS.encrypted(connection, key, list(record.facts))
    error = EXTRACTION_ERROR.encrypted(connection, key, record.error)
    values = {"state": record.state, "taken": record.taken, "facts": facts, "error": error}
    connection.execute(insert(table).values(thread=session.thread, session=session.number, **values))
