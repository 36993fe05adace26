"""The table of how long the verbs took: of nobody, and never of what. Seven days of it are kept."""

from sqlalchemy import Column, Float, Integer, Table

from langmem_plugin.database.schema import Instant, Json, Name, metadata

operation = Table(  # one minute of an operation, of all processes together
    "langmem_operation",
    metadata,
    Column("name", Name, primary_key=True),
    Column("minute", Instant, primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("total_ms", Float, nullable=False),
    Column("buckets", Json(dict), nullable=False),  # how many calls by the step of operation_timing.Latencies
    sqlite_with_rowid=False,
)
