"""Drops the marks of sessions whose memories were dropped together: the forgotten memories tell so themselves."""

from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.drop_table("langmem_memory_collection", if_exists=True)
