"""The tables of the audit log, and of this database's own secret, which keys every hash that leaves it."""

from sqlalchemy import BigInteger, Column, Identity, Index, Integer, LargeBinary, Table

from langmem_plugin.database.schema import Instant, Name, metadata

_Number = BigInteger().with_variant(Integer(), "sqlite")

secret = Table(  # made by the migration: two copies of one database have the same
    "langmem_secret",
    metadata,
    Column("name", Name, primary_key=True),
    Column("value", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

audit = Table(  # what was done, by whom, to whom: no contents; the last 90 days
    "langmem_audit",
    metadata,
    Column("entry", _Number, Identity(), primary_key=True),  # as the transactions drew it, not as they ended
    Column("at", Instant, nullable=False),
    Column("actor", Name, nullable=False),
    Column("action", Name, nullable=False),
    Column("subject", Name),  # the id of what it concerns
    Column("owner", LargeBinary),  # keyed hash
    Column("content", LargeBinary),  # keyed hash
    Column("position", BigInteger),  # in the chain; null until it is chained
    Column("hash", LargeBinary),  # of the entry and of the hash before it
)
Index("langmem_audit_position", audit.c.position, unique=True)

audit_mark = Table(  # where the chain begins and ends, and how far each file has followed it
    "langmem_audit_mark",
    metadata,
    Column("name", Name, primary_key=True),
    Column("position", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("noted_at", Instant, nullable=False),
    sqlite_with_rowid=False,
)
