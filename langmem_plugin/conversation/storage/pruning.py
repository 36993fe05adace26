"""Deletes and copies whole stretches of history without taking away what the rest still shares."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, literal, select

from langmem_plugin.conversation.media.file_encryption import FileEncryption
from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.media.session_files import hold_files
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_move import bind_rows_anew
from langmem_plugin.conversation.storage import checkpoint_format, codec
from langmem_plugin.conversation.storage.checkpoint_format import StoredCheckpoint, StoredValue, ValueRow
from langmem_plugin.conversation.storage.checkpoint_store import CheckpointStore
from langmem_plugin.conversation.storage.session_checkpoints import SessionCheckpoints
from langmem_plugin.database.conversation_tables import (
    AT_ONCE,
    WHEN_SILENT,
    checkpoint,
    media,
    message,
    pending,
    session,
    value,
)

_One = TypeVar("_One")

_SHARED_TABLES = (message, value, media, checkpoint, pending)


def drop_runs(connection: Connection, store: CheckpointStore, run_ids: Sequence[str]) -> set[str]:
    """Deletes what these runs wrote and only they held; the names of files that their sessions need no more."""
    files: set[str] = set()
    for (thread, number), doomed in _checkpoints_of_runs(connection, run_ids).items():
        for each in session_rows.all_of(connection, thread):
            if each.number == number:
                files |= _drop(store.of(connection, each), doomed)
    return files


def keep_latest(connection: Connection, store: CheckpointStore, thread: str) -> set[str]:
    """Drops everything but each namespace's newest checkpoint and, for channels that are stored as deltas, the
    ancestors their value is rebuilt from; the names of files that the thread's sessions need no more.
    """
    files: set[str] = set()
    for each in session_rows.all_of(connection, thread):
        checkpoints = store.of(connection, each)
        files |= _drop(checkpoints, _all_but_latest(checkpoints))
    return files


def copy(connection: Connection, folder: Media, source: str, target: str) -> None:
    """Copies every session of a thread, under numbers and ids of their own. Raises DecryptionRefused."""
    originals = session_rows.all_of(connection, source, lock=True)
    hold_files(connection)  # after the sessions, as everybody who writes: two orders would wait for each other
    for offset, original in enumerate(originals):
        twin = session_rows.copy_of(connection, original, target, offset)
        if twin.ended_at is None:
            session_rows.end(connection, target, twin.last_active)
        columns: dict[str, ColumnElement[Any]] = {
            "thread": literal(target),
            "number": literal(twin.number),
            "session_id": literal(twin.session_id),
            "to_take": literal(WHEN_SILENT if twin.ended_at is None else AT_ONCE),
        }
        _insert_from(connection, session, columns, session.c.number == original.number, source)
        for table in _SHARED_TABLES:
            columns = {"thread": literal(target), "session": literal(twin.number)}
            _insert_from(connection, table, columns, table.c.session == original.number, source)
        for table in (session, *_SHARED_TABLES):
            bind_rows_anew(connection, folder, table, twin, original)


def _checkpoints_of_runs(connection: Connection, run_ids: Sequence[str]) -> dict[tuple[str, int], dict[str, set[str]]]:
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


def _drop(checkpoints: SessionCheckpoints, doomed: dict[str, set[str]]) -> set[str]:
    """Deletes checkpoints (by namespace) with their writes, then every row that nothing refers to any more.

    Returns the names of the files that the session does not refer to any more either.
    """
    session_rows.disturb(checkpoints.connection, checkpoints.session)
    for namespace, ids in doomed.items():
        checkpoints.detach(namespace, ids)
        for table in (pending, checkpoint):
            checkpoints.connection.execute(
                delete(table).where(
                    table.c.thread == checkpoints.session.thread,
                    table.c.session == checkpoints.session.number,
                    table.c.namespace == namespace,
                    table.c.checkpoint_id.in_(ids),
                )
            )
    return _sweep(checkpoints)


def _all_but_latest(checkpoints: SessionCheckpoints) -> dict[str, set[str]]:
    doomed: dict[str, set[str]] = {}
    for namespace, checkpoint_id in checkpoints.ids(None, None):
        doomed.setdefault(namespace, set()).add(checkpoint_id)
    for namespace, ids in doomed.items():
        newest = checkpoints.load(namespace, None)
        if newest is not None:
            ids.difference_update(kept.checkpoint_id for kept in _needed(checkpoints, namespace, newest))
    return doomed


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


def _needed(checkpoints: SessionCheckpoints, namespace: str, newest: StoredCheckpoint) -> Iterable[StoredCheckpoint]:
    yield newest
    metadata = codec.load(checkpoints.serde, newest.metadata)
    missing = set(metadata.get("counters_since_delta_snapshot") or ()) - newest.channels.keys()
    for ancestor in checkpoints.ancestors(namespace, newest):
        if not missing:
            return
        yield ancestor
        missing -= ancestor.channels.keys()


def _sweep(checkpoints: SessionCheckpoints) -> set[str]:
    """Deletes the rows that no checkpoint and no write refers to; the names of the files that go with them."""
    left = _values_in(checkpoints)
    messages = {row for each in left for row in checkpoint_format.rows_in(checkpoints.serde, each)}
    values = {each.row for each in left if isinstance(each, ValueRow)}
    of_session = (checkpoints.session.thread, checkpoints.session.number)
    for table, used in ((message, messages), (value, values)):
        here = (table.c.thread == of_session[0], table.c.session == of_session[1])
        stored_rows = set(checkpoints.connection.execute(select(table.c.row).where(*here)).scalars())
        for unused in _batches(sorted(stored_rows - used)):
            checkpoints.connection.execute(delete(table).where(*here, table.c.row.in_(unused)))
    here = (media.c.thread == of_session[0], media.c.session == of_session[1])
    files = set(checkpoints.connection.execute(select(media.c.sha256).where(*here)).scalars())
    if files:  # only then is it worth reading everything
        encryption = FileEncryption.of(checkpoints.connection, of_session[0])
        held = (each for part in left for each in references_in(checkpoints.values.load(part)))
        files.difference_update(encryption.name(each.sha256) for each in held if each.sha256)
        for unneeded in _batches(sorted(files)):
            checkpoints.connection.execute(delete(media).where(*here, media.c.sha256.in_(unneeded)))
    return files


def _values_in(checkpoints: SessionCheckpoints) -> list[StoredValue]:
    """The values of every channel and every write of the session."""
    found: list[StoredValue] = []
    for namespace, checkpoint_id in checkpoints.ids(None, None):
        stored = checkpoints.load(namespace, checkpoint_id)
        found += stored.channels.values() if stored else ()
        found += [write.held for _, write in checkpoints.pending.stored(namespace, checkpoint_id)]
    return found


def _batches(each: Sequence[_One], size: int = 500) -> Iterable[Sequence[_One]]:
    for start in range(0, len(each), size):
        yield each[start : start + size]
