"""How long the verbs took and how often they failed, a row per operation and minute."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name

revision = "0019"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "langmem_operation",
        sa.Column("name", Name(), nullable=False),
        sa.Column("minute", Instant(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("total_ms", sa.Float(), nullable=False),
        sa.Column("buckets", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", "minute"),
        sqlite_with_rowid=False,
    )
