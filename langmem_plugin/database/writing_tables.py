"""The table of what waits to be taken from conversations into the long-term memory."""

from sqlalchemy import JSON, BigInteger, Boolean, Column, ForeignKeyConstraint, Index, Integer, Table

from langmem_plugin.database.conversation_tables import session
from langmem_plugin.database.schema import Instant, Name, Words, metadata

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
    Column("taken_before", Integer, nullable=False, default=0),  # message rows below this one have been read
    Column("facts", JSON, nullable=False, default=list),  # what was read in them and is not stored yet
    Column("error", Words),
    ForeignKeyConstraint(
        ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
    ),
    sqlite_with_rowid=False,
)
Index("langmem_extraction_state", extraction_job.c.state)
