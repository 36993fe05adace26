"""What a token opens: one person's memory to a program, their page to themselves, everybody's to an operator."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Name

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    op.add_column("langmem_access_token", sa.Column("kind", Name(), nullable=False, server_default="person"))
    op.add_column("langmem_access_token", sa.Column("opened_by", Name()))
