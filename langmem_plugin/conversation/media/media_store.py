"""Pictures, sounds and documents of a conversation: kept once as private files, referred to by a line of text.

A row says which session uses which file, and holds its data where the database keeps it. It names its file as
`FileEncryption.name` does. A file is deleted when no session uses it any more. A writer takes a lock before it looks
for a file, and holds it until its reference is on disk; a deletion waits for such writers, and new ones wait for the
deletion. SQLite has one writer.
"""

import contextlib
import mimetypes
import os
import re
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from sqlalchemy import Connection, bindparam, select, text, update

from langmem_plugin.conversation.media.inline_media import KINDS, UNKNOWN_TYPE, Inline, decoded
from langmem_plugin.conversation.media.media_reference import MediaReference
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import media
from langmem_plugin.database.encryption import Encryption, encryption_of
from langmem_plugin.database.encryption import Place as RowPlace
from langmem_plugin.database.encryption.encrypted_columns import MEDIA
from langmem_plugin.database.encryption.encryption import EXTRA_BYTES, NO_ENCRYPTION
from langmem_plugin.database.operations_tables import held_file
from langmem_plugin.database.prepared_statements import Prepared, given
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import DecryptionRefused, StorageFull, StoreUnavailable
from langmem_plugin.logs import event_log
from langmem_plugin.text_sanitizing import one_line

log = event_log(__name__)

_LONGEST_NAME = 80
_FILE_NAME = re.compile(r"[0-9a-f]{64}(?:\.\w+)?", re.ASCII)
_OURS = re.compile(rf"{_FILE_NAME.pattern}|part-\w+", re.ASCII)
_UNFIT_FOR_NAME = re.compile(r'["\[\]\x00-\x1f]')


_TABLE = "langmem_media"


@dataclass(frozen=True, slots=True)
class FileEncryption:
    encryption: Encryption
    thread: str

    @classmethod
    def of(cls, connection: Connection, thread: str) -> "FileEncryption":
        return cls(encryption_of(connection), thread)

    @property
    def encrypts(self) -> bool:
        return self.encryption.encrypts

    def name(self, digest: str) -> str:
        """The name in the database, and in a folder, of the file of this SHA-256."""
        return self.encryption.blinded(self.thread, f"{_TABLE}.sha256", digest).hex() if self.encrypts else digest

    def encrypted(self, name: str, data: bytes) -> bytes:
        return self.encryption.cipher.encrypt(self._place(name), data)

    def decrypted(self, name: str, stored: bytes) -> bytes:
        """The file's data in plain. Raises DecryptionRefused."""
        return self.encryption.cipher.decrypt(self._place(name), stored)

    def _place(self, name: str) -> RowPlace:
        return RowPlace(_TABLE, "file", self.thread, (name,))


PLAIN_FILES = FileEncryption(NO_ENCRYPTION, "")


Kept = Path | Literal["database", "drop"]
"""The place of the files: a folder, the database, or nowhere."""


