"""A question that waits for an answer is open for one length of time, whatever it asks."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.migrations import current_schema

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    connection = op.get_bind()
    columns = sa.inspect(connection).get_columns("langmem_pending", current_schema(connection))
    if any(each["name"] == "outlives_silence" for each in columns):
        op.drop_column("langmem_pending", "outlives_silence")
