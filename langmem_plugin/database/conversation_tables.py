"""The tables of conversations: sessions, message versions, checkpoints, pending writes, waiting turns.

Every key begins with `thread`, the conversation's key (normally the phone), so that a sharded PostgreSQL can
distribute on it. `session` is a number that is never used again, so that a row cached under it stays true.
On SQLite small rows are stored in the order of their key, without a row id. Rows that may be long have a row id: in the
order of a key, a row of more than a quarter of a page would begin a page of its own.
"""

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    text,
)

from langmem_plugin.database.schema import GivenName, Identifying, Instant, Name, metadata, partial_index

TAKEN, WHEN_SILENT, AT_ONCE = 0, 1, 2
"""The states of a session's messages: searchable as they stand; to be made searchable when the session falls silent; to
be made searchable now, because it has ended, or has changed after it was made searchable.
"""

_Number = BigInteger().with_variant(Integer(), "sqlite")


def _to_take(context: Any) -> int:
    return AT_ONCE if context.get_current_parameters().get("ended_at") is not None else WHEN_SILENT


session = Table(
    "langmem_session",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("number", _Number, primary_key=True, autoincrement=False),  # its creation in microseconds, made unique
    Column("session_id", Name, nullable=False, unique=True),
    Column("created_at", Instant, nullable=False),
    Column("last_active", Instant, nullable=False),
    Column("ahead", Instant),  # a later activity than the last, by a clock that ran ahead of the last writer's
    Column("ended_at", Instant),  # when it was archived; null while current
    Column("next_row", Integer, nullable=False),  # the next row of `message` and `value`; it never falls
    Column("epoch", BigInteger, nullable=False, default=0),  # the ticket of the last turn that took it
    Column("to_take", SmallInteger, nullable=False, default=_to_take, server_default=text("1")),
    Column("client_name", GivenName),
    Column("client_phone", GivenName),
    sqlite_with_rowid=False,
)
partial_index("langmem_one_current_session", session.c.thread, unique=True, where=session.c.ended_at.is_(None))

partial_index("langmem_session_to_take", session.c.to_take, session.c.last_active, where=session.c.to_take > 0)
partial_index("langmem_session_current", session.c.last_active, session.c.thread, where=session.c.ended_at.is_(None))
partial_index("langmem_session_ended", session.c.ended_at, where=session.c.ended_at.is_not(None))
partial_index("langmem_session_past", session.c.last_active, where=session.c.ended_at.is_not(None))


def of_session() -> ForeignKeyConstraint:
    """Return the constraint by which a row goes with its session."""
    return ForeignKeyConstraint(
        ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
    )


message = Table(  # one immutable version of a message; an edit is a new row
    "langmem_message",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("session", _Number, primary_key=True),
    Column("row", Integer, primary_key=True),
    Column("message_id", GivenName),  # kept out of the payload: a message is stored before the graph names it
    Column("tokens", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    of_session(),
)

checkpoint = Table(
    "langmem_checkpoint",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("session", _Number, primary_key=True),
    Column("namespace", Name, primary_key=True),
    Column("checkpoint_id", Name, primary_key=True),
    Column("parent_id", Name),
    Column("run_id", Name),
    Column("position", Integer, nullable=False),  # the order in which the database took them: ids tell a writer's clock
    Column("payload", LargeBinary, nullable=False),
    of_session(),
    sqlite_with_rowid=False,
)
Index("langmem_checkpoint_order", checkpoint.c.thread, checkpoint.c.session, checkpoint.c.position)
partial_index("langmem_checkpoint_of_run", checkpoint.c.run_id, where=checkpoint.c.run_id.is_not(None))

value = Table(  # a large channel value, stored once for all the checkpoints that hold it; numbered like messages
    "langmem_value",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("session", _Number, primary_key=True),
    Column("row", Integer, primary_key=True),
    Column("payload", LargeBinary, nullable=False),
    of_session(),
)

media = Table(  # the files that a session refers to
    "langmem_media",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("session", _Number, primary_key=True),
    Column("sha256", Name, primary_key=True),
    Column("payload", LargeBinary),  # the file's bytes; null where a folder keeps them
    of_session(),
)

pending = Table(  # the writes of one task on top of a checkpoint
    "langmem_pending",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("session", _Number, primary_key=True),
    Column("namespace", Name, primary_key=True),
    Column("checkpoint_id", Name, primary_key=True),
    Column("task_id", Name, primary_key=True),
    Column("interrupt", Boolean, nullable=False),  # the task waits for a person's answer
    Column("payload", LargeBinary, nullable=False),
    of_session(),
    sqlite_with_rowid=False,
)

thread_owner = Table(  # the owner of a thread whose key does not name them; noted before its first session
    "langmem_thread_owner",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("owner", Name),  # null: runs named two people, so what is said there is nobody's
    Column("noted_at", Instant, nullable=False),
    Index("langmem_thread_owner_noted", "noted_at"),
    Index("langmem_thread_owner_of", "owner"),
    sqlite_with_rowid=False,
)

turn = Table(  # turns that wait for or hold a thread, first come first served; deleted at their end
    "langmem_turn",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("ticket", _Number, Identity(), primary_key=True),  # never given twice, even after it was deleted
    Column("renewals", Integer, nullable=False),  # counted up while its process lives
)

incoming = Table(  # an incoming message, claimed by its id, and its answer
    "langmem_incoming",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("message_id", Name, primary_key=True),
    Column("position", BigInteger, nullable=False),  # the first ticket drawn for it
    Column("ticket", BigInteger),  # the turn that answers it; null: nobody waits for the answer any more
    Column("attempts", Integer, nullable=False, default=0),
    Column("received_at", Instant, nullable=False),
    Column("payload", LargeBinary),  # the message itself, until it is answered
    Column("reply", LargeBinary),  # null until it is answered
    Column("sent", Boolean, nullable=False, default=False),  # the channel has confirmed that the reply went out
    Column("waited", Boolean),  # whether other turns came before its own first one; null until that has begun
    Column("sent_as", JSON),  # digests of the ids that the channel gave to the parts of the reply that went out
    Index("langmem_incoming_received", "received_at"),
    sqlite_with_rowid=False,
)

acknowledged = Table(  # a message that its provider will not deliver again, until it is answered
    "langmem_acknowledged",
    metadata,
    Column("identifier", Identifying, primary_key=True),
    Column("delivery_id", Name, primary_key=True),
    Column("channel", Name, nullable=False),  # the name of the provider through which it is answered
    Column("received_at", Instant, nullable=False),
    Column("held_until", Instant, nullable=False),  # renewed again and again by the process that answers it
    Column("payload", LargeBinary, nullable=False),  # the message as the channel read it
    sqlite_with_rowid=False,
)

decision = Table(  # the decisions of a person so far, of all that a run waits for
    "langmem_decision",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("session", _Number, primary_key=True),
    Column("payload", LargeBinary, nullable=False),
    of_session(),
    sqlite_with_rowid=False,
)

question = Table(  # the question that a person was asked, and their answers so far
    "langmem_question",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("asked_at", Instant, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Index("langmem_question_asked", "asked_at"),
    sqlite_with_rowid=False,
)