class Media:
    """The store of the pictures, sounds and documents of messages, each named by the SHA-256 of its content.

    If everything is encrypted that name is a keyed one, and each conversation has files of its own.
    A folder is made (700) when the first file (600) comes. Raises StorageFull if a file cannot be written.
    """

    def __init__(self, place: Kept) -> None:
        self.place = place

    @classmethod
    def by_setting(cls, setting: Path | str, database: Database) -> "Media":
        """The store that Settings.media names: by a word of it, or a folder.

        "beside" is the folder `<database>-media` beside a SQLite file, and inside any other database.
        """
        match setting:
            case "beside" if database.path is not None:
                return cls(database.path.with_name(f"{database.path.stem}-media"))
            case "beside":
                return cls("database")
            case "database" | "drop":
                return cls(setting)
        return cls(Path(setting))

    @property
    def folder(self) -> Path | None:
        """The folder that keeps the files; None if there is none."""
        return self.place if isinstance(self.place, Path) else None

    def keep(
        self,
        data: bytes,
        mime_type: str,
        name: str | None = None,
        kind: str = "file",
        brought: "BroughtFiles | None" = None,
    ) -> MediaReference:
        """Keep the data and return its reference. In a folder it is on disk when this returns; an existing file stays.

        `kind` is for a type that does not tell it. `brought` is told of the file.
        """
        digest, encryption = sha256(data).hexdigest(), PLAIN_FILES if brought is None else brought.encryption
        major = mime_type.partition("/")[0]
        file_name = f"{digest}{mimetypes.guess_extension(mime_type, strict=False) or '.bin'}"
        path = f"database/{file_name}" if self.place == "database" else None
        if self.folder is not None:
            if brought is not None:
                brought.announce()
            self.write(encryption.name(digest) if encryption.encrypts else file_name, data, encryption)
            path = f"{self.folder.name}/{file_name}"
        if brought is not None and path is not None:
            brought.add(digest, None if self.folder is not None else data)
        name = name and _UNFIT_FOR_NAME.sub("", one_line(name[: 4 * _LONGEST_NAME]))[:_LONGEST_NAME].strip()
        return MediaReference(major if major in KINDS else kind, mime_type, len(data), digest, path, name=name or None)

    def write(self, name: str, data: bytes, encryption: FileEncryption) -> None:
        """Write the data into the folder under this name, on disk when this returns. Raises StorageFull."""
        assert self.folder is not None  # noqa: S101 - the caller has asked
        file, size = self.folder / name, len(data) + (EXTRA_BYTES if encryption.encrypts else 0)
        try:
            if not _is_there(file, size):
                _write(file, encryption.encrypted(name, data))
        except OSError as error:
            raise StorageFull(
                f"a file cannot be written to {self.folder} ({error}): free space or fix its rights"
            ) from error

    def read(self, name: str, encryption: FileEncryption) -> bytes | None:
        """Read the file of this name; None, with a WARNING, if it is missing. Raises DecryptionRefused."""
        assert self.folder is not None  # noqa: S101 - the caller has asked
        file = self.folder / name
        try:
            return encryption.decrypted(name, file.read_bytes())
        except OSError as error:
            log.warning("media.missing", extra={"path": str(file), "reason": error.strerror})
            return None

    def load(self, reference: MediaReference, encryption: FileEncryption = PLAIN_FILES) -> bytes | None:
        """Read a file of the folder; None if there is no folder, and, with a WARNING, if the file is missing.

        Anybody can write a reference that they know: `ConversationSaver.load_media` checks whose file it is.
        """
        file = self.file(reference, encryption)
        if file is None:
            return None
        try:
            data = self.read(file.name, encryption)
        except DecryptionRefused:
            log.warning("media.refused", exc_info=True, extra={"path": str(file)})
            return None
        if data is not None and sha256(data).hexdigest() != reference.sha256:
            log.warning("media.damaged", extra={"path": str(file)})
            return None
        return data

    def file(self, reference: MediaReference, encryption: FileEncryption = PLAIN_FILES) -> Path | None:
        """The path of the reference's file; None without one. A message cannot make it lead outside of the folder."""
        name = PurePosixPath(reference.path or "").name
        if self.folder is None or not _FILE_NAME.fullmatch(name):
            return None
        return self.folder / (encryption.name(reference.sha256) if encryption.encrypts and reference.sha256 else name)

    def delete(self, names: Collection[str]) -> int:
        """Delete the files with these names; return their number. Raises StoreUnavailable if a deletion fails."""
        return self._delete(lambda file: file.name.partition(".")[0] in names)

    def delete_unreferenced(self, referenced: Collection[str], *, grace: timedelta = timedelta(hours=1)) -> int:
        """Delete the files whose name is not among these; return their number.

        Files used within `grace` stay: a turn in progress may not have stored its message yet. Raises as `delete`.
        """
        newest = time.time() - grace.total_seconds()
        return self._delete(
            lambda file: file.name.partition(".")[0] not in referenced and file.stat().st_mtime <= newest
        )

    def _delete(self, doomed: Callable[[Path], bool]) -> int:
        deleted = 0
        for file in self.folder.iterdir() if self.folder is not None and self.folder.is_dir() else ():
            try:
                if _OURS.fullmatch(file.name) and doomed(file):
                    file.unlink()
                    deleted += 1
            except FileNotFoundError:  # another process deletes it too
                continue
            except OSError as error:
                raise StoreUnavailable(f"{file} cannot be deleted ({error}): fix its folder's rights") from error
        return deleted

    def describe(self, inline: Inline, brought: "BroughtFiles | None" = None) -> str:
        """Keep the data of a message; return the line that stands for it. `brought` is told of the file."""
        if (found := decoded(inline)) is None:
            log.warning("media.unreadable", extra={"kind": inline.kind, "length": len(inline.data)})
            return f"[{inline.kind or 'file'}: {len(inline.data)} characters that are not base64, not kept]"
        data, mime_type = found
        return str(self.keep(data, _tidy(mime_type), inline.name, inline.kind or "file", brought))


def _tidy(mime_type: str) -> str:
    return mime_type if re.fullmatch(r"[\w.+-]+/[\w.+-]+", mime_type, re.ASCII) else UNKNOWN_TYPE


def _is_there(file: Path, size: int) -> bool:
    """Tell whether the file exists in this size, and mark it as used for `delete_unreferenced`."""
    with contextlib.suppress(OSError):  # writing the file again either works or tells what is wrong
        if file.stat().st_size == size:
            os.utime(file)
            return True
    return False


