"""Holds the messages that a webhook acknowledged before they were answered."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.create_table(
        "langmem_acknowledged",
        sa.Column("identifier", sa.String(), primary_key=True),
        sa.Column("delivery_id", sa.String(), primary_key=True),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("held_until", sa.BigInteger(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sqlite_with_rowid=False,
    )
