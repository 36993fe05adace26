"""The table of what services note for whoever looks after the database: how long they let things live."""

from sqlalchemy import BigInteger, Column, Table

from langmem_plugin.database.schema import Instant, Name, metadata

upkeep = Table(
    "langmem_upkeep",
    metadata,
    Column("name", Name, primary_key=True),
    Column("noted_at", Instant, nullable=False),
    Column("seconds", BigInteger),  # null: for ever
    sqlite_with_rowid=False,
)
