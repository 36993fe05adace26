"""The first tables: conversations and long-term memory."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant

revision = "0001"
down_revision = None

_Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "langmem_memory_owner",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("change", _Number, nullable=False),
        sa.Column("rebuild", _Number, nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("owner"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_session",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("number", _Number, autoincrement=False, nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("last_active", Instant(), nullable=False),
        sa.Column("ended_at", Instant(), nullable=True),
        sa.Column("next_row", sa.Integer(), nullable=False),
        sa.Column("client_name", sa.String(), nullable=True),
        sa.Column("client_phone", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("thread", "number"),
        sa.UniqueConstraint("session_id"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "langmem_one_current_session",
        "langmem_session",
        ["thread"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "langmem_standing_instruction",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("instruction_id", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("expires_at", Instant(), nullable=True),
        sa.Column("usage_count", sa.Integer(), nullable=False),
        sa.Column("last_used", Instant(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "instruction_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_turn",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("ticket", _Number, autoincrement=False, nullable=False),
        sa.Column("lease_ends", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("thread", "ticket"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_checkpoint",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("session", _Number, nullable=False),
        sa.Column("namespace", sa.String(), nullable=False),
        sa.Column("checkpoint_id", sa.String(), nullable=False),
        sa.Column("parent_id", sa.String(), nullable=True),
        sa.Column("run_id", sa.String(), nullable=True),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread", "session", "namespace", "checkpoint_id"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "langmem_checkpoint_of_run",
        "langmem_checkpoint",
        ["run_id"],
        unique=False,
        sqlite_where=sa.text("run_id IS NOT NULL"),
        postgresql_where=sa.text("run_id IS NOT NULL"),
    )
    op.create_table(
        "langmem_history_message",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("message_id", sa.String(), nullable=False),
        sa.Column("change", _Number, nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("speaker", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("said_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner", "message_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_history_changes", "langmem_history_message", ["owner", "change"], unique=False)
    op.create_index("langmem_history_session", "langmem_history_message", ["owner", "session_id"], unique=False)
    op.create_table(
        "langmem_media",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("session", _Number, nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread", "session", "sha256"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_memory",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("change", _Number, nullable=False),
        sa.Column("position", _Number, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_digest", sa.LargeBinary(), nullable=False),
        sa.Column("fact_type", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("source_type", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=True),
        sa.Column("session_id", sa.String(), nullable=True),
        sa.Column("summary_text", sa.Text(), nullable=True),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("tags", sa.Text(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("superseded_by", sa.String(), nullable=True),
        sa.Column("expires_at", Instant(), nullable=True),
        sa.Column("access_count", sa.Integer(), nullable=False),
        sa.Column("last_accessed", Instant(), nullable=True),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner", "memory_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_memory_changes", "langmem_memory", ["owner", "change"], unique=False)
    op.create_index("langmem_memory_digest", "langmem_memory", ["owner", "text_digest"], unique=False)
    op.create_index("langmem_memory_key", "langmem_memory", ["owner", "key"], unique=False)
    op.create_index("langmem_memory_session", "langmem_memory", ["session_id"], unique=False)
    op.create_index("langmem_memory_state", "langmem_memory", ["owner", "status", "created_at"], unique=False)
    op.create_table(
        "langmem_memory_collection",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=False),
        sa.Column("dropped_at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner", "session_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_memory_index",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("change", _Number, nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner", "model"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_message",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("session", _Number, nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("message_id", sa.String(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("created_at", Instant(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread", "session", "row"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_pending",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("session", _Number, nullable=False),
        sa.Column("namespace", sa.String(), nullable=False),
        sa.Column("checkpoint_id", sa.String(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("interrupt", sa.Boolean(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread", "session", "namespace", "checkpoint_id", "task_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_value",
        sa.Column("thread", sa.String(), nullable=False),
        sa.Column("session", _Number, nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["thread", "session"], ["langmem_session.thread", "langmem_session.number"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("thread", "session", "row"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_history_vector",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("message_id", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner", "message_id"],
            ["langmem_history_message.owner", "langmem_history_message.message_id"],
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("owner", "model", "message_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_memory_access",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("access_id", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("session_id", sa.String(), nullable=True),
        sa.Column("relevance", sa.Float(), nullable=True),
        sa.Column("at", Instant(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner", "memory_id"], ["langmem_memory.owner", "langmem_memory.memory_id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("owner", "access_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_memory_access_of", "langmem_memory_access", ["owner", "memory_id", "at"], unique=False)
    op.create_table(
        "langmem_memory_vector",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner", "memory_id"], ["langmem_memory.owner", "langmem_memory.memory_id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("owner", "model", "memory_id"),
        sqlite_with_rowid=False,
    )
