"""Deletes sessions for good, with everything that belongs to them: rows first, then the files nobody else refers to."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, select

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.media.session_files import remove_leftovers, remove_unreferenced
from langmem_plugin.conversation.sessions import searchable_sessions, session_rows
from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.audit_trail import Done, record_all
from langmem_plugin.database.conversation_tables import media, session
from langmem_plugin.logs import event_log

log = event_log(__name__)

_AT_ONCE = 20
"""Sessions in one transaction: each may have some hundred rows."""


class SessionDeletion:
    """The one way by which anything of a conversation is deleted; `folder` holds its pictures and files."""

    def __init__(self, database: Database, folder: Media) -> None:
        self._database = database
        self._folder = folder

    @contextmanager
    def transaction(self) -> Iterator[tuple[Connection, set[str]]]:
        """A transaction that deletes, and a set for the names of files that may not be needed after it.

        They are removed when the deletion is on disk, unless another session refers to them or a write that goes on
        just now brings them again.
        """
        files: set[str] = set()
        with self._database.write(patience=BULK_WORK) as connection:
            yield connection, files
        remove_unreferenced(self._database, self._folder, files)

    def delete_thread(self, thread: str) -> None:
        """All sessions of the thread, current and archived."""
        self._delete(session.c.thread == thread)

    def delete_session(self, session_id: str) -> None:
        """Raises UnknownSession."""
        with self._database.read() as connection:
            found = session_rows.anywhere(connection, session_id)
        self._delete((session.c.thread == found.thread) & (session.c.number == found.number))

    def delete_archived(self, ended_before: datetime) -> int:
        """Delete sessions of all threads that ended before then, and files of failed writes; counts the sessions."""
        return sum(self.archived_deleted(ended_before))

    def archived_deleted(self, ended_before: datetime) -> Iterator[int]:
        """The same a few sessions at a time; after each transaction, how many it deleted."""
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

    def _delete(self, doomed: ColumnElement[bool]) -> int:
        with self.transaction() as (connection, files):
            of_session = (media.c.thread == session.c.thread) & (media.c.session == session.c.number)
            files.update(connection.execute(select(media.c.sha256).join(session, of_session).where(doomed)).scalars())
            gone = connection.execute(delete(session).where(doomed).returning(session.c.thread, session.c.session_id))
            deleted = [Done("session.deleted", thread, session_id) for thread, session_id in gone]
            searchable_sessions.forget_threads(connection, {each.owner for each in deleted if each.owner})
            record_all(connection, deleted)
        if deleted:
            log.info("session.purged", extra={"sessions": len(deleted)})
        return len(deleted)
