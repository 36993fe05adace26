"""Messages are claimed by their ids, and questions to a person remembered, so that each is answered exactly once."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "langmem_incoming",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("message_id", sa.String(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("ticket", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("received_at", Instant(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=True),
        sa.Column("reply", sa.LargeBinary(), nullable=True),
        sa.Column("sent", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("thread", "message_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_question",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("asked_at", Instant(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("thread"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_decision",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("session", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread", "session"),
        sqlite_with_rowid=False,
    )
