"""The links of identifiers to people. An identifier without a link is its own person's key and costs no row."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select, text, update

from langmem_plugin.conversation.sessions import session_move
from langmem_plugin.database import Database
from langmem_plugin.database.memory_tables import memory_owner, standing_instruction
from langmem_plugin.database.owners_and_erasures import person_of, was_erased
from langmem_plugin.database.people_tables import access_token, merge, new_link
from langmem_plugin.database.people_tables import identifier as table
from langmem_plugin.database.people_tables import person as settings_of_person
from langmem_plugin.database.schema import put
from langmem_plugin.identifiers import IdentifierKey, OwnerKey, identified, refuse_unknown

_KNOWN = (
    *session_move.THREADS,
    memory_owner.c.owner,
    standing_instruction.c.owner,
    settings_of_person.c.person,
    table.c.person,
)
NEW_FOR = timedelta(days=1)
"""The time in which a new link can be taken back before it could cause any loss."""


@contextmanager
def alone(database: Database, *, patience: timedelta | None = None) -> Iterator[Connection]:
    """Begin a transaction in which nobody else links, merges or unlinks; SQLite has one writer anyway."""
    with database.write(patience=patience) as connection:
        if not database.is_sqlite:
            # The lock is one of the schema: two tenants of one database do not wait for each other.
            connection.execute(
                text("SELECT pg_advisory_xact_lock(hashtextextended('langmem people ' || current_schema(), 0))")
            )
        yield connection


def identifiers_of(connection: Connection, person: str) -> list[OwnerKey]:
    """Return the person's key, and then what was linked to it, the first linked first."""
    return [OwnerKey(person), *(OwnerKey(each) for each, _ in linked_to(connection, person))]


def linked_to(connection: Connection, person: str) -> list[tuple[str, datetime]]:
    """Return the identifiers linked to the person, with the time; the first linked first."""
    columns = (table.c.identifier, table.c.linked_at)
    mine = select(*columns).where(table.c.person == person)
    rows = connection.execute(mine.order_by(table.c.linked_at, table.c.identifier))
    return [(row.identifier, row.linked_at) for row in rows]


def is_known(connection: Connection, person: str) -> bool:
    """Tell whether anything is stored under this key."""
    return any(connection.execute(select(each).where(each == person).limit(1)).first() for each in _KNOWN)


def typed(database: Database, who: str | int) -> IdentifierKey:
    """Return the key of an identifier that somebody typed, or a program put into a header: a mistyped one makes no new
    person.

    Raises InvalidInput for one of no known kind, unless something is, or was, stored under it.
    """
    found = identified(who, database.region)
    if found.kind == "opaque":
        with database.read() as connection:
            known = is_known(connection, person_of(connection, found.key)) or was_erased(connection, found.key)
        if not known:
            refuse_unknown(found)
    return IdentifierKey(found.key)


def add(connection: Connection, person: str, identifier: str, now: datetime) -> None:
    connection.execute(insert(table).values(identifier=identifier, person=person, linked_at=now))


def keep_identifier(connection: Connection, person: str, identifier: str, linked_at: datetime) -> bool | None:
    """Link the identifier and tell whether it is new; None, with nothing done, where it is somebody else's. See
    `alone`.
    """
    if person_of(connection, identifier) == person:
        return False
    if person_of(connection, identifier) != identifier or is_known(connection, identifier):
        return None
    add(connection, person, identifier, linked_at)
    return True


def note_new(connection: Connection, identifier: str, now: datetime) -> None:
    """Note that the identifier was linked by a code just now."""
    connection.execute(delete(new_link).where(new_link.c.linked_at <= now - NEW_FOR))
    put(connection, new_link, {"identifier": identifier}, {"linked_at": now})


def is_new(connection: Connection, person: str, now: datetime) -> bool:
    """Tell whether one of the person's identifiers was linked by a code less than a day ago."""
    theirs = new_link.c.identifier.in_(identifiers_of(connection, person))
    found = select(new_link.c.identifier).where(theirs, new_link.c.linked_at > now - NEW_FOR)
    return connection.execute(found.limit(1)).first() is not None


def hand_over(connection: Connection, source: str, target: str, only: list[str] | None = None) -> list[str]:
    """Link to `target` the identifiers that were linked to `source`, or `only` these; return them."""
    chosen = [table.c.person == source]
    if only is not None:
        chosen.append(table.c.identifier.in_(only))
    handed = connection.execute(update(table).where(*chosen).values(person=target).returning(table.c.identifier))
    return list(handed.scalars())


def rename(connection: Connection, old: str, new: str) -> None:
    """Rename an identifier in tokens, and in the notes of merges on where things came from."""
    connection.execute(update(access_token).where(access_token.c.identifier == old).values(identifier=new))
    connection.execute(update(merge).where(merge.c.other == old).values(other=new))


def remove(connection: Connection, identifier: str, person: str) -> None:
    """Remove a link, and what the person's merges tell of the identifier."""
    connection.execute(delete(new_link).where(new_link.c.identifier == identifier))
    connection.execute(delete(table).where(table.c.identifier == identifier, table.c.person == person))
    theirs = select(merge.c.merge_id, merge.c.moved).where(merge.c.person == person)
    for merge_id, moved in connection.execute(theirs).all():
        if identifier in moved.get("identifiers", ()):
            left = {**moved, "identifiers": [each for each in moved["identifiers"] if each != identifier]}
            this = merge.c.person == person, merge.c.merge_id == merge_id
            connection.execute(update(merge).where(*this).values(moved=left))
