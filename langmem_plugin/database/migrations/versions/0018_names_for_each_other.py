"""Names that a person takes for each other: who "Dr. L" is, what "k8s" stands for."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name, Words

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.create_table(
        "langmem_name_alias",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("alias_id", Name(), nullable=False),
        sa.Column("alias", Words(), nullable=False),
        sa.Column("name", Words(), nullable=False),
        sa.Column("learnt_from", Name(), nullable=True),
        sa.Column("source", Name(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "alias_id"),
        sa.ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_name_alias_from", "langmem_name_alias", ["owner", "learnt_from"])
