"""Gives row ids to the tables of SQLite whose rows may be long: a vector or a long message took a page of its own."""

import re

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

# A table stands before those that refer to it.
_TABLES = tuple(
    f"langmem_{name}" for name in ("message", "value", "media", "memory_vector", "history_message", "history_vector")
)
_NAMES = re.compile(rf"\b({'|'.join(_TABLES)})\b")


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return
    made = sa.text("SELECT sql FROM sqlite_master WHERE name = :name")
    indexes = sa.text("SELECT sql FROM sqlite_master WHERE tbl_name = :name AND type = 'index' AND sql IS NOT NULL")
    indexed = [sql for name in _TABLES for sql in connection.execute(indexes, {"name": name}).scalars()]
    for name in _TABLES:
        sql = connection.execute(made, {"name": name}).scalar_one()
        columns = ", ".join(f'"{each["name"]}"' for each in sa.inspect(connection).get_columns(name))
        op.execute(_NAMES.sub(r"\1_anew", sql).replace("WITHOUT ROWID", ""))
        op.execute(f"INSERT INTO {name}_anew ({columns}) SELECT {columns} FROM {name}")  # noqa: S608 - our own names
    for name in reversed(_TABLES):  # what still refers to a table would be deleted with it
        op.execute(f"DROP TABLE {name}")
    for name in _TABLES:
        op.execute(f"ALTER TABLE {name}_anew RENAME TO {name}")
    for sql in indexed:
        op.execute(sql)
