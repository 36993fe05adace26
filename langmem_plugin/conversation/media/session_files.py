"""Which session uses which file, and the bytes of files that are kept in the database.

A file is deleted when no session uses it any more. A writer announces itself before it looks for a file, until its
reference is on disk; a deletion waits for such writers, and new ones wait for the deletion. SQLite has one writer.
"""

import functools
from collections.abc import Callable, Collection
from hashlib import sha256

from sqlalchemy import Connection, bindparam, select, text, update

from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import media
from langmem_plugin.database.erasure_tables import held_file
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.logs import event_log

log = event_log(__name__)


class BroughtFiles:
    """The files that one transaction brings into a session."""

    def __init__(self, connection: Connection, thread: str, session: int) -> None:
        self._connection = connection
        self._of_session = {"thread": thread, "session": session}
        self._files: dict[str, Callable[[], bytes] | None] = {}
        self._announced = False

    def announce(self) -> None:
        """Until the transaction ends no file is removed."""
        if not self._announced:
            _lock(self._connection, "pg_advisory_xact_lock_shared")
            self._announced = True

    def add(self, digest: str, data: Callable[[], bytes] | None) -> None:
        """`data` gives what is to be kept here; None if a folder has it."""
        self._files[digest] = data

    def flush(self) -> None:
        """Sends what was added to the database; a file that is kept there already is not sent again."""
        for digest, data in sorted(self._files.items()):
            new = {**self._of_session, "sha256": digest, "payload": None}
            here = {f"of_{name}": value for name, value in new.items() if name != "payload"}
            if data is None:
                _ADD.run(self._connection, new)
            elif _HAS_DATA.first(self._connection, here) is None:
                new["payload"] = data()
                if not _ADD.run(self._connection, new):
                    _FILL.run(self._connection, {**here, "data": new["payload"]})
        self._files.clear()


def hold_files(connection: Connection) -> None:
    """For a transaction that adds references to files that others refer to now: until it ends none is removed."""
    _lock(connection, "pg_advisory_xact_lock_shared")


def hand_on(connection: Connection, source: Session, target: Session, digests: Collection[str]) -> None:
    """Those of these files that the source's conversation brought belong to the target as well."""
    if digests:
        hold_files(connection)
        brought = BroughtFiles(connection, target.thread, target.number)
        for digest in files_of(connection, source.thread) & set(digests):
            kept = data_of(connection, source.thread, digest)
            brought.add(digest, None if kept is None else functools.partial(bytes, kept))
        brought.flush()


def files_of(connection: Connection, thread: str) -> set[str]:
    """The SHA-256 of every file that this thread's messages brought."""
    return {digest for (digest,) in _OF_THREAD.all(connection, {"of_thread": thread})}


def data_of(connection: Connection, thread: str, digest: str) -> bytes | None:
    """What is kept here of a file that this thread's messages brought; None if nothing is, or all of it is damaged.

    Each session that was brought the file keeps it: one that is damaged, which a WARNING tells, is passed over.
    """
    of_file = {"of_thread": thread, "of_sha256": digest}
    for (session,) in _KEEPERS.all(connection, of_file):
        found = _DATA.first(connection, {**of_file, "of_session": session})
        if found is not None and sha256(data := bytes(found[0])).hexdigest() == digest:
            return data
        log.warning("media.damaged", extra={"sha256": digest})
    return None


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
    """By a session, or by what is held of somebody who may still come back."""
    referring = select(media.c.sha256).union(select(held_file.c.sha256))
    return set(connection.execute(referring).scalars())


def _lock(connection: Connection, function: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT {function}({_FAMILY}, 1)"))


_FAMILY = 0x6C6D656D  # of two numbers: a lock by one number is a thread's
_ADD = Prepared(insert_unless_there(media))
_HERE = (
    media.c.thread == bindparam("of_thread"),
    media.c.session == bindparam("of_session"),
    media.c.sha256 == bindparam("of_sha256"),
)
_HAS_DATA = Prepared(select(media.c.session).where(*_HERE, media.c.payload.is_not(None)))
_FILL = Prepared(update(media).where(*_HERE).values(payload=bindparam("data")))
_KEEPERS = Prepared(
    select(media.c.session).where(
        media.c.thread == bindparam("of_thread"),
        media.c.sha256 == bindparam("of_sha256"),
        media.c.payload.is_not(None),
    )
)
_DATA = Prepared(select(media.c.payload).where(*_HERE))
_OF_THREAD = Prepared(select(media.c.sha256).where(media.c.thread == bindparam("of_thread")))
