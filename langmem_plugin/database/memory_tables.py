"""The tables of long-term memory, and of messages that wait to be taken into it.

Every key begins with `owner`, whose memory it is. `change` numbers an owner's writes: a reader that has seen change 41
asks for what is above it, and need not compare anything else.

Every table is bounded for each owner, whether or not `MemoryService.purge` is called: a purge only deletes sooner.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    text,
)

from langmem_plugin.database.conversation_tables import of_session, session
from langmem_plugin.database.schema import Instant, Json, Name, Owner, Rows, Tags, Words, metadata, partial_index

_Number = BigInteger().with_variant(Integer(), "sqlite")


def _sealed() -> Column[bytes]:
    """Return a column for the row's words, encrypted as one value (memory/keep/changes_and_checksums.py); null
    where the row holds them in plain.
    """
    return Column("sealed", LargeBinary)


def _checksum() -> Column[int]:
    """Return a column for the checksum of the row's content (memory/keep/memory_row_mapping.py); a row without one
    is trusted.
    """
    return Column("checksum", BigInteger)


memory_owner = Table(  # one row each; a purge deletes it when nothing is left
    "langmem_memory_owner",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("change", _Number, nullable=False, default=0),  # the number of the newest write
    Column("rebuild", _Number, nullable=False, default=0),  # a reader that saw a lower one starts again: rows are gone
    Column("salt", LargeBinary, nullable=False),  # the key of the digests of this owner's texts
    sqlite_with_rowid=False,
)

BOUNDS = {
    "confidence": "confidence BETWEEN 0 AND 1",
    "fact_type": (
        "fact_type IN ('preference', 'decision', 'relationship', 'project', 'company', 'personal', 'strategic', "
        "'fact', 'note')"
    ),
    "source_type": (
        "source_type IN ('manual', 'extracted_from_chat', 'extracted_from_document', 'api_import', 'command')"
    ),
}
"""The rules for a memory's columns, which the database itself enforces, whoever writes."""

memory = Table(  # `owner_limit` active, as many pending, and as many and a tenth that are neither
    "langmem_memory",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("memory_id", Name, primary_key=True),
    Column("change", _Number, nullable=False),
    Column("position", _Number, nullable=False),  # the change that created it: the order where instants are equal
    Column("revision", Integer, nullable=False),  # of the content: a recall does not raise it
    Column("status", Name, nullable=False),
    Column("text", Words, nullable=False),
    Column("text_digest", LargeBinary, nullable=False),
    Column("fact_type", Name, nullable=False),
    Column("key", Name),
    Column("confidence", Float, nullable=False),
    Column("source_type", Name, nullable=False),
    Column("source_id", Name),
    Column("session_id", Name),
    Column("summary_text", Words),
    Column("category", Name),
    Column("tags", Tags, nullable=False),
    Column("metadata", Json(dict), nullable=False),
    Column("private", Boolean, nullable=False),
    Column("slot", Name),  # the attribute that the fact is a value of, as facts/ names it
    Column("quote", Words),
    Column("said_at", Instant),
    Column("valid_from", Instant),
    Column("valid_to", Instant),
    Column("doubted_at", Instant),
    Column("asked_at", Instant),
    Column("superseded_by", Name),
    Column("expires_at", Instant),
    Column("access_count", Integer, nullable=False, default=0),
    Column("last_accessed", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),  # also set when its state changes
    _sealed(),
    _checksum(),
    ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
    *(CheckConstraint(rule, name=f"langmem_memory_{column}") for column, rule in BOUNDS.items()),
    Index("langmem_memory_changes", "owner", "change"),
    Index("langmem_memory_digest", "owner", "text_digest"),
    Index("langmem_memory_key", "owner", "key"),
    Index("langmem_memory_slot", "owner", "slot"),
    Index("langmem_memory_session", "session_id"),
    Index("langmem_memory_category_of", "owner", "category"),
    partial_index("langmem_memory_doubted", "owner", where=text("doubted_at IS NOT NULL")),
    Index("langmem_memory_state", "owner", "status", "created_at"),
    partial_index("langmem_memory_over", "updated_at", where=text("status <> 'active'")),
    partial_index("langmem_memory_expires", "expires_at", where=text("expires_at IS NOT NULL")),
    Index(
        "langmem_memory_private", "owner", "private", sqlite_where=text("private = 1"), postgresql_where=text("private")
    ),
    sqlite_with_rowid=False,
)

memory_vector = Table(  # not in `memory`: listing reads no vectors, and two models may coexist
    "langmem_memory_vector",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("model", Name, primary_key=True),
    Column("memory_id", Name, primary_key=True),
    Column("vector", LargeBinary, nullable=False),  # float32, little-endian, unit length; encrypted where the memory is
    _checksum(),
    ForeignKeyConstraint(
        ["owner", "memory_id"], ["langmem_memory.owner", "langmem_memory.memory_id"], ondelete="CASCADE"
    ),
    # Without it a deletion would look through all of the owner's vectors for each memory that goes.
    Index("langmem_memory_vector_of", "owner", "memory_id"),
)

