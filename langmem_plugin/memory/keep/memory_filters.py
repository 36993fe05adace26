"""Filters as SQL: which of an owner's memories may answer."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, false, or_

from langmem_plugin.database.encryption import encryption_of
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.schema import in_parts
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep import categories
from langmem_plugin.memory.keep.categories import names_within, stored_as
from langmem_plugin.memory.keep.changes_and_checksums import as_stored
from langmem_plugin.memory.keep.memory_row_mapping import valid
from langmem_plugin.memory.memory_types import Filter, Status, as_tags


def matching(
    connection: Connection, owner: OwnerKey | None, where: Filter, statuses: Sequence[Status], valid_at: datetime | None
) -> list[ColumnElement[bool]]:
    """Return a WHERE for one owner's memories; with `valid_at` the expired are left out.

    Categories in any spelling, with those below them. Without an owner, for operators only, it is for whoever has
    stored in the sessions, and asks for no category and no tag.
    """
    fitting: list[ColumnElement[bool]] = [memory.c.status.in_(statuses)]
    for column, wanted in (
        (memory.c.fact_type, where.fact_types),
        (memory.c.session_id, where.sessions),
        (memory.c.source_type, where.sources),
    ):
        if wanted:
            fitting.append(column.in_(wanted))
    if where.private is not None:
        fitting.append(memory.c.private.is_(where.private))
    if where.created_after is not None:
        fitting.append(memory.c.created_at >= where.created_after)
    if where.created_before is not None:
        fitting.append(memory.c.created_at < where.created_before)
    if valid_at is not None:
        fitting.append(valid(valid_at))
    if owner is None:
        return fitting
    encryption = encryption_of(connection)
    if where.categories:
        names = names_within(categories.listed(connection, owner), where.categories)
        given = as_stored(encryption, owner, memory.c.category, where.categories)
        stored = list({*given, *stored_as(connection, owner, names)})
        fitting.append(or_(false(), *(memory.c.category.in_(part) for part in in_parts(stored))))
    for tag in as_tags(where.tags):
        found = as_stored(encryption, owner, memory.c.tags, [tag])
        fitting.append(or_(false(), *(memory.c.tags.contains(f"\n{each}\n", autoescape=True) for each in found)))
    return [memory.c.owner == owner, *fitting]
