"""No order and no lease depends on the clock of a writing machine any more.

A checkpoint's position, a turn's ticket and its renewals are numbers that the database gives.
"""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("langmem_session", sa.Column("epoch", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("langmem_session", sa.Column("ahead", Instant(), nullable=True))
    op.add_column("langmem_checkpoint", sa.Column("position", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE langmem_checkpoint AS each SET position = numbered.number FROM ("
        "SELECT thread, session, namespace, checkpoint_id, row_number() OVER "
        "(PARTITION BY thread, session ORDER BY checkpoint_id, namespace) AS number FROM langmem_checkpoint"
        ") AS numbered WHERE each.thread = numbered.thread AND each.session = numbered.session "
        "AND each.namespace = numbered.namespace AND each.checkpoint_id = numbered.checkpoint_id"
    )
    op.create_index("langmem_checkpoint_order", "langmem_checkpoint", ["thread", "session", "position"])
    op.drop_table("langmem_turn")
    if op.get_context().dialect.name == "sqlite":
        # AUTOINCREMENT never gives a number twice, and SQLite has it for such a key alone.
        op.execute(
            "CREATE TABLE langmem_turn (ticket INTEGER PRIMARY KEY AUTOINCREMENT, thread VARCHAR NOT NULL, "
            "renewals INTEGER NOT NULL)"
        )
    else:
        op.create_table(
            "langmem_turn",
            sa.Column("thread", sa.String(), nullable=False),
            sa.Column("ticket", sa.BigInteger(), sa.Identity(), nullable=False),
            sa.Column("renewals", sa.Integer(), nullable=False),
            sa.PrimaryKeyConstraint("thread", "ticket"),
        )
