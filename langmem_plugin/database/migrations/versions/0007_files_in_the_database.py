"""What pictures and files hold may be kept in the database, where no folder lies beside it."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("langmem_media", sa.Column("payload", sa.LargeBinary(), nullable=True))
