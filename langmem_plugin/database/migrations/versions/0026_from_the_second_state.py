"""Completes the tables of a database that was made before: at revision 0020, or at any after it.

A later migration is a file of its own beside this one, and names the one before it in `down_revision`; a new database
is made from the tables themselves and runs none.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.memory_tables import BOUNDS
from langmem_plugin.database.migrations import current_schema
from langmem_plugin.database.schema import Instant, Owner

revision = "0026"
down_revision = None


def upgrade() -> None:
    connection = op.get_bind()
    found, schema = sa.inspect(connection), current_schema(connection)
    added: tuple[tuple[str, sa.Column[Any]], ...] = (
        ("langmem_link_code", sa.Column("guesses", sa.Integer(), nullable=False, server_default="0")),
        ("langmem_link_code", sa.Column("other", Owner())),
        ("langmem_person", sa.Column("shown", sa.JSON())),
        ("langmem_incoming", sa.Column("waited", sa.Boolean())),
        ("langmem_incoming", sa.Column("sent_as", sa.JSON())),
    )
    for table, column in added:
        if column.name not in {each["name"] for each in found.get_columns(table, schema)}:
            op.add_column(table, column)
    if not found.has_table("langmem_new_link", schema):
        op.create_table(
            "langmem_new_link",
            sa.Column("identifier", Owner(), primary_key=True),
            sa.Column("linked_at", Instant(), nullable=False),
            sqlite_with_rowid=False,
        )
    if "langmem_memory_sealed" in {each["name"] for each in found.get_indexes("langmem_memory", schema)}:
        op.drop_index("langmem_memory_sealed", "langmem_memory")
    _name_marks(connection)
    if not found.get_check_constraints("langmem_memory", schema):
        _bound_memories()


def _name_marks(connection: sa.Connection) -> None:
    """How far the files of the audit log reach was noted under the machine's name."""
    mark = sa.table("langmem_audit_mark", *map(sa.column, ("name", "position")))
    of_machines = sa.and_(mark.c.name.not_in(["head", "anchor"]), mark.c.name.not_like("files %"))
    newest = sa.select(mark.c.name).where(of_machines).order_by(mark.c.position.desc()).limit(1)
    if connection.dialect.name == "sqlite" and (name := connection.execute(newest).scalar()) is not None:
        connection.execute(sa.update(mark).where(mark.c.name == name).values(name="files end"))
    connection.execute(sa.delete(mark).where(of_machines))


def _bound_memories() -> None:
    # Only a damaged row is beyond them; its checksum, which stays, tells so as before.
    confidence = sa.case((sa.text("confidence < 0"), 0), else_=1)
    for column, value in (("confidence", confidence), ("fact_type", "fact"), ("source_type", "api_import")):
        memory = sa.table("langmem_memory", sa.column(column))
        op.execute(memory.update().where(sa.text(f"NOT ({BOUNDS[column]})")).values({column: value}))
    if op.get_bind().dialect.name == "postgresql":
        for column, rule in BOUNDS.items():
            op.create_check_constraint(f"langmem_memory_{column}", "langmem_memory", rule)
        return
    # SQLite adds a rule only with a column, and dropping the table to make it anew would delete all that hangs on it.
    rules = " ".join(f"CONSTRAINT langmem_memory_{column} CHECK ({rule})" for column, rule in BOUNDS.items())
    op.execute(f"ALTER TABLE langmem_memory ADD COLUMN asked_then BIGINT {rules}")
    op.execute("UPDATE langmem_memory SET asked_then = asked_at WHERE asked_at IS NOT NULL")
    op.drop_column("langmem_memory", "asked_at")
    op.execute("ALTER TABLE langmem_memory RENAME COLUMN asked_then TO asked_at")
