"""Drops the chain of hashes of the audit log, whose entries note instead that they are in a file, and guessed codes."""

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.migrations import current_schema

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    connection = op.get_bind()
    found, schema = sa.inspect(connection), current_schema(connection)
    if "guesses" in {each["name"] for each in found.get_columns("langmem_link_code", schema)}:
        op.drop_column("langmem_link_code", "guesses")
    if not found.has_table("langmem_audit_mark", schema):
        return
    op.drop_table("langmem_audit_mark")
    op.drop_index("langmem_audit_position", "langmem_audit")
    op.add_column("langmem_audit", sa.Column("written", sa.Boolean(), nullable=False, server_default=sa.false()))
    audit = sa.table("langmem_audit", sa.column("written"), sa.column("position"))
    op.execute(sa.update(audit).where(audit.c.position.is_not(None)).values(written=sa.true()))
    for name in ("position", "hash"):
        op.drop_column("langmem_audit", name)
    op.create_index(
        "langmem_audit_waiting",
        "langmem_audit",
        ["entry"],
        sqlite_where=sa.text("NOT written"),
        postgresql_where=sa.text("NOT written"),
    )