def _write(file: Path, data: bytes) -> None:
    """Write the whole file or nothing, even if the power fails: a message will refer to it."""
    for folder in reversed([each for each in (file.parent, *file.parent.parents) if not each.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
    handle, part = tempfile.mkstemp(prefix="part-", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(part).replace(file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    folder_handle = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder_handle)
    finally:
        os.close(folder_handle)


class BroughtFiles:
    """The files that one transaction brings into a session."""

    def __init__(self, connection: Connection, thread: str, session: int) -> None:
        self._connection = connection
        self.encryption = FileEncryption.of(connection, thread)
        self._session = thread, session
        self._files: dict[str, bytes | None] = {}
        self._announced = False

    def announce(self) -> None:
        """Take the lock that lets no file be removed until the transaction ends."""
        if not self._announced:
            _lock(self._connection, "pg_advisory_xact_lock_shared")
            self._announced = True

    def add(self, digest: str, data: bytes | None) -> None:
        """Add a file; `data` is the content to store in the database, None if a folder has it."""
        self._files[digest] = data

    def flush(self) -> None:
        """Send what was added to the database, except files that it has already."""
        named = {self.encryption.name(digest): data for digest, data in self._files.items()}
        for name, data in sorted(named.items()):
            key = (*self._session, name)
            here = dict(zip(("of_thread", "of_session", "of_sha256"), key, strict=True))
            if data is None or _HAS_DATA.first(self._connection, here) is None:
                payload = MEDIA.encrypted(self._connection, key, data)
                new = dict(zip(media.primary_key.columns.keys(), key, strict=True)) | {"payload": payload}
                if not _ADD.run(self._connection, new) and data is not None:
                    _FILL.run(self._connection, {**here, "data": payload})
        self._files.clear()


def hold_files(connection: Connection) -> None:
    """Let no file be removed until the transaction ends, which adds references to files of others."""
    _lock(connection, "pg_advisory_xact_lock_shared")


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
    """Encrypt the files of a session anew after its rows came from another thread or number: see `bind_anew`.

    A file of the folder is written once more, for the new conversation. Raises DecryptionRefused, StorageFull.
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
            continue  # it is missing, so its name for the other conversation is unknown
        renamed = new.name(sha256(data).hexdigest())
        if kept is None:
            folder.write(renamed, data, new)
        anew = None if kept is None else MEDIA.encrypted(connection, (*now_in, renamed), data)
        connection.execute(update(media).where(*this).values(sha256=renamed, payload=anew))


def files_in(connection: Connection, folder: Media, thread: str, session: int) -> list[str]:
    """The SHA-256 of every file that this session's messages brought, without encrypted files that are missing.

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
    """The data of a file that this thread's messages brought; None if the database has none that is whole.

    Each session that was brought the file has its own row: a damaged one is skipped with a WARNING.
    """
    name = FileEncryption.of(connection, thread).name(digest)
    for session, stored in _KEPT.all(connection, {"of_thread": thread, "of_sha256": name}):
        try:
            data = MEDIA.decrypted(connection, (thread, session, name), stored)
        except DecryptionRefused:
            log.warning("media.refused", exc_info=True, extra={"sha256": digest})
            continue
        if sha256(data).hexdigest() == digest:
            return bytes(data)
        log.warning("media.damaged", extra={"sha256": digest})
    return None


def remove_unreferenced(database: Database, folder: Media, names: Collection[str]) -> int:
    """Remove those of these files that no session refers to; return their number.

    It is a transaction of its own, after the one that deleted the references: if that one were undone after the
    removal,
    the files would be missing.
    """
    if not names or folder.folder is None:
        return 0
    with database.write() as connection:
        _lock(connection, "pg_advisory_xact_lock")
        return folder.delete(set(names) - _referenced(connection))


def remove_leftovers(database: Database, folder: Media) -> int:
    """Remove the files without a session for an hour, such as those of a failed write; return their number."""
    with database.read() as connection:
        referenced = _referenced(connection)
    return folder.delete_unreferenced(referenced)


def _referenced(connection: Connection) -> set[str]:
    """The names of the files that a session, or the held data of a person who may come back, refers to."""
    referring = select(media.c.sha256).union(select(held_file.c.sha256))
    return set(connection.execute(referring).scalars())


def _lock(connection: Connection, function: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT {function}({_FAMILY}, 1)"))


_FAMILY = 0x6C6D656D  # the first of a lock's two numbers: a lock by one number is a thread's
_ADD = Prepared(insert_unless_there(media))
_HERE = given(media.c.thread, media.c.session, media.c.sha256)
_HAS_DATA = Prepared(select(media.c.session).where(*_HERE, media.c.payload.is_not(None)))
_FILL = Prepared(update(media).where(*_HERE).values(payload=bindparam("data")))
_KEPT = Prepared(
    select(media.c.session, media.c.payload).where(*given(media.c.thread, media.c.sha256), media.c.payload.is_not(None))
)
_OF_THREAD = Prepared(select(media.c.sha256).where(*given(media.c.thread)))
