"""A session says itself whether its messages are to become searchable; what upkeep looks for has an index."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

_INDEXES = (
    ("session_to_take", "session", ["to_take", "last_active"], "to_take > 0"),
    ("session_current", "session", ["last_active", "thread"], "ended_at IS NULL"),
    ("session_ended", "session", ["ended_at"], "ended_at IS NOT NULL"),
    ("thread_owner_noted", "thread_owner", ["noted_at"], None),
    ("incoming_received", "incoming", ["received_at"], None),
    ("question_asked", "question", ["asked_at"], None),
    ("memory_over", "memory", ["updated_at"], "status <> 'active'"),
    ("memory_expires", "memory", ["expires_at"], "expires_at IS NOT NULL"),
    ("memory_access_at", "memory_access", ["at"], None),
)


def upgrade() -> None:
    to_take = sa.Column("to_take", sa.SmallInteger(), nullable=False, server_default=sa.text("1"))
    op.add_column("langmem_session", to_take)
    op.execute("UPDATE langmem_session SET to_take = 2 WHERE ended_at IS NOT NULL")
    op.execute("""
        UPDATE langmem_session SET to_take = (
            SELECT CASE WHEN taken.checkpoint_id IS NULL OR taken.checkpoint_id = (
                SELECT checkpoint_id FROM langmem_checkpoint AS made
                WHERE made.thread = taken.thread AND made.session = taken.session AND made.namespace = ''
                ORDER BY position DESC LIMIT 1
            ) THEN 0 ELSE 2 END
            FROM langmem_searchable AS taken
            WHERE taken.thread = langmem_session.thread AND taken.session = langmem_session.number
        )
        WHERE EXISTS (
            SELECT 1 FROM langmem_searchable AS taken
            WHERE taken.thread = langmem_session.thread AND taken.session = langmem_session.number
        )
    """)
    op.drop_table("langmem_searchable")
    for name, table, columns, where in _INDEXES:
        only = None if where is None else sa.text(where)
        op.create_index(f"langmem_{name}", f"langmem_{table}", columns, sqlite_where=only, postgresql_where=only)
