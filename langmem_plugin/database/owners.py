"""The keys of owners: the one place where an identifier, in any form, becomes an owner's key."""

from sqlalchemy import Connection, bindparam, select

from langmem_plugin.database.engine import Database
from langmem_plugin.database.people_tables import identifier as table
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.identifiers import OwnerKey, is_group, normalised


def owner_key(database: Database, who: str | int) -> OwnerKey:
    """Return the key of the person, group or scope: every verb that takes an owner calls this first.

    `who` is any form of any of their identifiers; a value that is an OwnerKey already is returned unchanged. Raises
    InvalidInput for one that names nobody, and StoreUnavailable.
    """
    if isinstance(who, OwnerKey):
        return who
    return person_in(database, normalised(who, database.region))


def person_in(database: Database, identifier: str) -> OwnerKey:
    """Return what `person_of` does, in a read of its own."""
    if is_group(identifier):
        return OwnerKey(identifier)
    return database.select(lambda connection: person_of(connection, identifier))


def person_of(connection: Connection, identifier: str) -> OwnerKey:
    """Return the key of the person with this identifier, which is given in its key form."""
    found = _PERSON.first(connection, {"of_identifier": identifier})
    return OwnerKey(identifier) if found is None else OwnerKey(found[0])


_PERSON = Prepared(select(table.c.person).where(table.c.identifier == bindparam("of_identifier")))
