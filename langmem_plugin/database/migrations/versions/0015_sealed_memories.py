"""The words of memories, instructions and searchable messages can be encrypted, as one value of their row."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    for table in ("langmem_memory", "langmem_standing_instruction", "langmem_history_message"):
        op.add_column(table, sa.Column("sealed", sa.LargeBinary(), nullable=True))
    op.create_index(
        "langmem_memory_sealed",
        "langmem_memory",
        ["owner"],
        sqlite_where=sa.text("sealed IS NOT NULL"),
        postgresql_where=sa.text("sealed IS NOT NULL"),
    )
