"""Tokens by which a program reaches one person's memory: only a digest of each is stored."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "langmem_access_token",
        sa.Column("token_id", Name(), nullable=False),
        sa.Column("identifier", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("token_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_access_tokens_of", "langmem_access_token", ["identifier"])
