"""The first tables."""

from alembic import op

from langmem_plugin.database import conversation_tables, memory_tables  # noqa: F401 - they register themselves
from langmem_plugin.database.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    metadata.create_all(op.get_bind())
