"""All rows of a database with keys are encrypted: an index of those that are tells nothing any more."""

from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.drop_index("langmem_memory_sealed", "langmem_memory")
