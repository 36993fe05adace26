"""Which session uses which file, and the bytes of files that are kept in the database.

A row names its file as `FileEncryption.name` does: the SHA-256 of what is in it, unless everything is encrypted.

A file is deleted when no session uses it any more. A writer announces itself before it looks for a file, until its
reference is on disk; a deletion waits for such writers, and new ones wait for the deletion. SQLite has one writer.
"""

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection, bindparam, select, text, update

from langmem_plugin.conversation.media.file_encryption import FileEncryption
from langmem_plugin.conversation.media.media_store import Media
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import media
from langmem_plugin.database.encryption.encrypted_columns import MEDIA
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.database.upkeep_tables import held_file
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.logs import event_log

log = event_log(__name__)


class BroughtFiles:
    """The files that one transaction brings into a session."""

    def __init__(self, connection: Connection, thread: str, session: int) -> None:
        self._connection = connection
        self.encryption = FileEncryption.of(connection, thread)
        self._session = thread, session
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
        named = {self.encryption.name(digest): data for digest, data in self._files.items()}
        for name, data in sorted(named.items()):
            new = {**self._of_session, "sha256": name, "payload": None}
            here = {f"of_{name}": value for name, value in new.items() if name != "payload"}
            if data is None:
                _ADD.run(self._connection, new)
            elif _HAS_DATA.first(self._connection, here) is None:
                new["payload"] = MEDIA.encrypted(self._connection, (*self._session, name), data())
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
        files = files_of(connection, source.thread)
        for digest in (each for each in set(digests) if each in files):
            kept = data_of(connection, source.thread, digest)
            brought.add(digest, None if kept is None else functools.partial(bytes, kept))
        brought.flush()


@dataclass(frozen=True, slots=True)
class Files:
    """The files that a thread's messages brought, by their SHA-256."""

    names: frozenset[str]
    encryption: FileEncryption

    def __contains__(self, digest: object) -> bool:
        return bool(self.names) and isinstance(digest, str) and self.encryption.name(digest) in self.names


def files_of(connection: Connection, thread: str) -> Files:
    names = frozenset(name for (name,) in _OF_THREAD.all(connection, {"of_thread": thread}))
    return Files(names, FileEncryption.of(connection, thread))


def bind_files_anew(connection: Connection, folder: Media, now_in: tuple[str, int], before_in: tuple[str, int]) -> None:
    """For the files of a session whose rows were those of another thread's or number's: see `bind_anew`.

    What the folder keeps is written once more, for the other conversation. Raises DecryptionRefused, StorageFull.
    """
    old, new = FileEncryption.of(connection, before_in[0]), FileEncryption.of(connection, now_in[0])
    if not new.encrypts:
        return
    here = (media.c.thread == now_in[0], media.c.session == now_in[1])
    for name in connection.execute(select(media.c.sha256).where(*here)).scalars().all():
        this = (*here, media.c.sha256 == name)
        kept = connection.execute(select(media.c.payload).where(*this)).scalar_one()
        data = _content(connection, folder, (*before_in, name), kept, old)
        if data is None:
            continue  # it is missing: nobody knows its name for the other conversation
        renamed = new.name(sha256(data).hexdigest())
        if kept is None:
            folder.write(renamed, data, new)
        anew = None if kept is None else MEDIA.encrypted(connection, (*now_in, renamed), data)
        connection.execute(update(media).where(*this).values(sha256=renamed, payload=anew))


def files_in(connection: Connection, folder: Media, thread: str, session: int) -> list[str]:
    """The SHA-256 of every file that this session's messages brought; of encrypted ones, those that are not missing.

    Raises DecryptionRefused.
    """
    mine = select(media.c.sha256, media.c.payload).where(media.c.thread == thread, media.c.session == session)
    encryption = FileEncryption.of(connection, thread)
    if not encryption.encrypts:
        return sorted(name for name, _ in connection.execute(mine))
    found = (
        _content(connection, folder, (thread, session, name), kept, encryption)
        for name, kept in connection.execute(mine).all()
    )
    return sorted(sha256(data).hexdigest() for data in found if data is not None)


def _content(
    connection: Connection, folder: Media, key: tuple[str, int, str], kept: bytes | None, encryption: FileEncryption
) -> bytes | None:
    """The content of the row with this key; None if its file is missing."""
    if kept is not None:
        data: bytes = MEDIA.decrypted(connection, key, kept)
        return data
    return None if folder.folder is None else folder.read(key[2], encryption)


def data_of(connection: Connection, thread: str, digest: str) -> bytes | None:
    """The data of a file that this thread's messages brought; None if none is kept here, or all of it is damaged.

    Each session that was brought the file keeps it: one that is damaged, which a WARNING tells, is passed over.
    """
    name = FileEncryption.of(connection, thread).name(digest)
    of_file = {"of_thread": thread, "of_sha256": name}
    for (session,) in _KEEPERS.all(connection, of_file):
        found = _DATA.first(connection, {**of_file, "of_session": session})
        try:
            data = MEDIA.decrypted(connection, (thread, session, name), found and found[0])
        except DecryptionRefused:
            log.warning("media.refused", exc_info=True, extra={"sha256": digest})
            continue
        if data is not None and sha256(data).hexdigest() == digest:
            return bytes(data)
        log.warning("media.damaged", extra={"sha256": digest})
    return None


def remove_unreferenced(database: Database, folder: Media, names: Collection[str]) -> int:
    """Removes those of these files that no session refers to; how many.

    A transaction of its own, after the one that deleted the references: were it undone, the files would be missing.
    """
    if not names or folder.folder is None:
        return 0
    with database.write() as connection:
        _lock(connection, "pg_advisory_xact_lock")
        return folder.delete(set(names) - _referenced(connection))


def remove_leftovers(database: Database, folder: Media) -> int:
    """Removes the files that no session has referred to for an hour, such as those of a write that failed; how many."""
    with database.read() as connection:
        referenced = _referenced(connection)
    return folder.delete_unreferenced(referenced)


def _referenced(connection: Connection) -> set[str]:
    """The hashes of files that a session refers to, or the held data of a person who may still come back."""
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
