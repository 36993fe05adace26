"""A link by a code waits for both sides, is guessed at so often at most, and is new for a day."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Owner

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.add_column("langmem_link_code", sa.Column("guesses", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("langmem_link_code", sa.Column("other", Owner()))
    op.create_table(
        "langmem_new_link",
        sa.Column("identifier", Owner(), primary_key=True),
        sa.Column("linked_at", Instant(), nullable=False),
        sqlite_with_rowid=False,
    )
