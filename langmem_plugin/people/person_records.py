"""Records of what is known of a person besides what they said: identifiers, settings and name."""

import contextlib
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from langmem_plugin.database.encryption.encrypted_columns import PERSON_NAME, EncryptedColumn, Key
from langmem_plugin.database.owners import person_of
from langmem_plugin.database.people_tables import identifier as identifier_table
from langmem_plugin.database.people_tables import person as person_table
from langmem_plugin.database.people_tables import person_name as name_table
from langmem_plugin.database.schema import put
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log
from langmem_plugin.people import links

log = event_log(__name__)


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


def name_of(connection: Connection, person: str) -> str | None:
    """Return the name that an operator gave to the person."""
    stored = connection.execute(select(name_table.c.name).where(name_table.c.person == person)).scalar()
    try:
        return PERSON_NAME.decrypted(connection, (person,), stored) or None
    except DecryptionRefused:
        log.warning("person.name_unreadable", extra={"person": masked(person)})
        return None


def keep_name(connection: Connection, person: str, name: str | None) -> None:
    """Store the name in place of the one before; None takes it away."""
    if name is None:
        connection.execute(delete(name_table).where(name_table.c.person == person))
        return
    given = {"name": PERSON_NAME.encrypted(connection, (person,), name)}
    put(connection, name_table, {"person": person}, given)


def named_like(connection: Connection, words: str) -> list[str]:
    """Return the keys of the people whose name has these words in it, in any letter case."""
    rows = connection.execute(select(name_table))
    return [row.person for row in rows if has_words(connection, PERSON_NAME, (row.person,), row.name, words)]


def has_words(connection: Connection, column: EncryptedColumn, key: Key, name: str | None, words: str) -> bool:
    """Tell whether a stored name has these words in it, in any letter case."""
    with contextlib.suppress(DecryptionRefused):  # damaged, or its key is not here: nobody is found by it
        return words.casefold() in (column.decrypted(connection, key, name) or "").casefold()
    return False


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
    put(connection, person_table, {"person": person}, wanted)
    return True
