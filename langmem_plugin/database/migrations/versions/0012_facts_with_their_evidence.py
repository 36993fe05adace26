"""A memory keeps what it is a value of, its evidence and when it holds; a person what may be remembered of them."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name, Words

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("langmem_memory", sa.Column("slot", Name(), nullable=True))
    op.add_column("langmem_memory", sa.Column("quote", Words(), nullable=True))
    for name in ("said_at", "valid_from", "valid_to", "doubted_at", "asked_at"):
        op.add_column("langmem_memory", sa.Column(name, Instant(), nullable=True))
    op.create_index("langmem_memory_slot", "langmem_memory", ["owner", "slot"])
    for name in ("allow_memory_extraction", "allow_personal_memories", "allow_sensitive_memories"):
        op.add_column("langmem_person", sa.Column(name, sa.Boolean(), nullable=True))
