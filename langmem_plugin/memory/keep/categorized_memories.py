"""Which memories are of a category, however it is spelled, encrypted or not; and another category for them."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from langmem_plugin.database.audit_trail import Done, record_all
from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.schema import in_parts
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.damaged_rows import all_rows
from langmem_plugin.memory.keep.memory_rows import STORED, Searched, as_memory, as_values, searched
from langmem_plugin.memory.keep.owner_changes import begin_change
from langmem_plugin.memory.models import plain

_NOTHING: Searched = ("", None, "", None, None)


def spellings(connection: Connection, owner: OwnerKey) -> dict[str, str]:
    """The categories that the owner's memories have, by what the column holds for them: the name or its digest."""
    has_one = (memory.c.owner == owner, memory.c.category.is_not(None))
    encryption = encryption_of(connection)
    if not encryption.encrypts:
        held = connection.execute(select(memory.c.category).where(*has_one).distinct())
        return {each: each for each in held.scalars()}
    names: dict[str, str] = {}
    examples = select(memory.c.category, func.min(memory.c.memory_id), func.max(memory.c.memory_id))
    for digest, *ids in connection.execute(examples.where(*has_one).group_by(memory.c.category)).all():
        rows = select(memory.c.memory_id, memory.c.sealed).where(memory.c.owner == owner, memory.c.memory_id.in_(ids))
        for row in connection.execute(rows):
            if (opened := searched(encryption, owner, row.memory_id, _NOTHING, row.sealed)) is not None:
                names[digest] = opened[1]
    return names


def stored_as(connection: Connection, owner: OwnerKey, names: Collection[str]) -> list[str]:
    """The spellings in the column of these names, which are given as `plain` has them."""
    return [stored for stored, name in spellings(connection, owner).items() if plain(name) in names]


def recategorize(connection: Connection, owner: OwnerKey, name: str, category: str | None) -> int:
    """Gives the memories of the category `name`, in whatever state, another one or none; how many were changed.

    What they say stays as it was said when it was said: only their revisions rise. Damaged ones stay as they are.
    """
    stored = stored_as(connection, owner, {plain(name)})
    held = select(memory.c.memory_id).where(memory.c.owner == owner)
    ids = [
        each
        for part in in_parts(stored)
        for each in connection.execute(held.where(memory.c.category.in_(part))).scalars()
    ]
    if not ids:
        return 0
    number, _ = begin_change(connection, owner, len(ids))
    changed: list[str] = []
    for part in in_parts(ids):
        changed += _part(connection, owner, part, category, number - len(ids) + 1 + len(changed))
    record_all(connection, [Done("memory.changed", owner, each) for each in changed])
    return len(changed)


def _part(
    connection: Connection, owner: OwnerKey, ids: Collection[str], category: str | None, change: int
) -> list[str]:
    encryption = encryption_of(connection)
    rows = all_rows(connection, select(*STORED).where(memory.c.owner == owner, memory.c.memory_id.in_(ids)))
    written: list[dict[str, Any]] = []
    for row in rows:
        made = as_memory(row, encryption)
        if made is None:
            continue
        after = made.model_copy(update={"category": category, "revision": made.revision + 1})
        values = as_values(after, encryption) | {"change": change + len(written)}
        del values["owner"], values["memory_id"]
        written.append({f"new_{name}": value for name, value in values.items()} | {"of_id": made.id})
    if written:
        columns: dict[str, Any] = {name.removeprefix("new_"): bindparam(name) for name in written[0] if name != "of_id"}
        here = (memory.c.owner == owner, memory.c.memory_id == bindparam("of_id"))
        connection.execute(update(memory).where(*here).values(columns), written)
    return [each["of_id"] for each in written]
