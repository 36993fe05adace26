"""Private memories are in no vector index: large owners' searches find them by an index of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_index(
        "langmem_memory_private",
        "langmem_memory",
        ["owner", "private"],
        sqlite_where=sa.text("private = 1"),
        postgresql_where=sa.text("private"),
    )
