"""Deletes sessions, or parts of their history, for good: rows first, then files without another reference.

What other sessions or checkpoints still share stays.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, select

from langmem_plugin.conversation.media.media_reference import references_in
from langmem_plugin.conversation.media.media_store import FileEncryption, Media, remove_leftovers, remove_unreferenced
from langmem_plugin.conversation.sessions import session_rows, sessions_to_index
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.checkpoint_rows import CheckpointStore, SessionCheckpoints
from langmem_plugin.conversation.storage.codec import StoredCheckpoint, StoredValue, ValueRow
from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.audit_recording import Done, record_all
from langmem_plugin.database.conversation_tables import checkpoint, media, message, pending, session, value
from langmem_plugin.database.schema import in_parts
from langmem_plugin.logs import event_log

log = event_log(__name__)

_AT_ONCE = 20
"""The number of sessions in one transaction: each may have some hundred rows."""


class SessionDeletion:
    """The only way to delete anything of a conversation; `folder` holds its pictures and files."""

    def __init__(self, database: Database, folder: Media) -> None:
        self._database = database
        self._folder = folder

    @contextmanager
    def transaction(self) -> Iterator[tuple[Connection, set[str]]]:
        """A transaction that deletes, and a set for the names of files that may not be needed after it.

        They are removed when the deletion is on disk, unless another session refers to them or a write in progress
        brings them
        again.
        """
        files: set[str] = set()
        with self._database.write(patience=BULK_WORK) as connection:
            yield connection, files
        remove_unreferenced(self._database, self._folder, files)

    def delete_thread(self, thread: str) -> None:
        """Delete all sessions of the thread, current and archived."""
        self._delete(session.c.thread == thread)

    def delete_session(self, session_id: str) -> None:
        """Delete one session. Raises UnknownSession."""
        found = self._database.select(lambda connection: session_rows.anywhere(connection, session_id))
        self._delete((session.c.thread == found.thread) & (session.c.number == found.number))

    def archived_deleted(self, ended_before: datetime) -> Iterator[int]:
        """Delete sessions of all threads that ended before then, a few at a time, and files of failed writes.

        Yield the number of deleted sessions after each transaction.
        """
        due = session.c.ended_at < ended_before
        while True:
            with self._database.read() as connection:
                found = connection.execute(select(session.c.session_id).where(due).limit(_AT_ONCE)).scalars().all()
            if not found:
                break
            deleted = self._delete(due & session.c.session_id.in_(found))
            yield deleted
            if not deleted:  # all of them were restored meanwhile
                break
        remove_leftovers(self._database, self._folder)

    def delete_runs(self, store: CheckpointStore, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints these runs wrote, their writes, and the messages and files only they held."""
        with self.transaction() as (connection, files):
            wrote = checkpoint.c.run_id.in_(run_ids)
            for thread in connection.execute(select(checkpoint.c.thread).where(wrote).distinct()).scalars().all():
                for each in session_rows.all_of(connection, thread):
                    names = select(checkpoint.c.namespace, checkpoint.c.checkpoint_id)
                    doomed = connection.execute(names.where(wrote, *session_rows.rows_of(checkpoint, each))).all()
                    if doomed:
                        files.update(_drop(store.of(connection, each), _by_namespace(doomed)))

    def keep_latest(self, store: CheckpointStore, thread: str) -> None:
        """Delete all but each namespace's newest checkpoint and the ancestors its delta channels are rebuilt from."""
        with self.transaction() as (connection, files):
            for each in session_rows.all_of(connection, thread):
                checkpoints = store.of(connection, each)
                files.update(_drop(checkpoints, _all_but_latest(checkpoints)))

    def _delete(self, doomed: ColumnElement[bool]) -> int:
        with self.transaction() as (connection, files):
            of_session = (media.c.thread == session.c.thread) & (media.c.session == session.c.number)
            files.update(connection.execute(select(media.c.sha256).join(session, of_session).where(doomed)).scalars())
            gone = connection.execute(delete(session).where(doomed).returning(session.c.thread, session.c.session_id))
            deleted = [Done("session.deleted", thread, session_id) for thread, session_id in gone]
            sessions_to_index.forget_threads(connection, {each.owner for each in deleted if each.owner})
            record_all(connection, deleted)
        if deleted:
            log.info("session.purged", extra={"sessions": len(deleted)})
        return len(deleted)


