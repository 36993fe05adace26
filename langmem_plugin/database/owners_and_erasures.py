"""The keys of owners: the one place where an identifier becomes an owner's key; and the owners who were erased.

A writer that began before an erasure writes nothing after it: also in another process, whatever its clock.
"""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, func, select

from langmem_plugin.database.audit_recording import keyed_hash
from langmem_plugin.database.engine import Database
from langmem_plugin.database.operations_tables import erased_key, erasure
from langmem_plugin.database.people_tables import identifier as table
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.schema import put
from langmem_plugin.errors import ErasedMeanwhile
from langmem_plugin.identifiers import OwnerKey, is_group, normalised

_PERSON = Prepared(select(table.c.person).where(table.c.identifier == bindparam("of_identifier")))
_NEWEST = Prepared(select(func.max(erased_key.c.number)))
_NUMBER = Prepared(select(erased_key.c.number).where(erased_key.c.hash == bindparam("of_key")))


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


def erasures_seen(database: Database) -> int:
    """Return the number of the newest erasure, to be read before long work."""
    return database.select(newest_erasure)


def newest_erasure(connection: Connection) -> int:
    """Return the number of the newest erasure; 0 where nobody was ever erased."""
    return int((_NEWEST.first(connection, {}) or [0])[0] or 0)


def refuse_erased(connection: Connection, owner: str, seen: int) -> None:
    """Raise ErasedMeanwhile if the owner was erased after erasure `seen`; nothing of the transaction is then written.

    Call it at the end of a transaction that has taken the owner's change number, or is `one_at_a_time` for the thread:
    an erasure does both, so one of the two has waited for the other.
    """
    erased = _NUMBER.first(connection, {"of_key": keyed_hash(connection, owner)})
    if erased is not None and erased[0] > seen:
        raise ErasedMeanwhile("they asked to be erased while this was on its way: nothing is stored; tell it anew")


def was_erased(connection: Connection, key: str) -> bool:
    return _NUMBER.first(connection, {"of_key": keyed_hash(connection, key)}) is not None


def is_erased(connection: Connection, key: str) -> bool:
    """Tell whether the owner or thread was erased, and that was not undone: data from elsewhere must then not be
    stored.
    """
    of = select(erasure.c.state).join(erased_key, erased_key.c.number == erasure.c.number)
    state = connection.execute(of.where(erased_key.c.hash == keyed_hash(connection, key))).scalar()
    return state not in {None, "restored"}


def note_erased(connection: Connection, keys: Iterable[str], number: int) -> None:
    for key in keys:
        put(connection, erased_key, {"hash": keyed_hash(connection, key)}, {"number": number})
