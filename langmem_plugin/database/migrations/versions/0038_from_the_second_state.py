"""Completes the tables of a database that was made before: at revision 0020, or at any from there to 0037.

What is missing is made as the code has it now. So a later migration, a file of its own beside this one that names the
one before it in `down_revision`, asks whether its change is there. A new database is made from the tables themselves
and runs none.
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.memory_tables import BOUNDS, memory_index, memory_owner
from langmem_plugin.database.migrations import current_schema
from langmem_plugin.database.schema import Owner, metadata

revision = "0038"
down_revision = None

_ADDED: tuple[tuple[str, sa.Column[Any]], ...] = (
    ("langmem_link_code", sa.Column("other", Owner())),
    ("langmem_person", sa.Column("shown", sa.JSON())),
    ("langmem_incoming", sa.Column("waited", sa.Boolean())),
    ("langmem_incoming", sa.Column("sent_as", sa.JSON())),
    ("langmem_session", sa.Column("to_take", sa.SmallInteger(), nullable=False, server_default=sa.text("1"))),
    ("langmem_audit", sa.Column("written", sa.Boolean(), nullable=False, server_default=sa.false())),
)
_GONE = (
    ("langmem_pending", "outlives_silence"),
    ("langmem_link_code", "guesses"),
    ("langmem_audit", "position"),
    ("langmem_audit", "hash"),
)
_GONE_INDEXES = (("memory_sealed", "memory"), ("merge_id", "merge"), ("audit_position", "audit"))
# Tables whose rows may be long: a vector or a long message took a page of its own. One stands before those that refer
# to it.
_WITH_ROW_IDS = tuple(
    f"langmem_{name}" for name in ("message", "value", "media", "memory_vector", "history_message", "history_vector")
)
_NAMES = re.compile(rf"\b({'|'.join(_WITH_ROW_IDS)})\b")
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
    tables = found.get_table_names(schema)
    columns = {table: {each["name"] for each in found.get_columns(table, schema)} for table in tables}
    indexes = {str(each["name"]) for table in tables for each in found.get_indexes(table, schema)}
    collections = []
    if "generation" in columns["langmem_memory_index"]:  # what was indexed is indexed again
        collections = _collections_to_delete(connection)
        op.drop_table("langmem_memory_index")
        del columns["langmem_memory_index"]
    for table, column in _ADDED:
        if column.name not in columns[table]:
            op.add_column(table, column)
    if not found.get_check_constraints("langmem_memory", schema):
        _bound_memories()
    if "langmem_searchable" in columns:
        op.execute("UPDATE langmem_session SET to_take = 2 WHERE ended_at IS NOT NULL")
        op.execute(_TAKEN)
    if "position" in columns["langmem_audit"]:
        op.execute("UPDATE langmem_audit SET written = true WHERE position IS NOT NULL")
    _drop(columns, indexes)
    _make(connection, columns, indexes)
    op.bulk_insert(memory_index, collections)
    if connection.dialect.name == "sqlite":
        _give_row_ids(connection)


def _collections_to_delete(connection: sa.Connection) -> list[dict[str, Any]]:
    """Return the row of each owner's collection as one to be made anew: else nobody would know its name any more."""
    owner, made = sa.column("owner", Owner()), {}
    indexed = sa.table("langmem_memory_index", owner, sa.column("model"), sa.column("generation"))
    salted = sa.select(*indexed.c, memory_owner.c.salt).join(memory_owner, owner == memory_owner.c.owner)
    for row in connection.execute(salted):
        hashed = hashlib.blake2b(f"{row.model}\n{row.owner}".encode(), key=row.salt, digest_size=16).hexdigest()
        name = f"memories{hashed}g{row.generation}"
        made[row.owner] = {"owner": row.owner, "model": row.model, "name": name, "change": -1}
    return list(made.values())


def _make(connection: sa.Connection, tables: Collection[str], indexes: Collection[str]) -> None:
    for table in metadata.sorted_tables:
        if table.name not in tables:
            table.create(connection)  # with its indexes
            continue
        for index in table.indexes:
            if index.name not in indexes:
                index.create(connection)


def _drop(columns: Mapping[str, Collection[str]], indexes: Collection[str]) -> None:
    for name, table in _GONE_INDEXES:
        if f"langmem_{name}" in indexes:
            op.drop_index(f"langmem_{name}", f"langmem_{table}")
    for table, column in _GONE:
        if column in columns[table]:
            op.drop_column(table, column)
    for name in ("searchable", "audit_mark", "name_alias", "memory_collection"):
        op.drop_table(f"langmem_{name}", if_exists=True)


def _give_row_ids(connection: sa.Connection) -> None:
    made = sa.text("SELECT sql FROM sqlite_master WHERE name = :name")
    if "WITHOUT ROWID" not in connection.execute(made, {"name": _WITH_ROW_IDS[0]}).scalar_one():
        return
    indexes = sa.text("SELECT sql FROM sqlite_master WHERE tbl_name = :name AND type = 'index' AND sql IS NOT NULL")
    indexed = [sql for name in _WITH_ROW_IDS for sql in connection.execute(indexes, {"name": name}).scalars()]
    for name in _WITH_ROW_IDS:
        sql = connection.execute(made, {"name": name}).scalar_one()
        columns = ", ".join(f'"{each["name"]}"' for each in sa.inspect(connection).get_columns(name))
        op.execute(_NAMES.sub(r"\1_anew", sql).replace("WITHOUT ROWID", ""))
        op.execute(f"INSERT INTO {name}_anew ({columns}) SELECT {columns} FROM {name}")  # noqa: S608 - our own names
    for name in reversed(_WITH_ROW_IDS):  # what still refers to a table would be deleted with it
        op.execute(f"DROP TABLE {name}")
    for name in _WITH_ROW_IDS:
        op.execute(f"ALTER TABLE {name}_anew RENAME TO {name}")
    for sql in indexed:
        op.execute(sql)


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
