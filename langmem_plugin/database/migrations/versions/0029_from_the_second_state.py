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

revision = "0029"
down_revision = None

_ADDED: tuple[tuple[str, sa.Column[Any]], ...] = (
    ("langmem_link_code", sa.Column("other", Owner())),
    ("langmem_person", sa.Column("shown", sa.JSON())),
    ("langmem_incoming", sa.Column("waited", sa.Boolean())),
    ("langmem_incoming", sa.Column("sent_as", sa.JSON())),
    ("langmem_pending", sa.Column("outlives_silence", sa.Boolean())),
    ("langmem_session", sa.Column("to_take", sa.SmallInteger(), nullable=False, server_default=sa.text("1"))),
)
_MADE: tuple[tuple[str, tuple[sa.Column[Any], ...]], ...] = (
    (
        "langmem_new_link",
        (sa.Column("identifier", Owner(), primary_key=True), sa.Column("linked_at", Instant(), nullable=False)),
    ),
    (
        "langmem_acknowledged",
        (
            sa.Column("identifier", sa.String(), primary_key=True),
            sa.Column("delivery_id", sa.String(), primary_key=True),
            sa.Column("channel", sa.String(), nullable=False),
            sa.Column("received_at", sa.BigInteger(), nullable=False),
            sa.Column("held_until", sa.BigInteger(), nullable=False),
            sa.Column("payload", sa.LargeBinary(), nullable=False),
        ),
    ),
)
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
_TAKEN = """
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
"""


def upgrade() -> None:
    connection = op.get_bind()
    found, schema = sa.inspect(connection), current_schema(connection)
    for table, column in _ADDED:
        if column.name not in {each["name"] for each in found.get_columns(table, schema)}:
            op.add_column(table, column)
    for name, columns in _MADE:
        if not found.has_table(name, schema):
            op.create_table(name, *columns, sqlite_with_rowid=False)
    if "langmem_memory_sealed" in {each["name"] for each in found.get_indexes("langmem_memory", schema)}:
        op.drop_index("langmem_memory_sealed", "langmem_memory")
    if not found.get_check_constraints("langmem_memory", schema):
        _bound_memories()
    if found.has_table("langmem_searchable", schema):
        _note_what_is_to_be_taken()


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


def _note_what_is_to_be_taken() -> None:
    op.execute("UPDATE langmem_session SET to_take = 2 WHERE ended_at IS NOT NULL")
    op.execute(_TAKEN)
    op.drop_table("langmem_searchable")
    for name, table, columns, where in _INDEXES:
        only = None if where is None else sa.text(where)
        op.create_index(f"langmem_{name}", f"langmem_{table}", columns, sqlite_where=only, postgresql_where=only)
