"""Stop a writer that began before an erasure from writing after it: also in another process, whatever its clock."""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, func, select

from langmem_plugin.database.audit_trail import keyed_hash
from langmem_plugin.database.engine import Database
from langmem_plugin.database.prepared_statements import Prepared
from langmem_plugin.database.schema import put
from langmem_plugin.database.upkeep_tables import erased_key as table
from langmem_plugin.database.upkeep_tables import erasure
from langmem_plugin.errors import ErasedMeanwhile

_NEWEST = Prepared(select(func.max(table.c.number)))
_NUMBER = Prepared(select(table.c.number).where(table.c.hash == bindparam("of_key")))


def erasures_seen(database: Database) -> int:
    """Return the number of the newest erasure, to be read before long work."""
    with database.read() as connection:
        return newest_erasure(connection)


def newest_erasure(connection: Connection) -> int:
    """Return the number of the newest erasure, read in a transaction; 0 where nobody was ever erased."""
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
    of = select(erasure.c.state).join(table, table.c.number == erasure.c.number)
    state = connection.execute(of.where(table.c.hash == keyed_hash(connection, key))).scalar()
    return state not in {None, "restored"}


def note_erased(connection: Connection, keys: Iterable[str], number: int) -> None:
    for key in keys:
        put(connection, table, {"hash": keyed_hash(connection, key)}, {"number": number})
