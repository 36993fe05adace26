"""The sessions that wait to become searchable as they stand, and their owners.

A session waits if it has ended or fallen silent, and has changed since its messages were taken. A session that was
taken and then goes on waits after every change: a message that is removed from it must not be found. Each writer of a
session notes this in its row (`to_take`), so that nobody looks through all of them.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    ScalarSelect,
    and_,
    delete,
    exists,
    select,
    union_all,
    update,
)

from langmem_plugin.database.conversation_tables import AT_ONCE, TAKEN, WHEN_SILENT, checkpoint, session, thread_owner
from langmem_plugin.database.schema import in_parts, insert_unless_there

_FIRST_SESSION_WITHIN = timedelta(hours=1)
_LOOKED_AT_FOR = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session as it was when it was looked at.

    `owner` is the person that the runs of its thread named; None if they named nobody or, `contested`, more than one.
    """

    thread: str
    number: int
    session_id: str
    checkpoint_id: str | None
    owner: str | None
    contested: bool


def waiting(connection: Connection, silent_since: datetime, *, limit: int) -> list[Waiting]:
    """The waiting sessions; the last active first, since people mostly ask for recent talk."""
    columns = session.c.thread, session.c.number, session.c.session_id, session.c.last_active
    silent = and_(session.c.to_take == WHEN_SILENT, session.c.last_active <= silent_since)
    # One query for each state: a single query could not use the index.
    parts = [
        select(*columns).where(each).order_by(session.c.last_active.desc()).limit(limit).subquery()
        for each in (session.c.to_take == AT_ONCE, silent)
    ]
    found = union_all(*(select(part) for part in parts)).subquery()
    query = select(
        found.c.thread,
        found.c.number,
        found.c.session_id,
        _newest_in(found),
        thread_owner.c.owner,
        and_(thread_owner.c.thread.is_not(None), thread_owner.c.owner.is_(None)),
    ).outerjoin(thread_owner, thread_owner.c.thread == found.c.thread)
    rows = connection.execute(query.order_by(found.c.last_active.desc()).limit(limit))
    return [Waiting(*row) for row in rows]


def take(connection: Connection, found: Waiting) -> bool:
    """Note that the session's messages are taken as they stood; return False, and note nothing, if it has changed.

    Nobody else changes or deletes the session until the transaction ends.
    """
    of_session = (session.c.thread == found.thread, session.c.number == found.number)
    if connection.execute(select(session.c.number).where(*of_session).with_for_update()).first() is None:
        return False
    if connection.execute(select(_newest_in(session)).where(*of_session)).scalar() != found.checkpoint_id:
        return False
    connection.execute(update(session).where(*of_session).values(to_take=TAKEN))
    return True


def is_claimed(connection: Connection, thread: str, owner: str) -> bool:
    """Tell whether a claim of this owner would change nothing."""
    held = connection.execute(select(thread_owner.c.owner).where(thread_owner.c.thread == thread)).first()
    return held is not None and held.owner in (owner, None)


def owner_noted(connection: Connection, thread: str) -> str | None:
    """The owner of a thread by its claims; None if two claimed it; the thread itself if nobody did."""
    held = connection.execute(select(thread_owner.c.owner).where(thread_owner.c.thread == thread)).first()
    return thread if held is None else held.owner


def claim(connection: Connection, thread: str, owner: str, now: datetime) -> None:
    """Note the owner of a thread. A second owner's claim leaves it without one, and takes back what the first had."""
    row = {"thread": thread, "owner": owner, "noted_at": now}
    fresh = connection.execute(_NEW_OWNER[connection.dialect.name], row).first() is not None
    other = (thread_owner.c.thread == thread, thread_owner.c.owner != owner)
    contested = connection.execute(update(thread_owner).where(*other).values(owner=None)).rowcount > 0
    if fresh or contested:
        anew = update(session).where(session.c.thread == thread, session.c.to_take == TAKEN)
        connection.execute(anew.values(to_take=AT_ONCE))


def of_nobody(now: datetime) -> ColumnElement[bool]:
    """Select notes of threads that never got a session, but none so recent that its first may still come."""
    has_session = exists().where(session.c.thread == thread_owner.c.thread)
    return and_(thread_owner.c.noted_at.between(now - _LOOKED_AT_FOR, now - _FIRST_SESSION_WITHIN), ~has_session)


def forget_threads(connection: Connection, threads: Collection[str]) -> None:
    """Delete the owners noted for those of these threads that have no session any more."""
    has_session = exists().where(session.c.thread == thread_owner.c.thread)
    for part in in_parts(list(threads)):
        connection.execute(delete(thread_owner).where(thread_owner.c.thread.in_(part), ~has_session))


def _newest_in(of: FromClause) -> ScalarSelect[Any]:
    """The newest checkpoint of the root graph in each selected session."""
    mine = (checkpoint.c.thread == of.c.thread, checkpoint.c.session == of.c.number, checkpoint.c.namespace == "")
    newest = select(checkpoint.c.checkpoint_id).where(*mine).order_by(checkpoint.c.position.desc()).limit(1)
    return newest.correlate(of).scalar_subquery()


_NEW_OWNER = insert_unless_there(thread_owner, thread_owner.c.thread)
