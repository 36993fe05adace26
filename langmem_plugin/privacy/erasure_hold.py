"""Hold all rows of an erased person out of the tables, byte for byte, and put them back unchanged."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import ormsgpack
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Table,
    Text,
    and_,
    cast,
    column,
    delete,
    insert,
    not_,
    or_,
    select,
    type_coerce,
    update,
)
from sqlalchemy import table as untyped
from sqlalchemy.types import NullType

from langmem_plugin.conversation.storage.codec import compress, decompress
from langmem_plugin.conversation.turns.turn_queue import line
from langmem_plugin.database.conversation_tables import acknowledged, incoming, media, session, thread_owner, turn
from langmem_plugin.database.memory_tables import memory_index
from langmem_plugin.database.operations_tables import held_file, held_row
from langmem_plugin.database.people_tables import identifier, link_attempt, link_code, merge, new_link
from langmem_plugin.database.personal_tables import personal_tables, rows_of
from langmem_plugin.database.schema import Json, upsert
from langmem_plugin.identifiers import OwnerKey

Row = Sequence[Any]

_AT_ONCE = 200
_FOR_A_WHILE = frozenset({acknowledged, memory_index, link_code, link_attempt, new_link})
"""Tables whose rows are deleted and not put back: an incoming message has been answered, an index is built anew, a code
is valid for minutes, and somebody who is back is not new.
"""
_MAY_BE_TAKEN = frozenset({identifier, merge, thread_owner})
"""Tables in which a row that came meanwhile stays: an identifier that is somebody else's by now."""


def keys_of(connection: Connection, identifiers: Sequence[str]) -> list[OwnerKey]:
    """Return the person's identifiers, and the conversations on a server that are theirs."""
    mine = select(thread_owner.c.thread).where(rows_of([thread_owner.c.owner], identifiers))
    return list(dict.fromkeys(map(OwnerKey, [*identifiers, *connection.execute(mine).scalars()])))


def take_out(connection: Connection, erasure_id: str, keys: Collection[str]) -> dict[str, int]:
    """Hold every row of these keys and delete it from its table; return how many of each table.

    The row of a message that just waits for its turn stays: it was said after the erasure was asked.
    """
    counts: Counter[str] = Counter()
    place = 0
    for table, columns in personal_tables():
        if table is turn:
            continue
        chosen = _chosen(connection, table, columns, keys)
        if table in _FOR_A_WHILE:
            counts[table.name] += connection.execute(delete(table).where(chosen)).rowcount
            continue
        names = [each.name for each in table.columns]
        for rows in _raw_rows(connection, table, chosen):
            payload = compress("rows", ormsgpack.packb({"columns": names, "rows": rows}))
            held = {"erasure_id": erasure_id, "place": place, "of_table": table.name, "payload": payload}
            connection.execute(insert(held_row), held)
            counts[table.name] += len(rows)
            place += 1
    files = select(media.c.sha256).where(_chosen(connection, media, [media.c.thread], keys)).distinct()
    digests = connection.execute(files).scalars().all()
    if digests:
        connection.execute(insert(held_file), [{"erasure_id": erasure_id, "sha256": each} for each in digests])
    for table, columns in reversed(personal_tables()):
        if table is not turn:
            connection.execute(delete(table).where(_chosen(connection, table, columns, keys)))
    counts["files"] = len(digests)
    return {name: many for name, many in counts.items() if many}


def put_back(connection: Connection, erasure_id: str) -> None:
    """Put the rows back unchanged; the tables must have nothing under their keys.

    A column that a later version added gets the value that it gave to existing rows; a column or table that a later
    version dropped is left out.
    """
    tables = {table.name: table for table, _ in personal_tables()}
    of_it = select(held_row.c.of_table, held_row.c.payload).filter_by(erasure_id=erasure_id).order_by(held_row.c.place)
    threads: set[tuple[str, int]] = set()
    for name, payload in connection.execute(of_it.where(held_row.c.of_table.in_(tables))).all():
        table = tables[name]
        held = ormsgpack.unpackb(decompress(payload)[1])
        if isinstance(held, list):  # held by an older version, which named no columns, and had these
            held = {"columns": [each.name for each in table.columns], "rows": held}
        rows = [dict(zip(held["columns"], row, strict=True)) for row in held["rows"]]
        _insert_raw(connection, table, rows)
        if table is session:
            threads |= {(row["thread"], row["number"]) for row in rows}
    for thread, number in threads:  # what a process has cached of it may be outdated
        one = and_(session.c.thread == thread, session.c.number == number)
        connection.execute(update(session).where(one).values(next_row=session.c.next_row + 1))
    drop(connection, erasure_id)


def drop(connection: Connection, erasure_id: str) -> list[str]:
    """Drop the held rows for good; return the SHA-256 of the files that they referred to."""
    digests = connection.execute(select(held_file.c.sha256).where(held_file.c.erasure_id == erasure_id)).scalars().all()
    for table in (held_row, held_file):
        connection.execute(delete(table).where(table.c.erasure_id == erasure_id))
    return list(digests)


def is_held(connection: Connection, erasure_id: str) -> bool:
    of = (held_row, held_file)
    return any(
        connection.execute(select(each.c.erasure_id).where(each.c.erasure_id == erasure_id).limit(1)).first()
        for each in of
    )


def delete_older(connection: Connection, keys: Collection[str], asked_at: datetime) -> None:
    """Delete what was in progress when the erasure was asked."""
    if keys:
        mine = and_(rows_of([incoming.c.thread], keys), incoming.c.received_at <= asked_at)
        connection.execute(delete(incoming).where(mine))


def left_of(connection: Connection, keys: Collection[str]) -> dict[str, int]:
    """Return how many rows of these keys each table has."""
    found: dict[str, int] = {}
    for table, columns in personal_tables():
        if table is turn:
            continue  # turns of those who wait now
        many = len(connection.execute(select(columns[0]).where(rows_of(columns, keys))).all())
        if many:
            found[table.name] = many
    return found


def _chosen(
    connection: Connection, table: Table, columns: Sequence[Column[Any]], keys: Collection[str]
) -> ColumnElement[bool]:
    chosen = rows_of(columns, keys)
    if table is not incoming:
        return chosen
    waiting = {ticket for key in keys for ticket in line(connection, key)}
    is_on_its_way = and_(incoming.c.reply.is_(None), incoming.c.ticket.in_(waiting))
    return and_(chosen, or_(incoming.c.ticket.is_(None), not_(is_on_its_way)))


def _raw_rows(connection: Connection, table: Table, chosen: ColumnElement[bool]) -> Iterator[list[Row]]:
    """Return the rows as the database has them, not as their columns' types read them: encrypted values stay
    encrypted.
    """
    on_server = connection.dialect.name == "postgresql"
    raw = [
        cast(each, Text) if on_server and isinstance(each.type, Json) else type_coerce(each, NullType())
        for each in table.columns
    ]
    order = [each.asc() for each in table.primary_key.columns]
    wanted = select(*raw).where(chosen).order_by(*order).execution_options(yield_per=_AT_ONCE)
    for part in connection.execute(wanted).partitions(_AT_ONCE):
        yield [[bytes(each) if isinstance(each, memoryview) else each for each in row] for row in part]


def _insert_raw(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    names = [name for name in rows[0] if name in table.columns] if rows else []
    bare = untyped(table.name, *(column(name) for name in names))
    values = [{name: row[name] for name in names} for row in rows]
    inserted = upsert(connection, bare).on_conflict_do_nothing() if table in _MAY_BE_TAKEN else insert(bare)  # type: ignore[arg-type] # a table without types
    connection.execute(inserted, values)
