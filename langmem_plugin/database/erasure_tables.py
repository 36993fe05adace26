"""The tables of erasure: who asked to be erased, what is held until it cannot be undone any more, and what is proof."""

from sqlalchemy import BigInteger, Boolean, Column, Identity, Index, Integer, LargeBinary, Table

from langmem_plugin.database.schema import Instant, Json, Name, metadata

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
    Column("hashes", Json(list), nullable=False),  # keyed, of the identifiers
    Column("counts", Json(dict), nullable=False),  # rows by table, and files
    Column("verified", Boolean, nullable=False),
    Column("who", Json(list)),  # the identifiers themselves, the key first; null once it cannot be undone any more
    Column("left", Json(dict), nullable=False),  # what is still to be deleted outside of our tables
)

erased_key = Table(  # by which a writer that began before an erasure learns of it
    "langmem_erased_key",
    metadata,
    Column("hash", LargeBinary, primary_key=True),  # keyed, of an owner or a thread
    Column("number", BigInteger, nullable=False),  # of the erasure
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

held_file = Table(  # what the held rows refer to, and is to be there when they come back
    "langmem_held_file",
    metadata,
    Column("erasure_id", Name, primary_key=True),
    Column("sha256", Name, primary_key=True),
    sqlite_with_rowid=False,
)
Index("langmem_held_file_sha256", held_file.c.sha256)
