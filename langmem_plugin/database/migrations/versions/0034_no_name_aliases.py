"""Drops the names that meant the same to one person."""

from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.drop_table("langmem_name_alias", if_exists=True)