memory_verdicts = Table(  # one row each: how often the person was asked whether to remember something, and the answers
    "langmem_memory_verdicts",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("asked", Integer, nullable=False),
    Column("confirmed", Integer, nullable=False),
    Column("declined", Integer, nullable=False),
    Column("lapsed", Integer, nullable=False),
    ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
    sqlite_with_rowid=False,
)

memory_access = Table(  # the last 100 uses of each memory and looks at it, and up to 20 more uses
    "langmem_memory_access",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("access_id", Name, primary_key=True),
    Column("memory_id", Name, nullable=False),
    Column("kind", Name, nullable=False),  # injected, cited, viewed, edited
    Column("session_id", Name),
    Column("relevance", Float),
    Column("at", Instant, nullable=False),
    ForeignKeyConstraint(
        ["owner", "memory_id"], ["langmem_memory.owner", "langmem_memory.memory_id"], ondelete="CASCADE"
    ),
    Index("langmem_memory_access_of", "owner", "memory_id", "at"),
    Index("langmem_memory_access_at", "at"),
    sqlite_with_rowid=False,
)

standing_instruction = Table(  # 200 at most
    "langmem_standing_instruction",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("instruction_id", Name, primary_key=True),
    Column("text", Words, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("condition", Words),
    Column("active", Boolean, nullable=False),
    Column("expires_at", Instant),
    Column("usage_count", Integer, nullable=False),
    Column("last_used", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    _sealed(),
    _checksum(),
    sqlite_with_rowid=False,
)

memory_category = Table(  # 500 at most; each name once: an owner has one writer at a time, which checks first
    "langmem_memory_category",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("category_id", Name, primary_key=True),
    Column("name", Words, nullable=False),  # the text in `category` of its memories, in any case
    Column("color", Name, nullable=False),
    Column("description", Words),
    Column("parent_id", Name),  # another category of the owner's
    Column("created_at", Instant, nullable=False),
    _sealed(),
    _checksum(),
    ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
    sqlite_with_rowid=False,
)

history_message = Table(  # what was said, and who said it: 110,000 at most; numbered by the changes of the memories
    "langmem_history_message",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("message_id", Name, primary_key=True),
    Column("change", _Number, nullable=False),
    Column("session_id", Name, nullable=False),
    Column("speaker", Name, nullable=False),
    Column("text", Words, nullable=False),
    Column("said_at", Instant, nullable=False),
    # The session of this database that it was said in, and is deleted with. Null for any other session.
    Column("of_session", Name, ForeignKey(session.c.session_id, ondelete="CASCADE")),
    _sealed(),
    _checksum(),
    ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
    Index("langmem_history_changes", "owner", "change"),
    Index("langmem_history_session", "owner", "session_id"),
    Index("langmem_history_of_session", "of_session"),
)

history_vector = Table(
    "langmem_history_vector",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("model", Name, primary_key=True),
    Column("message_id", Name, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
    _checksum(),
    ForeignKeyConstraint(
        ["owner", "message_id"],
        ["langmem_history_message.owner", "langmem_history_message.message_id"],
        ondelete="CASCADE",
    ),
    Index("langmem_history_vector_of", "owner", "message_id"),
)

memory_index = Table(  # the change that an owner's collection of vectors has followed to
    "langmem_memory_index",
    metadata,
    Column("owner", Owner, primary_key=True),
    Column("model", Name, nullable=False),
    Column("name", Name, nullable=False),
    Column("change", _Number, nullable=False),  # negative: it has to be made anew
    ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
    sqlite_with_rowid=False,
)


extraction_job = Table(  # one for each session that somebody spoke in; gone with the session
    "langmem_extraction_job",
    metadata,
    Column("thread", Name, primary_key=True),
    Column("session", session.c.number.type, primary_key=True),
    Column("state", Name, nullable=False),  # pending, processing, completed or failed
    Column("again", Boolean, nullable=False, default=False),  # more was said while it was processed
    Column("claim", BigInteger, nullable=False, default=0),  # rises with every claim: an older one writes nothing more
    Column("beats", BigInteger, nullable=False, default=0),  # counted up while the process that claimed it lives
    Column("attempts", Integer, nullable=False, default=0),
    Column("not_before", Instant),  # when it began to wait, later after a failure; null: at once
    Column("taken", Rows, nullable=False, default=frozenset),  # the message rows that have been read
    Column("facts", Json(list), nullable=False, default=list),  # the facts found in them that are not stored yet
    Column("error", Words),
    of_session(),
    sqlite_with_rowid=False,
)
Index("langmem_extraction_state", extraction_job.c.state)
partial_index("langmem_extraction_due", extraction_job.c.not_before, where=text("state = 'pending'"))
