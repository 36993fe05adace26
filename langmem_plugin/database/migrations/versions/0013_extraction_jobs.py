"""What is said is taken into the memory in the background: one row for each session that waits, or did."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name, Words

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "langmem_extraction_job",
        sa.Column("thread", Name(), nullable=False),
        sa.Column("session", number, nullable=False),
        sa.Column("state", Name(), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("claim", sa.BigInteger(), nullable=False),
        sa.Column("beats", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", Instant(), nullable=True),
        sa.Column("taken", sa.Text(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("error", Words(), nullable=True),
        sa.PrimaryKeyConstraint("thread", "session"),
        sa.ForeignKeyConstraint(
            ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_extraction_state", "langmem_extraction_job", ["state"])
