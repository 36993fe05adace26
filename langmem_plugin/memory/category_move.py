"""Moves one owner's categories to another and back: a name that both have is one category meanwhile."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select, update

from langmem_plugin.database.memory_tables import memory_category as table
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory import category_rows
from langmem_plugin.memory.category_rows import Category
from langmem_plugin.memory.models import plain

Record = dict[str, Any]
"""`categories`: the old ids by the new; `categories_of_both`: by the old id what took its place, with its color, when
it was made and its parent."""


def move(connection: Connection, source: OwnerKey, target: OwnerKey) -> Record:
    """All of `source` are `target`'s; what moved. Both may have more than 500 together: none is left out."""
    arriving, there = category_rows.listed(connection, source), category_rows.listed(connection, target)
    names = {plain(each.name): each for each in there}
    taken = set(_ids(connection, target))
    ids: dict[str, str] = {}
    record: Record = {"categories": {}, "categories_of_both": {}}
    made: list[Category] = []
    for each in arriving:
        old, parent = each.category_id, None if each.parent_id is None else ids.get(each.parent_id)
        if (same := names.get(plain(each.name))) is not None:
            ids[old] = same.category_id
            beside = [each.color, each.created_at.isoformat(), each.parent_id]
            record["categories_of_both"][old] = [same.category_id, *beside]
            continue
        new = str(uuid.uuid4()) if old in taken else old
        ids[old] = new
        record["categories"][new] = old
        made.append(replace(each, category_id=new, parent_id=parent))
    connection.execute(delete(table).where(table.c.owner == source, table.c.category_id.in_(ids)))
    category_rows.store(connection, target, made)
    for damaged in _ids(connection, source):
        if damaged not in taken:
            _handed(connection, source, target, damaged)
            record["categories"][damaged] = damaged
    return record


def take_back(connection: Connection, record: Mapping[str, Any], holder: OwnerKey, owner: OwnerKey) -> None:
    """What moved and `holder` still has is the owner's again, and what both had is there twice again.

    A category whose parent does not come along belongs to the nearest above it that does, else it is at the top.
    """
    held = {each.category_id: each for each in category_rows.listed(connection, holder)}
    there = {plain(each.name) for each in category_rows.listed(connection, owner)}
    taken = set(_ids(connection, owner))
    moved: Mapping[str, str] = record.get("categories", {})
    back = {
        new: old
        for new, old in moved.items()
        if old not in taken and new in held and plain(held[new].name) not in there
    }
    of_both = {
        old: each
        for old, each in record.get("categories_of_both", {}).items()
        if old not in taken and each[0] in held and plain(held[each[0]].name) not in there
    }
    named_there = back | {each[0]: old for old, each in of_both.items()}
    made = {
        old: replace(held[new], category_id=old, parent_id=_above(held, new, named_there)) for new, old in back.items()
    }
    for old, (same, color, created_at, parent) in of_both.items():
        copy = replace(held[same], category_id=old, color=color, created_at=datetime.fromisoformat(created_at))
        made[old] = replace(copy, parent_id=None)
        if parent in made and not _is_below(made, parent, old):
            made[old] = replace(made[old], parent_id=parent)
    stays = {each: each for each in held if each not in back}
    left = [replace(held[each], parent_id=_above(held, each, stays)) for each in stays if held[each].parent_id in back]
    gone = [*back, *(each.category_id for each in left)]
    connection.execute(delete(table).where(table.c.owner == holder, table.c.category_id.in_(gone)))
    category_rows.store(connection, holder, left)
    category_rows.store(connection, owner, made.values())
    unread = set(_ids(connection, holder)) - held.keys()
    for damaged in unread & moved.keys():
        if damaged not in taken and damaged not in made:
            _handed(connection, holder, owner, damaged)


def _above(held: Mapping[str, Category], category_id: str, names: Mapping[str, str]) -> str | None:
    """The name, by `names`, of the nearest above it that has one."""
    above = held[category_id].parent_id
    while above is not None and above not in names:
        above = held[above].parent_id if above in held else None
    return None if above is None else names[above]


def _is_below(made: Mapping[str, Category], category_id: str, top: str) -> bool:
    at: str | None = category_id
    while at is not None and at != top:
        at = made[at].parent_id if at in made else None
    return at == top


def _ids(connection: Connection, owner: OwnerKey) -> list[str]:
    return list(connection.execute(select(table.c.category_id).where(table.c.owner == owner)).scalars())


def _handed(connection: Connection, source: OwnerKey, target: OwnerKey, category_id: str) -> None:
    """A damaged one, as it is: given back, it can be restored."""
    here = (table.c.owner == source, table.c.category_id == category_id)
    connection.execute(update(table).where(*here).values(owner=target))
