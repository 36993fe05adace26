"""What a memory's confidence and types may be is the database's to keep, whoever writes."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

_CONFIDENCE = "confidence BETWEEN 0 AND 1"
_FACT_TYPE = (
    "fact_type IN ('preference', 'decision', 'relationship', 'project', 'company', 'personal', 'strategic', 'fact', "
    "'note')"
)
_SOURCE_TYPE = "source_type IN ('manual', 'extracted_from_chat', 'extracted_from_document', 'api_import', 'command')"


def upgrade() -> None:
    # Only a damaged row is beyond them; its checksum, which stays, tells so as before.
    confidence = sa.case((sa.text("confidence < 0"), 0), else_=1)
    for rule, column, value in (
        (_CONFIDENCE, "confidence", confidence),
        (_FACT_TYPE, "fact_type", "fact"),
        (_SOURCE_TYPE, "source_type", "api_import"),
    ):
        memory = sa.table("langmem_memory", sa.column(column))
        op.execute(memory.update().where(sa.text(f"NOT ({rule})")).values({column: value}))
    if op.get_bind().dialect.name == "postgresql":
        for name, rule in (("confidence", _CONFIDENCE), ("fact_type", _FACT_TYPE), ("source_type", _SOURCE_TYPE)):
            op.create_check_constraint(f"langmem_memory_{name}", "langmem_memory", rule)
        return
    # SQLite adds a rule only with a column, and dropping the table to make it anew would delete all that hangs on it.
    rules = f"CHECK ({_CONFIDENCE}) CHECK ({_FACT_TYPE}) CHECK ({_SOURCE_TYPE})"
    op.execute(f"ALTER TABLE langmem_memory ADD COLUMN asked_then BIGINT {rules}")
    op.execute("UPDATE langmem_memory SET asked_then = asked_at WHERE asked_at IS NOT NULL")
    op.drop_column("langmem_memory", "asked_at")
    op.execute("ALTER TABLE langmem_memory RENAME COLUMN asked_then TO asked_at")
