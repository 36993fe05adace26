"""What a person saw under the numbers of a list, and which messages waited for others' turns before their own."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column("langmem_person", sa.Column("shown", sa.JSON()))
    op.add_column("langmem_incoming", sa.Column("waited", sa.Boolean()))
