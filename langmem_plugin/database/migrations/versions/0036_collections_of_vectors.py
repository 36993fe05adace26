"""Makes the table of collections of vectors anew: an owner has one, with a name of its own.

What was indexed is indexed again. What the old collections hold stays until their schema or folder is deleted.
"""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Name, Owner

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.drop_table("langmem_memory_index")
    op.create_table(
        "langmem_memory_index",
        sa.Column("owner", Owner(), sa.ForeignKey("langmem_memory_owner.owner", ondelete="CASCADE"), primary_key=True),
        sa.Column("model", Name(), nullable=False),
        sa.Column("name", Name(), nullable=False),
        sa.Column("change", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sqlite_with_rowid=False,
    )
