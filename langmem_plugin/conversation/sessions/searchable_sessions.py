"""Which sessions wait to become searchable as they stand, and whose they are.

A session waits if it has ended or fallen silent, and has changed since its messages were taken. A session that was
taken and then goes on waits after every change: a message that is removed from it must not be found.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, and_, delete, exists, insert, or_, select, update

from langmem_plugin.database.conversation_tables import checkpoint, searchable, session, thread_owner
from langmem_plugin.database.schema import insert_unless_there


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session as it was when it was looked at.

    `owner` is whom the runs of its thread named; None where they named nobody or, `contested`, more than one.
    """

    thread: str
    number: int
    session_id: str
    checkpoint_id: str | None
    owner: str | None
    contested: bool


def waiting(connection: Connection, silent_since: datetime, *, thread: str | None, limit: int) -> list[Waiting]:
    """Of one thread or of all; the last active first, since people mostly ask for what was said lately."""
    was_taken = searchable.c.thread.is_not(None)
    over = or_(session.c.ended_at.is_not(None), session.c.last_active <= silent_since, was_taken)
    query = (
        select(
            session.c.thread,
            session.c.number,
            session.c.session_id,
            _NEWEST,
            thread_owner.c.owner,
            and_(thread_owner.c.thread.is_not(None), thread_owner.c.owner.is_(None)),
        )
        .outerjoin(searchable, and_(searchable.c.thread == session.c.thread, searchable.c.session == session.c.number))
        .outerjoin(thread_owner, thread_owner.c.thread == session.c.thread)
        .where(over, searchable.c.checkpoint_id.is_distinct_from(_NEWEST))
    )
    if thread is not None:
        query = query.where(session.c.thread == thread)
    rows = connection.execute(query.order_by(session.c.last_active.desc()).limit(limit))
    return [Waiting(*row) for row in rows]


def take(connection: Connection, found: Waiting) -> bool:
    """Notes that the session's messages are taken as they stood; False, and nothing is noted, if it has changed.

    Until the transaction ends nobody else changes or deletes the session.
    """
    of_session = (session.c.thread == found.thread, session.c.number == found.number)
    if connection.execute(select(session.c.number).where(*of_session).with_for_update()).first() is None:
        return False
    if connection.execute(select(_NEWEST).where(*of_session)).scalar() != found.checkpoint_id:
        return False
    mine = (searchable.c.thread == found.thread, searchable.c.session == found.number)
    as_it_stood = {"checkpoint_id": found.checkpoint_id}
    if connection.execute(update(searchable).where(*mine).values(as_it_stood)).rowcount == 0:
        row = {"thread": found.thread, "session": found.number} | as_it_stood
        connection.execute(insert(searchable).values(row))
    return True


def is_claimed(connection: Connection, thread: str, owner: str) -> bool:
    """Whether a claim of this owner would change nothing."""
    held = connection.execute(select(thread_owner.c.owner).where(thread_owner.c.thread == thread)).first()
    return held is not None and held.owner in (owner, None)


def owner_noted(connection: Connection, thread: str) -> str | None:
    """Whose a thread is by its claims, None after those of two; the thread itself where there is none."""
    held = connection.execute(select(thread_owner.c.owner).where(thread_owner.c.thread == thread)).first()
    return thread if held is None else held.owner


def claim(connection: Connection, thread: str, owner: str, now: datetime) -> None:
    """Notes whose a thread is. After claims of two it is nobody's, and what was taken for the first is taken back."""
    row = {"thread": thread, "owner": owner, "noted_at": now}
    fresh = connection.execute(_NEW_OWNER[connection.dialect.name], row).first() is not None
    other = (thread_owner.c.thread == thread, thread_owner.c.owner != owner)
    contested = connection.execute(update(thread_owner).where(*other).values(owner=None)).rowcount > 0
    if fresh or contested:
        connection.execute(delete(searchable).where(searchable.c.thread == thread))


def forget_gone(connection: Connection, before: datetime) -> None:
    """Deletes what is noted of threads that have no session any more; a thread noted just now may get its first."""
    has_session = exists().where(session.c.thread == thread_owner.c.thread)
    connection.execute(delete(thread_owner).where(thread_owner.c.noted_at < before, ~has_session))


_NEWEST = (
    select(checkpoint.c.checkpoint_id)
    .where(
        checkpoint.c.thread == session.c.thread,
        checkpoint.c.session == session.c.number,
        checkpoint.c.namespace == "",
    )
    .order_by(checkpoint.c.position.desc())
    .limit(1)
    .correlate(session)
    .scalar_subquery()
)
_NEW_OWNER = insert_unless_there(thread_owner, thread_owner.c.thread)
