"""The tables for an operator: erasures, the audit log, how long verbs took, what services note."""

from sqlalchemy import BigInteger, Boolean, Column, Float, Identity, Index, Integer, LargeBinary, Table, false, text

from langmem_plugin.database.schema import Instant, Json, Name, metadata, partial_index

_Number = BigInteger().with_variant(Integer(), "sqlite")

erasure = Table(
    "langmem_erasure",
    metadata,
    Column("number", _Number, Identity(), primary_key=True),
    Column("erasure_id", Name, nullable=False, unique=True),
    Column("state", Name, nullable=False),  # held, erased (rows are gone, traces may be left), done, restored
    Column("asked_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("done_at", Instant),
    Column("hashes", Json(list), nullable=False),  # keyed hashes of the identifiers
    Column("counts", Json(dict), nullable=False),  # the number of rows by table, and of files
    Column("verified", Boolean, nullable=False),
    Column("who", Json(list)),  # the identifiers themselves, the key first; null once it cannot be undone
    Column("left", Json(dict), nullable=False),  # what must still be deleted outside of our tables
)

erased_key = Table(  # tells a writer that began before an erasure about it
    "langmem_erased_key",
    metadata,
    Column("hash", LargeBinary, primary_key=True),  # keyed hash of an owner or a thread
    Column("number", BigInteger, nullable=False),  # the erasure's number
    sqlite_with_rowid=False,
)

held_row = Table(  # a row as it was, out of every query's reach
    "langmem_held_row",
    metadata,
    Column("erasure_id", Name, primary_key=True),
    Column("place", _Number, primary_key=True, autoincrement=False),
    Column("of_table", Name, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

held_file = Table(  # files of the held rows, which must exist when those come back
    "langmem_held_file",
    metadata,
    Column("erasure_id", Name, primary_key=True),
    Column("sha256", Name, primary_key=True),
    sqlite_with_rowid=False,
)
Index("langmem_held_file_sha256", held_file.c.sha256)


secret = Table(  # made by the migration: copies of one database have the same
    "langmem_secret",
    metadata,
    Column("name", Name, primary_key=True),
    Column("value", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

audit = Table(  # actions, by whom, to whom: no contents; of the last 90 days
    "langmem_audit",
    metadata,
    Column("entry", _Number, Identity(), primary_key=True),  # in the order drawn, not of the transactions' ends
    Column("at", Instant, nullable=False),
    Column("actor", Name, nullable=False),
    Column("action", Name, nullable=False),
    Column("subject", Name),  # the id of the thing concerned
    Column("owner", LargeBinary),  # keyed hash
    Column("content", LargeBinary),  # keyed hash
    Column("written", Boolean, nullable=False, server_default=false()),  # it is in the file of its day
    partial_index("langmem_audit_waiting", "entry", where=text("NOT written")),
    Index("langmem_audit_at", "at"),
)

operation = Table(  # the calls of an operation in one minute, of all processes together
    "langmem_operation",
    metadata,
    Column("name", Name, primary_key=True),
    Column("minute", Instant, primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("total_ms", Float, nullable=False),
    Column("buckets", Json(dict), nullable=False),  # the number of calls by the step of operation_timing.Latencies
    sqlite_with_rowid=False,
)


upkeep = Table(
    "langmem_upkeep",
    metadata,
    Column("name", Name, primary_key=True),
    Column("noted_at", Instant, nullable=False),
    Column("seconds", BigInteger),  # null: for ever
    sqlite_with_rowid=False,
)
