"""Aliases as rows: written, read, moved to another owner and deleted, in the caller's transaction."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, and_, delete, insert, or_, select, update

from langmem_plugin.database.encryption.encrypted_columns import ALIAS, ALIAS_NAME
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.memory_tables import name_alias as table
from langmem_plugin.database.schema import in_parts
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.logs import event_log
from langmem_plugin.memory.damaged_rows import Damages
from langmem_plugin.memory.search.tokenizer import words_of

log = event_log(__name__)

Source = Literal["hand", "memory", "message"]


@dataclass(frozen=True)
class Alias:
    """`learnt_from` is the id of the memory or the message, as `source` says. Not `active`: it was removed."""

    id: str
    owner: OwnerKey
    alias: str
    name: str
    created_at: datetime
    learnt_from: str | None = None
    source: Source = "hand"
    active: bool = True


def keep(connection: Connection, aliases: Sequence[Alias]) -> None:
    """Stores them; the owners have a row of their own already."""
    if aliases:
        connection.execute(insert(table), [_values(connection, each) for each in aliases])


def move(
    connection: Connection,
    source: OwnerKey,
    target: OwnerKey,
    memories: Mapping[str, str],
    *,
    only: Sequence[str] | None = None,
) -> dict[str, str]:
    """From one owner to another, encrypted anew; their new ids by the old. `memories` are the new ids of those that
    moved too. What cannot be decrypted moves as it is.
    """
    rows = connection.execute(select(table).where(table.c.owner == source)).all()
    rows = [row for row in rows if only is None or row.alias_id in set(only)]
    taken = set(connection.execute(select(table.c.alias_id).where(table.c.owner == target)).scalars())
    moved = {row.alias_id: str(uuid.uuid4()) if row.alias_id in taken else row.alias_id for row in rows}
    for row in rows:
        new = moved[row.alias_id]
        learnt_from = memories.get(row.learnt_from, row.learnt_from) if row.source == "memory" else row.learnt_from
        values = {"owner": target, "alias_id": new, "learnt_from": learnt_from}
        try:
            made = _as_alias(connection, row)
        except DecryptionRefused:
            log.warning("alias.moved_unread")
        else:
            anew = _values(connection, replace(made, id=new, owner=target))
            values |= {"alias": anew["alias"], "name": anew["name"]}
        here = and_(table.c.owner == source, table.c.alias_id == row.alias_id)
        connection.execute(update(table).where(here).values(values))
    return moved


def drop_learnt_from(connection: Connection, owner: OwnerKey, memory_ids: Sequence[str]) -> None:
    """With memories that are deleted for good, or say something else now."""
    for part in in_parts(memory_ids):
        here = (table.c.owner == owner, table.c.source == "memory", table.c.learnt_from.in_(part))
        connection.execute(delete(table).where(*here))


def drop_said_in(connection: Connection, owner: OwnerKey, forgotten: str) -> None:
    """What was learnt from messages about what the person wants forgotten."""
    rows = connection.execute(select(table).where(table.c.owner == owner, table.c.source == "message")).all()
    for row in rows:
        try:
            made = _as_alias(connection, row)
        except DecryptionRefused:
            continue
        if any(names_in(forgotten, made)):
            connection.execute(delete(table).where(table.c.owner == owner, table.c.alias_id == row.alias_id))


def names_in(text: str, each: Alias) -> tuple[bool, bool]:
    """Whether the alias stands in it, and whether the name does."""
    words = words_of(text)
    return _holds(words, words_of(each.alias)), _holds(words, words_of(each.name))


def _values(connection: Connection, each: Alias) -> dict[str, Any]:
    key = (each.owner, each.id)
    return {
        "owner": each.owner,
        "alias_id": each.id,
        "alias": ALIAS.encrypted(connection, key, each.alias),
        "name": ALIAS_NAME.encrypted(connection, key, each.name),
        "learnt_from": each.learnt_from,
        "source": each.source,
        "created_at": each.created_at,
        "active": each.active,
    }


def read(connection: Connection, owner: OwnerKey, damages: Damages) -> list[Alias]:
    """All of the owner's, the first learnt first; what cannot be decrypted is reported and left out."""
    return [each for each, _ in with_ends(connection, owner, damages, any_state=True)]


def with_ends(
    connection: Connection, owner: OwnerKey, damages: Damages, *, any_state: bool = False
) -> list[tuple[Alias, datetime | None]]:
    """Those that count, each with when the memory that it was learnt from expires."""
    of_memory = table.c.source == "memory"
    behind = and_(memory.c.owner == table.c.owner, memory.c.memory_id == table.c.learnt_from, of_memory)
    wanted = select(table, memory.c.expires_at).outerjoin(memory, behind).where(table.c.owner == owner)
    if not any_state:
        # What is archived was only told long ago.
        holds = or_(table.c.source != "memory", memory.c.status.in_(("active", "archived")))
        wanted = wanted.where(table.c.active, holds)
    found = []
    for row in connection.execute(wanted.order_by(table.c.created_at, table.c.alias_id)):
        try:
            found.append((_as_alias(connection, row), row.expires_at))
        except DecryptionRefused:
            damages.report("alias", owner, row.alias_id)
    return found


def rewrite(connection: Connection, each: Alias) -> None:
    here = (table.c.owner == each.owner, table.c.alias_id == each.id)
    connection.execute(update(table).where(*here).values(_values(connection, each)))


def _as_alias(connection: Connection, row: Row[Any]) -> Alias:
    """Raises DecryptionRefused."""
    key = (row.owner, row.alias_id)
    return Alias(
        id=row.alias_id,
        owner=row.owner,
        alias=ALIAS.decrypted(connection, key, row.alias),
        name=ALIAS_NAME.decrypted(connection, key, row.name),
        created_at=row.created_at,
        learnt_from=row.learnt_from,
        source=row.source,
        active=row.active,
    )


def _holds(words: Sequence[str], name: Sequence[str]) -> bool:
    size = len(name)
    return size > 0 and any(list(words[at : at + size]) == list(name) for at in range(len(words) - size + 1))
