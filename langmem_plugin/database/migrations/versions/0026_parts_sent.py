"""How far a reply in several parts has gone out, and by which ids of the channel its parts are known there."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.add_column("langmem_incoming", sa.Column("sent_as", sa.JSON()))
