"""Which session refers to which file of the media folder: a file goes with the last session that does.

Who stores a file says so before looking whether it is there, and until its reference is on disk; who removes files
waits for them and lets nobody new begin meanwhile. SQLite has one writer at a time anyway.
"""

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, select, text

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import media
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.database.schema import insert_unless_there


class BroughtFiles:
    """The files that one transaction brings into a session."""

    def __init__(self, connection: Connection, thread: str, session: int) -> None:
        self._connection = connection
        self._of_session = {"thread": thread, "session": session}
        self._digests: set[str] = set()
        self._announced = False

    def announce(self) -> None:
        """Until the transaction ends no file is removed."""
        if not self._announced:
            _lock(self._connection, "pg_advisory_xact_lock_shared")
            self._announced = True

    def add(self, sha256: str) -> None:
        self._digests.add(sha256)

    def flush(self) -> None:
        """Sends what was added to the database."""
        if self._digests:
            _ADD.run_each(self._connection, [{**self._of_session, "sha256": each} for each in sorted(self._digests)])
            self._digests.clear()


def hold_files(connection: Connection) -> None:
    """For a transaction that adds references to files that others refer to now: until it ends none is removed."""
    _lock(connection, "pg_advisory_xact_lock_shared")


def hand_on(connection: Connection, source: Session, target: Session, digests: Collection[str]) -> None:
    """Those of these files that the source's conversation brought belong to the target as well."""
    if digests:
        hold_files(connection)
        brought = BroughtFiles(connection, target.thread, target.number)
        for digest in files_of(connection, source.thread) & set(digests):
            brought.add(digest)
        brought.flush()


def files_of(connection: Connection, thread: str) -> set[str]:
    """The SHA-256 of every file that this thread's messages brought."""
    return {digest for (digest,) in _OF_THREAD.all(connection, {"of_thread": thread})}


def remove_unreferenced(database: Database, folder: Media, digests: Collection[str]) -> int:
    """Removes those of these files that no session refers to; how many.

    A transaction of its own, after the one that deleted the references: were it undone, the files would be missing.
    """
    if not digests or folder.folder is None:
        return 0
    with database.write() as connection:
        _lock(connection, "pg_advisory_xact_lock")
        return folder.delete(set(digests) - _referenced(connection))


def remove_leftovers(database: Database, folder: Media) -> int:
    """Removes the files that no session has referred to for an hour, such as those of a write that failed; how many."""
    with database.read() as connection:
        referenced = _referenced(connection)
    return folder.delete_unreferenced(referenced)


def _referenced(connection: Connection) -> set[str]:
    return set(connection.execute(select(media.c.sha256).distinct()).scalars())


def _lock(connection: Connection, function: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT {function}({_FAMILY}, 1)"))


_FAMILY = 0x6C6D656D  # of two numbers: a lock by one number is a thread's
_ADD = Prepared(insert_unless_there(media))
_OF_THREAD = Prepared(select(media.c.sha256).where(media.c.thread == bindparam("of_thread")))
