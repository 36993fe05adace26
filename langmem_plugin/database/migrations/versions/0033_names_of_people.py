"""Adds the table of the names that operators give to people."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    if sa.inspect(op.get_bind()).has_table("langmem_person_name"):
        return
    columns = sa.Column("person", sa.String(), primary_key=True), sa.Column("name", sa.Text(), nullable=False)
    op.create_table("langmem_person_name", *columns, sqlite_with_rowid=False)
