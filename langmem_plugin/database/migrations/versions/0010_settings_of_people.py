"""A person's own settings: the time zone and the language."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "langmem_person",
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("time_zone", sa.String(), nullable=True),
        sa.Column("language", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("person"),
        sqlite_with_rowid=False,
    )
