"""Tells whether a question that a run asks may be answered after the silence that ends a session."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.add_column("langmem_pending", sa.Column("outlives_silence", sa.Boolean()))
