"""The audit log in the database: new entries are chained, old ones are pruned behind an anchor."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, select, update

from langmem_plugin.database import Database
from langmem_plugin.database.schema import upsert
from langmem_plugin.database.upkeep_tables import audit, audit_mark
from langmem_plugin.privacy.audit_chain import Entry, Mark, chained

KEPT_FOR = timedelta(days=90)
_AT_ONCE = 1_000
_HEAD, _ANCHOR = "head", "anchor"
_COLUMNS = (
    audit.c.entry,
    audit.c.at,
    audit.c.actor,
    audit.c.action,
    audit.c.subject,
    audit.c.owner,
    audit.c.content,
    audit.c.position,
    audit.c.hash,
)


def chain_waiting(database: Database, now: datetime) -> int:
    """Chain what was noted since the last time, in the order of its numbers; return how many. One process at a time
    may.
    """
    done = 0
    while True:
        with database.write() as connection:
            rows = connection.execute(
                select(*_COLUMNS).where(audit.c.position.is_(None)).order_by(audit.c.entry).limit(_AT_ONCE)
            ).all()
            if not rows:
                return done
            made = list(chained((_entry(row, Mark()) for row in rows), mark(connection, _HEAD)))
            for row, entry in zip(rows, made, strict=True):
                mine = update(audit).where(audit.c.entry == row.entry)
                connection.execute(mine.values(position=entry.position, hash=entry.hash))
            set_mark(connection, _HEAD, Mark(made[-1].position, made[-1].hash), now)
        done += len(made)


def prune(database: Database, now: datetime) -> int:
    """Delete what is older than 90 days; the hash of the last deleted entry is kept, and proves the rest."""
    with database.write() as connection:
        old = select(*_COLUMNS).where(audit.c.position.is_not(None), audit.c.at < now - KEPT_FOR)
        last = connection.execute(old.order_by(audit.c.position.desc()).limit(1)).first()
        if last is None:
            return 0
        set_mark(connection, _ANCHOR, Mark(last.position, bytes(last.hash)), now)
        return connection.execute(delete(audit).where(audit.c.position <= last.position)).rowcount


def entries(connection: Connection, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
    """Return the chained entries in their order, from behind this position on."""
    previous = hash_at(connection, after)
    wanted = select(*_COLUMNS).where(audit.c.position > after).order_by(audit.c.position).limit(limit)
    for row in connection.execute(wanted):
        entry = _entry(row, Mark(row.position - 1, previous))
        previous = entry.hash
        yield entry


def newest(connection: Connection, limit: int) -> Sequence[Entry]:
    """Return the last entries, also those that are not chained yet (position 0), the newest last."""
    rows = connection.execute(select(*_COLUMNS).order_by(audit.c.entry.desc()).limit(limit)).all()
    return [_entry(row, Mark((row.position or 1) - 1)) for row in reversed(rows)]


def waiting(connection: Connection) -> int:
    """Return how many entries are not chained yet."""
    return len(connection.execute(select(audit.c.entry).where(audit.c.position.is_(None))).all())


def anchor(connection: Connection) -> Mark:
    """Return the link that the first entry of the table follows from."""
    return mark(connection, _ANCHOR)


def head(connection: Connection) -> Mark:
    return mark(connection, _HEAD)


def mark(connection: Connection, name: str) -> Mark:
    return mark_if_there(connection, name) or Mark()


def mark_if_there(connection: Connection, name: str) -> Mark | None:
    row = connection.execute(select(audit_mark).where(audit_mark.c.name == name)).first()
    return None if row is None else Mark(row.position, bytes(row.hash))


def set_mark(connection: Connection, name: str, at: Mark, now: datetime) -> None:
    values: dict[str, Any] = {"position": at.position, "hash": at.hash, "noted_at": now}
    inserted = upsert(connection, audit_mark).values(name=name, **values)
    connection.execute(inserted.on_conflict_do_update(index_elements=["name"], set_=values))


def hash_at(connection: Connection, position: int) -> bytes:
    """Return the hash of the entry at this position in the table; that of the beginning if there is no entry."""
    begin = anchor(connection)
    if position <= begin.position:
        return begin.hash
    found = connection.execute(select(audit.c.hash).where(audit.c.position == position)).scalar()
    return Mark().hash if found is None else bytes(found)


def _entry(row: Any, after: Mark) -> Entry:
    return Entry(
        row.position or 0,
        row.at,
        row.actor,
        row.action,
        row.subject,
        None if row.owner is None else bytes(row.owner).hex(),
        None if row.content is None else bytes(row.content).hex(),
        after.hash,
        b"" if row.hash is None else bytes(row.hash),
    )
