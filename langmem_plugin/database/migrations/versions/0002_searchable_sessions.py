"""The messages of past sessions become searchable: which sessions are, and that their messages go with them."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant

revision = "0002"
down_revision = "0001"

_Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "langmem_searchable",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("session", _Number, nullable=False),
        sa.Column("checkpoint_id", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread", "session"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_thread_owner",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("noted_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("thread"),
        sqlite_with_rowid=False,
    )
    # In one piece, as both engines take it: Alembic would add the constraint apart, which SQLite cannot.
    op.execute(
        "ALTER TABLE langmem_history_message ADD COLUMN of_session VARCHAR "
        "REFERENCES langmem_session (session_id) ON DELETE CASCADE"
    )
    op.create_index("langmem_history_of_session", "langmem_history_message", ["of_session"], unique=False)
