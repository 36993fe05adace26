"""Records of what is known of a person besides what they said: identifiers, merges, settings; read and stored again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from langmem_plugin.database.owners import person_of
from langmem_plugin.database.people_tables import identifier as identifier_table
from langmem_plugin.database.people_tables import merge as merge_table
from langmem_plugin.database.people_tables import person as person_table
from langmem_plugin.database.schema import insert_unless_there, upsert
from langmem_plugin.people import links


@dataclass(frozen=True, slots=True)
class MergeRecord:
    """A merge as it is stored; `moved` is what `People.undo` needs."""

    merge_id: str
    other: str
    merged_at: datetime
    moved: Mapping[str, Any]


def identifiers(connection: Connection, person: str) -> list[tuple[str, datetime]]:
    """Return the identifiers linked to the person, with the time; the first linked first."""
    columns = (identifier_table.c.identifier, identifier_table.c.linked_at)
    mine = select(*columns).where(identifier_table.c.person == person)
    rows = connection.execute(mine.order_by(identifier_table.c.linked_at, identifier_table.c.identifier))
    return [(row.identifier, row.linked_at) for row in rows]


def keep_identifier(connection: Connection, person: str, identifier: str, linked_at: datetime) -> bool | None:
    """Link the identifier and tell whether it is new; None, with nothing done, where it is somebody else's. See
    `links.alone`.
    """
    if person_of(connection, identifier) == person:
        return False
    if person_of(connection, identifier) != identifier or links.is_known(connection, identifier):
        return None
    connection.execute(insert(identifier_table).values(identifier=identifier, person=person, linked_at=linked_at))
    return True


def merges(connection: Connection, person: str) -> list[MergeRecord]:
    mine = select(merge_table).where(merge_table.c.person == person)
    rows = connection.execute(mine.order_by(merge_table.c.merged_at, merge_table.c.merge_id))
    return [MergeRecord(row.merge_id, row.other, row.merged_at, row.moved) for row in rows]


def keep_merge(connection: Connection, person: str, record: MergeRecord) -> bool:
    """Store the merge; False where one with its id exists already."""
    if connection.execute(select(merge_table).where(merge_table.c.merge_id == record.merge_id)).first() is not None:
        return False
    row = {"merge_id": record.merge_id, "other": record.other, "merged_at": record.merged_at}
    statement = insert_unless_there(merge_table, merge_table.c.merge_id)[connection.dialect.name]
    values = {"person": person, **row, "moved": dict(record.moved)}
    return connection.execute(statement, values).first() is not None


def settings(connection: Connection, person: str) -> tuple[str | None, str | None]:
    """Return (time zone, language) as they are set."""
    columns = (person_table.c.time_zone, person_table.c.language)
    row = connection.execute(select(*columns).where(person_table.c.person == person)).first()
    return (None, None) if row is None else (row.time_zone, row.language)


def keep_settings(connection: Connection, person: str, time_zone: str | None, language: str | None) -> bool:
    """Fill in what is not set; tell whether anything changed."""
    held = settings(connection, person)
    wanted = {"time_zone": held[0] or time_zone, "language": held[1] or language}
    if (wanted["time_zone"], wanted["language"]) == held:
        return False
    inserted = upsert(connection, person_table).values(person=person, **wanted)
    connection.execute(inserted.on_conflict_do_update(index_elements=["person"], set_=wanted))
    return True
