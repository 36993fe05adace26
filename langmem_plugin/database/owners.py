"""An owner's key: the one place where an identifier, in whatever form it comes, becomes an owner's key."""

from sqlalchemy import Connection, bindparam, select

from langmem_plugin.database.engine import Database
from langmem_plugin.database.people_tables import identifier as table
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.identifiers import OwnerKey, is_group, normalised


def owner_key(database: Database, who: str | int) -> OwnerKey:
    """The key of the person, group or scope: every verb that takes an owner asks this first.

    `who` is any form of any identifier of theirs; what is an owner's key already stays as it is. Raises InvalidInput
    for one that names nobody, and StoreUnavailable.
    """
    if isinstance(who, OwnerKey):
        return who
    return person_in(database, normalised(who, database.region))


def person_in(database: Database, identifier: str) -> OwnerKey:
    """`person_of` in a read of its own."""
    if is_group(identifier):
        return OwnerKey(identifier)
    return database.select(lambda connection: person_of(connection, identifier))


def person_of(connection: Connection, identifier: str) -> OwnerKey:
    """The key of the person whose identifier this is, which is a key already."""
    found = _PERSON.first(connection, {"of_identifier": identifier})
    return OwnerKey(identifier) if found is None else OwnerKey(found[0])


_PERSON = Prepared(select(table.c.person).where(table.c.identifier == bindparam("of_identifier")))
