"""Encrypts the pictures and files that were kept in plain, in a folder or in the database, one after another.

Their rows get new names too: a name that is the hash of a file's content tells whoever has that file as well.
"""

from collections.abc import Iterator

from sqlalchemy import Connection, select, tuple_, update

from langmem_plugin.conversation.media.media_store import FileEncryption, Media
from langmem_plugin.database import BULK_WORK, Database
from langmem_plugin.database.conversation_tables import media
from langmem_plugin.database.encryption.encrypted_columns import MEDIA

_KEY = (media.c.thread, media.c.session, media.c.sha256)


def encrypted_files(database: Database, folder: Media) -> Iterator[int]:
    """Encrypt the files kept in plain; yield 1 after a row that was one of them, else 0.

    The plain files are left: see `Media.delete_plain`. A row whose file is missing stays as it is.
    """
    with database.read() as connection:
        keys = [tuple(row) for row in connection.execute(select(*_KEY))]
    for key in keys:
        with database.write(patience=BULK_WORK) as connection:
            yield int(_encrypted(connection, folder, key))


def _encrypted(connection: Connection, folder: Media, key: tuple[str, int, str]) -> bool:
    thread, session, digest = key
    this = tuple_(*_KEY) == tuple_(*key, types=[column.type for column in _KEY])
    found = connection.execute(select(media.c.payload).where(this)).one_or_none()
    if found is None or (found.payload is not None and MEDIA.is_encrypted(found.payload)):
        return False
    encryption = FileEncryption.of(connection, thread)
    name, payload = encryption.name(digest), found.payload
    if payload is not None:
        payload = MEDIA.encrypted(connection, (thread, session, name), bytes(payload))
    else:
        data = folder.plain(digest)
        if data is None:
            return False
        folder.write(name, data, encryption)
    connection.execute(update(media).where(this).values(sha256=name, payload=payload))
    return True
