"""What is done is noted; who asks to be erased is held for a while, and then is gone; consents with their words."""

import os

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name, Words

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    _audit()
    _erasure()
    op.add_column("langmem_person", sa.Column("consent_at", Instant(), nullable=True))
    op.add_column("langmem_person", sa.Column("consent_text", Words(), nullable=True))
    op.add_column("langmem_person", sa.Column("consent_version", sa.Integer(), nullable=True))


def _audit() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    secret = op.create_table(
        "langmem_secret",
        sa.Column("name", Name(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )
    op.bulk_insert(secret, [{"name": "audit", "value": os.urandom(32)}])
    op.create_table(
        "langmem_audit",
        sa.Column("entry", number, sa.Identity(), nullable=False),
        sa.Column("at", Instant(), nullable=False),
        sa.Column("actor", Name(), nullable=False),
        sa.Column("action", Name(), nullable=False),
        sa.Column("subject", Name(), nullable=True),
        sa.Column("owner", sa.LargeBinary(), nullable=True),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("position", sa.BigInteger(), nullable=True),
        sa.Column("hash", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("entry"),
    )
    op.create_index("langmem_audit_position", "langmem_audit", ["position"], unique=True)
    op.create_table(
        "langmem_audit_mark",
        sa.Column("name", Name(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("noted_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_with_rowid=False,
    )


def _erasure() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "langmem_erasure",
        sa.Column("number", number, sa.Identity(), nullable=False),
        sa.Column("erasure_id", Name(), nullable=False),
        sa.Column("state", Name(), nullable=False),
        sa.Column("asked_at", Instant(), nullable=False),
        sa.Column("due_at", Instant(), nullable=False),
        sa.Column("done_at", Instant(), nullable=True),
        sa.Column("hashes", sa.JSON(), nullable=False),
        sa.Column("counts", sa.JSON(), nullable=False),
        sa.Column("verified", sa.Boolean(), nullable=False),
        sa.Column("who", sa.JSON(), nullable=True),
        sa.Column("left", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("erasure_id"),
    )
    op.create_table(
        "langmem_erased_key",
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_held_row",
        sa.Column("erasure_id", Name(), nullable=False),
        sa.Column("place", number, autoincrement=False, nullable=False),
        sa.Column("of_table", Name(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("erasure_id", "place"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "langmem_held_file",
        sa.Column("erasure_id", Name(), nullable=False),
        sa.Column("sha256", Name(), nullable=False),
        sa.PrimaryKeyConstraint("erasure_id", "sha256"),
        sqlite_with_rowid=False,
    )
    op.create_index("langmem_held_file_sha256", "langmem_held_file", ["sha256"])
