"""Deletes and copies whole stretches of history without taking away what the rest still shares."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, literal, select

from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.storage import checkpoint_format, codec
from langmem_plugin.conversation.storage.checkpoint_format import Large, Stored
from langmem_plugin.conversation.storage.checkpoint_store import History
from langmem_plugin.database.conversation_tables import checkpoint, media, message, pending, session, value

_SHARED_TABLES = (message, value, media, checkpoint, pending)


def threads_of_runs(connection: Connection, run_ids: Sequence[str]) -> dict[tuple[str, int], dict[str, set[str]]]:
    """(thread, session number) → namespace → ids of the checkpoints these runs wrote."""
    found: dict[tuple[str, int], dict[str, set[str]]] = {}
    rows = connection.execute(
        select(checkpoint.c.thread, checkpoint.c.session, checkpoint.c.namespace, checkpoint.c.checkpoint_id).where(
            checkpoint.c.run_id.in_(run_ids)
        )
    )
    for thread, number, namespace, checkpoint_id in rows:
        found.setdefault((thread, number), {}).setdefault(namespace, set()).add(checkpoint_id)
    return found


def drop(history: History, doomed: dict[str, set[str]]) -> None:
    """Deletes checkpoints (by namespace) with their writes, then every row that nothing refers to any more."""
    session_rows.disturb(history.connection, history.session)
    for namespace, ids in doomed.items():
        history.detach(namespace, ids)
        for table in (pending, checkpoint):
            history.connection.execute(
                delete(table).where(
                    table.c.thread == history.session.thread,
                    table.c.session == history.session.number,
                    table.c.namespace == namespace,
                    table.c.checkpoint_id.in_(ids),
                )
            )
    _sweep(history)


def all_but_latest(history: History) -> dict[str, set[str]]:
    """What `keep_latest` drops: everything but each namespace's newest checkpoint and, for channels that are
    stored as deltas, the ancestors their value is rebuilt from.
    """
    doomed: dict[str, set[str]] = {}
    for namespace, checkpoint_id in history.ids(None, None):
        doomed.setdefault(namespace, set()).add(checkpoint_id)
    for namespace, ids in doomed.items():
        newest = history.load(namespace, None)
        if newest is not None:
            ids.difference_update(kept.checkpoint_id for kept in _needed(history, namespace, newest))
    return doomed


def copy(connection: Connection, source: str, target: str) -> None:
    """Copies every session of a thread, under numbers and ids of their own."""
    for offset, original in enumerate(session_rows.all_of(connection, source)):
        twin = session_rows.copy_of(original, target, offset)
        if twin.ended_at is None:
            session_rows.end(connection, target, twin.last_active)
        columns: dict[str, ColumnElement[Any]] = {
            "thread": literal(target),
            "number": literal(twin.number),
            "session_id": literal(twin.session_id),
        }
        _insert_from(connection, session, columns, session.c.number == original.number, source)
        for table in _SHARED_TABLES:
            columns = {"thread": literal(target), "session": literal(twin.number)}
            _insert_from(connection, table, columns, table.c.session == original.number, source)


def _insert_from(
    connection: Connection,
    table: Table,
    changed: Mapping[str, ColumnElement[Any]],
    where: ColumnElement[bool],
    source: str,
) -> None:
    names = [column.name for column in table.columns]
    columns = [changed.get(name, table.c[name]) for name in names]
    connection.execute(insert(table).from_select(names, select(*columns).where(table.c.thread == source, where)))


def _needed(history: History, namespace: str, newest: Stored) -> Iterable[Stored]:
    yield newest
    metadata = codec.load(history.serde, newest.metadata)
    missing = set(metadata.get("counters_since_delta_snapshot") or ()) - newest.channels.keys()
    for ancestor in history.ancestors(namespace, newest):
        if not missing:
            return
        yield ancestor
        missing -= ancestor.channels.keys()


def _sweep(history: History) -> None:
    messages: set[int] = set()
    values: set[int] = set()
    for namespace, checkpoint_id in history.ids(None, None):
        stored = history.load(namespace, checkpoint_id)
        held = [*stored.channels.values()] if stored else []
        held += [write.held for _, write in history.writes(namespace, checkpoint_id)]
        for part in held:
            messages.update(checkpoint_format.rows_in(history.serde, part))
            if isinstance(part, Large):
                values.add(part.row)
    for table, used in ((message, messages), (value, values)):
        here = (table.c.thread == history.session.thread, table.c.session == history.session.number)
        stored_rows = set(history.connection.execute(select(table.c.row).where(*here)).scalars())
        for unused in _batches(sorted(stored_rows - used)):
            history.connection.execute(delete(table).where(*here, table.c.row.in_(unused)))


def _batches(rows: list[int], size: int = 500) -> Iterable[list[int]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