def _by_namespace(found: Iterable[Sequence[str]]) -> dict[str, set[str]]:
    """Group checkpoint ids by their namespace."""
    grouped: dict[str, set[str]] = {}
    for namespace, checkpoint_id in found:
        grouped.setdefault(namespace, set()).add(checkpoint_id)
    return grouped


def _drop(checkpoints: SessionCheckpoints, doomed: dict[str, set[str]]) -> set[str]:
    """Delete checkpoints (by namespace) with their writes, then every row that nothing refers to any more.

    Return the names of the files that the session does not refer to any more either.
    """
    session_rows.disturb(checkpoints.connection, checkpoints.session)
    for namespace, ids in doomed.items():
        checkpoints.detach(namespace, ids)
        for table in (pending, checkpoint):
            checkpoints.connection.execute(
                delete(table).where(
                    *session_rows.rows_of(table, checkpoints.session),
                    table.c.namespace == namespace,
                    table.c.checkpoint_id.in_(ids),
                )
            )
    return _sweep(checkpoints)


def _all_but_latest(checkpoints: SessionCheckpoints) -> dict[str, set[str]]:
    doomed = _by_namespace(checkpoints.ids(None, None))
    for namespace, ids in doomed.items():
        newest = checkpoints.load(namespace, None)
        if newest is not None:
            ids.difference_update(kept.checkpoint_id for kept in _needed(checkpoints, namespace, newest))
    return doomed


def _needed(checkpoints: SessionCheckpoints, namespace: str, newest: StoredCheckpoint) -> Iterable[StoredCheckpoint]:
    yield newest
    metadata = codec.load(checkpoints.serde, newest.metadata)
    missing = set(metadata.get("counters_since_delta_snapshot") or ()) - newest.channels.keys()
    above: StoredCheckpoint | None = newest
    while missing and above and above.parent_id and (above := checkpoints.load(namespace, above.parent_id)):
        yield above
        missing -= above.channels.keys()


def _sweep(checkpoints: SessionCheckpoints) -> set[str]:
    """Delete the rows that no checkpoint and no write refers to; return the names of the files that go with them."""
    left = _values_in(checkpoints)
    messages = {abs(row) for each in left for row in codec.rows_in(checkpoints.serde, each)}
    values = {each.row for each in left if isinstance(each, ValueRow)}
    for table, used in ((message, messages), (value, values)):
        here = session_rows.rows_of(table, checkpoints.session)
        stored_rows = set(checkpoints.connection.execute(select(table.c.row).where(*here)).scalars())
        for unused in in_parts(sorted(stored_rows - used)):
            checkpoints.connection.execute(delete(table).where(*here, table.c.row.in_(unused)))
    here = session_rows.rows_of(media, checkpoints.session)
    files = set(checkpoints.connection.execute(select(media.c.sha256).where(*here)).scalars())
    if files:  # only then is it worth reading everything
        encryption = FileEncryption.of(checkpoints.connection, checkpoints.session.thread)
        held = (each for part in left for each in references_in(checkpoints.messages.value(part)))
        files.difference_update(encryption.name(each.sha256) for each in held if each.sha256)
        for unneeded in in_parts(sorted(files)):
            checkpoints.connection.execute(delete(media).where(*here, media.c.sha256.in_(unneeded)))
    return files


def _values_in(checkpoints: SessionCheckpoints) -> list[StoredValue]:
    """The values of every channel and every write of the session."""
    found: list[StoredValue] = []
    for namespace, checkpoint_id in checkpoints.ids(None, None):
        stored = checkpoints.load(namespace, checkpoint_id)
        found += stored.channels.values() if stored else ()
        found += [write.held for _, write in checkpoints.stored_writes(namespace, checkpoint_id)]
    return found
