"""A memory keeps what it is a value of, its evidence and when it holds; a person what may be remembered of them.

What stands around a sentence counts no more for its being the same: the digests of such texts are made anew.
"""

import contextlib
import hashlib
import unicodedata
from typing import Any

import sqlalchemy as sa
from alembic import op

from langmem_plugin.database.schema import Instant, Name, Owner, Words

revision = "0012"
down_revision = "0011"


_AROUND = " .!,;:\"'“”«»…"
_AT_ONCE = 1_000


def upgrade() -> None:
    op.add_column("langmem_memory", sa.Column("slot", Name(), nullable=True))
    op.add_column("langmem_memory", sa.Column("quote", Words(), nullable=True))
    for name in ("said_at", "valid_from", "valid_to", "doubted_at", "asked_at"):
        op.add_column("langmem_memory", sa.Column(name, Instant(), nullable=True))
    op.create_index("langmem_memory_slot", "langmem_memory", ["owner", "slot"])
    op.create_index(
        "langmem_memory_doubted",
        "langmem_memory",
        ["owner"],
        sqlite_where=sa.text("doubted_at IS NOT NULL"),
        postgresql_where=sa.text("doubted_at IS NOT NULL"),
    )
    op.create_table(
        "langmem_memory_verdicts",
        sa.Column("owner", Owner(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("asked", "confirmed", "declined", "lapsed")),
        sa.PrimaryKeyConstraint("owner"),
        sa.ForeignKeyConstraint(["owner"], ["langmem_memory_owner.owner"], ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    for name in ("allow_memory_extraction", "allow_personal_memories", "allow_sensitive_memories"):
        op.add_column("langmem_person", sa.Column(name, sa.Boolean(), nullable=True))
    for name in ("extraction_since", "personal_since", "sensitive_since"):
        op.add_column("langmem_person", sa.Column(name, Instant(), nullable=True))
    _digest_anew(op.get_bind())


def _digest_anew(connection: sa.Connection) -> None:
    raw: Any = connection.connection.dbapi_connection
    if connection.dialect.name == "sqlite":  # else a damaged text would keep the database from being opened
        before = raw.text_factory
        raw.text_factory = lambda stored: stored.decode("utf-8", "surrogateescape")
    names = ("owner", "memory_id", "text", "key", "text_digest")
    table = sa.table("langmem_memory", *map(sa.column, names))
    owners = sa.table("langmem_memory_owner", sa.column("owner"), sa.column("salt"))
    ordered = (table.c.owner, table.c.memory_id)
    page = (
        sa.select(*(table.c[name] for name in names[:4]), owners.c.salt)
        .join(owners, owners.c.owner == table.c.owner)
        .order_by(*ordered)
        .limit(_AT_ONCE)
    )
    same = sa.and_(table.c.owner == sa.bindparam("of_owner"), table.c.memory_id == sa.bindparam("of_id"))
    after = ("", "")
    while rows := connection.execute(page.where(sa.tuple_(*ordered) > after)).all():
        made = []
        for row in rows:
            with contextlib.suppress(TypeError, ValueError, AttributeError):  # damaged: found out when it is read
                said = " ".join(unicodedata.normalize("NFKC", row.text).casefold().split())
                if said != said.strip(_AROUND):
                    digest = _digest(row.salt, said, row.key)
                    made.append({"of_owner": row.owner, "of_id": row.memory_id, "made": digest})
        if made:
            connection.execute(sa.update(table).where(same).values(text_digest=sa.bindparam("made")), made)
        after = (rows[-1].owner, rows[-1].memory_id)
    if connection.dialect.name == "sqlite":
        raw.text_factory = before


def _digest(salt: bytes, said: str, key: str | None) -> bytes:
    stored = f"{key or ''}\n{said.strip(_AROUND)}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(stored, key=salt, digest_size=16).digest()
