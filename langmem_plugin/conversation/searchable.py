"""Which sessions wait to become searchable as they stand, and whose they are.

A session waits when it is over or silent and has changed since its messages were taken, if they ever were.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, insert, or_, select, update

from langmem_plugin.conversation import sessions
from langmem_plugin.database.conversation_tables import searchable, session


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session as it was when it was looked at.

    `owner` is whom its runs named; None where they named nobody or, `contested`, more than one.
    """

    thread: str
    number: int
    session_id: str
    last_active: datetime
    next_row: int
    owner: str | None
    contested: bool


def waiting(connection: Connection, silent_since: datetime, *, thread: str | None, limit: int) -> list[Waiting]:
    """Of one thread or of all; the last active first, since people mostly ask for what was said lately."""
    over = or_(session.c.ended_at.is_not(None), session.c.last_active <= silent_since)
    changed = or_(
        searchable.c.last_active.is_(None),
        searchable.c.last_active != session.c.last_active,
        searchable.c.next_row != session.c.next_row,
    )
    query = (
        select(
            session.c.thread,
            session.c.number,
            session.c.session_id,
            session.c.last_active,
            session.c.next_row,
            searchable.c.owner,
            searchable.c.contested,
        )
        .outerjoin(searchable, and_(searchable.c.thread == session.c.thread, searchable.c.session == session.c.number))
        .where(over, changed)
    )
    if thread is not None:
        query = query.where(session.c.thread == thread)
    rows = connection.execute(query.order_by(session.c.last_active.desc()).limit(limit))
    return [Waiting(*row[:-1], contested=bool(row[-1])) for row in rows]


def take(connection: Connection, found: Waiting) -> bool:
    """Notes that the session's messages are taken as they stood; False, and nothing is noted, if it has changed.

    Until the transaction ends nobody else changes or deletes the session.
    """
    unchanged = (
        select(session.c.number)
        .where(
            session.c.thread == found.thread,
            session.c.number == found.number,
            session.c.last_active == found.last_active,
            session.c.next_row == found.next_row,
        )
        .with_for_update()
    )
    if connection.execute(unchanged).first() is None:
        return False
    _note(connection, found.thread, found.number, {"last_active": found.last_active, "next_row": found.next_row})
    return True


def claim(connection: Connection, thread: str, owner: str) -> None:
    """Notes whose the thread's current session is, where its key does not say it; after two claims it is nobody's."""
    found = sessions.newest(connection, thread, lock=True)
    if found is None:
        return
    held = connection.execute(
        select(searchable.c.owner, searchable.c.contested).where(
            searchable.c.thread == thread, searchable.c.session == found.number
        )
    ).first()
    if held is None or (held.owner is None and not held.contested):
        _note(connection, thread, found.number, {"owner": owner})
    elif not held.contested and held.owner != owner:
        # What was taken for the first has to be taken back.
        _note(connection, thread, found.number, {"owner": None, "contested": True, "last_active": None})


def _note(connection: Connection, thread: str, number: int, values: dict[str, Any]) -> None:
    """The caller has locked the session, so nobody else writes its row."""
    mine = (searchable.c.thread == thread, searchable.c.session == number)
    if connection.execute(update(searchable).where(*mine).values(values)).rowcount == 0:
        row = {"thread": thread, "session": number, "contested": False} | values
        connection.execute(insert(searchable).values(row))
