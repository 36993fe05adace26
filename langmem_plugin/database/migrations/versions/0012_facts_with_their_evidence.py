"""A memory keeps what it is a value of, its evidence and when it holds; a person what may be remembered of them."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name, Owner, Words

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("langmem_memory", sa.Column("slot", Name(), nullable=True))
    op.add_column("langmem_memory", sa.Column("quote", Words(), nullable=True))
    for name in ("said_at", "valid_from", "valid_to", "doubted_at", "asked_at"):
        op.add_column("langmem_memory", sa.Column(name, Instant(), nullable=True))
    op.create_index("langmem_memory_slot", "langmem_memory", ["owner", "slot"])
    op.create_index(
        "langmem_memory_doubted",
        "langmem_memory",
        ["owner"],
        sqlite_where=sa.text("doubted_at IS NOT NULL"),
        postgresql_where=sa.text("doubted_at IS NOT NULL"),
    )
    op.create_table(
        "langmem_memory_verdicts",
        sa.Column("owner", Owner(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("asked", "confirmed", "declined", "lapsed")),
        sa.PrimaryKeyConstraint("owner"),
        sa.ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    for name in ("allow_memory_extraction", "allow_personal_memories", "allow_sensitive_memories"):
        op.add_column("langmem_person", sa.Column(name, sa.Boolean(), nullable=True))
    for name in ("extraction_since", "personal_since", "sensitive_since"):
        op.add_column("langmem_person", sa.Column(name, Instant(), nullable=True))
