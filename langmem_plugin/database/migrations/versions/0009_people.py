"""A person may have several identifiers, and what was two people's may become one's."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "langmem_identifier",
        sa.Column("identifier", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("linked_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("identifier"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_identifiers_of", "langmem_identifier", ["person"])
    op.create_table(
        "langmem_merge",
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("merge_id", sa.String(), nullable=False),
        sa.Column("other", sa.String(), nullable=False),
        sa.Column("merged_at", Instant(), nullable=False),
        sa.Column("moved", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("person", "merge_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_merge_id", "langmem_merge", ["merge_id"], unique=True)
    op.create_table(
        "langmem_link_code",
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("person"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_link_attempt",
        sa.Column("identifier", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("since", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("identifier"),
        sqlite_with_rowid=False,
    )
