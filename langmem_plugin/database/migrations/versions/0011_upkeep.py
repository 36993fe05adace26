"""What services note for whoever looks after the database: how long they let things live, and the last sweep."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "langmem_upkeep",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("noted_at", Instant(), nullable=False),
        sa.Column("seconds", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )
