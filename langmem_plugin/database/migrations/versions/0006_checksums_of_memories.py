"""Memories, instructions, searchable messages and vectors get a checksum each, of what they hold now."""

import contextlib
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_AT_ONCE = 1_000

Values = dict[str, Any]


def upgrade() -> None:
    connection = op.get_bind()
    raw: Any = connection.connection.dbapi_connection
    for table, key, columns, checksum in _TABLES:
        op.add_column(table, sa.Column("checksum", sa.BigInteger(), nullable=True))
        if connection.dialect.name == "sqlite":  # else a damaged text would keep the database from being opened
            before = raw.text_factory
            raw.text_factory = lambda stored: stored.decode("utf-8", "surrogateescape")
        _fill(connection, table, key, columns, checksum)
        if connection.dialect.name == "sqlite":
            raw.text_factory = before


def _fill(
    connection: sa.Connection, name: str, key: list[str], columns: list[str], checksum: Callable[[Values], int]
) -> None:
    table = sa.table(name, sa.column("checksum"), *(sa.column(each) for each in [*key, *columns]))
    same = sa.and_(*(table.c[each] == sa.bindparam(f"key_{each}") for each in key))
    fill = sa.update(table).where(same).values(checksum=sa.bindparam("made"))
    for rows in _pages(connection, table, key, columns):
        made = []
        for row in rows:
            with contextlib.suppress(TypeError, ValueError, AttributeError):  # damaged: found out when it is read
                made.append({f"key_{each}": row[each] for each in key} | {"made": checksum(row)})
        if made:
            connection.execute(fill, made)


def _pages(connection: sa.Connection, table: Any, key: list[str], columns: list[str]) -> Iterator[list[Values]]:
    """Without rows whose very key is damaged: nothing can be asked by it."""
    ordered = [table.c[each] for each in key]
    shown = [sa.cast(table.c[each], sa.Text).label(each) if each == "metadata" else table.c[each] for each in columns]
    page = sa.select(*ordered, *shown).order_by(*ordered).limit(_AT_ONCE)
    after = [""] * len(key)
    while True:
        found = connection.execute(page.where(sa.tuple_(*ordered) > after))
        rows = [dict(row._mapping) for row in found if _is_whole(row[: len(key)])]  # noqa: SLF001 - a public name
        if not rows:
            return
        yield rows
        after = [rows[-1][each] for each in key]


def _is_whole(key: Sequence[Any]) -> bool:
    return all(isinstance(each, str) and each.encode("utf-8", "replace").decode() == each for each in key)


def _of_values(*values: Any) -> int:
    return zlib.crc32(json.dumps(values, separators=(",", ":")).encode())


def _of_memory(row: Values) -> int:
    return _of_values(
        row["memory_id"],
        row["owner"],
        row["text"],
        row["fact_type"],
        row["key"],
        row["confidence"],
        row["source_type"],
        row["source_id"],
        row["session_id"],
        row["summary_text"],
        row["category"],
        row["tags"].strip("\n").split("\n") if row["tags"] else [],
        json.loads(row["metadata"]),
        bool(row["private"]),
        row["superseded_by"],
        row["expires_at"],
        row["created_at"],
    )


def _of_instruction(row: Values) -> int:
    return _of_values(
        row["instruction_id"],
        row["owner"],
        row["text"],
        row["priority"],
        row["condition"],
        bool(row["active"]),
        row["expires_at"],
        row["created_at"],
    )


def _of_message(row: Values) -> int:
    return _of_values(
        row["owner"],
        row["message_id"],
        row["session_id"],
        row["speaker"],
        row["text"],
        row["said_at"],
        row["of_session"],
    )


def _of_vector(row: Values) -> int:
    text_id = row["memory_id"] if "memory_id" in row else row["message_id"]
    return zlib.crc32(row["vector"], zlib.crc32(f"{row['owner']}\n{row['model']}\n{text_id}".encode()))


_MEMORY = [
    *("text", "fact_type", "key", "confidence", "source_type", "source_id", "session_id", "summary_text", "category"),
    *("tags", "metadata", "private", "superseded_by", "expires_at", "created_at"),
]

_TABLES: list[tuple[str, list[str], list[str], Callable[[Values], int]]] = [
    ("langmem_memory", ["owner", "memory_id"], _MEMORY, _of_memory),
    (
        "langmem_standing_instruction",
        ["owner", "instruction_id"],
        ["text", "priority", "condition", "active", "expires_at", "created_at"],
        _of_instruction,
    ),
    (
        "langmem_history_message",
        ["owner", "message_id"],
        ["session_id", "speaker", "text", "said_at", "of_session"],
        _of_message,
    ),
    ("langmem_memory_vector", ["owner", "model", "memory_id"], ["vector"], _of_vector),
    ("langmem_history_vector", ["owner", "model", "message_id"], ["vector"], _of_vector),
]
