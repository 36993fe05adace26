"""A person's own categories: a tree of names with colours."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name, Owner, Words

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "langmem_memory_category",
        sa.Column("owner", Owner(), nullable=False),
        sa.Column("category_id", Name(), nullable=False),
        sa.Column("name", Words(), nullable=False),
        sa.Column("color", Name(), nullable=False),
        sa.Column("description", Words(), nullable=True),
        sa.Column("parent_id", Name(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("checksum", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("owner", "category_id"),
        sa.ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_memory_category_of", "langmem_memory", ["owner", "category"])
