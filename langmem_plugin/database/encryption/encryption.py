"""The encryption of a database: what is encrypted, with whose keys; without keys, nothing is, and what is encrypted is
refused.
"""

import hashlib
import hmac
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, RootTransaction, Transaction

from langmem_plugin.database.encryption.row_cipher import PLAINTEXT, OwnerKey, RowCipher
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.lru import LruCache

if TYPE_CHECKING:
    from langmem_plugin.database.encryption.key_store import KeyStore

FRESH_SECONDS = 5.0
"""The time for which a process may go on using a key that another one has shredded."""
_KEPT_BYTES, _BYTES_OF_A_KEY = 2_000_000, 300


class KeyStatus(NamedTuple):
    """`wrapped` counts people's keys by the name of the master key that wraps them."""

    newest: str
    wrapped: dict[str, int]


class _Begun(NamedTuple):
    """A transaction; `keys` are those that it has read or made, each with when, and in which part of it.

    One that was made in a part is gone where that is rolled back.
    """

    connection: Connection | None
    writes: bool
    keys: dict[str, tuple[OwnerKey, float, Transaction | None]]


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.begun = [_Begun(None, writes=False, keys={})]


class Encryption:
    """`cipher` is for all that a person says and is told.

    It may raise StoreUnavailable, when the key database cannot be asked.
    """

    def __init__(self, store: "KeyStore | None" = None) -> None:
        self._store = store
        self._fresh: LruCache[str, tuple[OwnerKey, float]] = LruCache(_KEPT_BYTES)
        self.cipher = PLAINTEXT if store is None else RowCipher(self._key_to_write, self._key_to_read)
        self.store_id = None if store is None else store.store_id
        self._here = _OfThread()

    @contextmanager
    def within(self, connection: Connection, *, writes: bool) -> Iterator[None]:
        """Keys that lie in the connection's database are asked by it, in a block around its transaction.

        By another one, transactions that hold all connections of a pooler would wait for each other.
        """
        if self._store is None or not self._store.is_shared:
            yield
            return
        begun, all_begun = _Begun(connection, writes, {}), self._here.begun
        all_begun.append(begun)
        try:
            yield
        finally:
            all_begun.remove(begun)
        for owner, (key, since, part) in begun.keys.items():
            if isinstance(part, RootTransaction):  # else it may have been rolled back
                self._fresh.put(owner, (key, since), _BYTES_OF_A_KEY + len(owner))

    @property
    def encrypts(self) -> bool:
        return self.cipher.encrypts

    def blinded(self, owner: str, column: str, text: str) -> bytes:
        """Equal for equal texts of one owner's column, and without their key nothing else. Needs keys."""
        key = hashlib.blake2b(b"langmem blind", key=self._key_to_write(owner).secret, digest_size=32).digest()
        return hmac.digest(key, f"{column}\0{text}".encode(), "sha256")

    def has_key(self, owner: str) -> bool:
        """Tells whether anything can be encrypted for them yet; asking makes no key."""
        return self._store is not None and self._fresh_key(owner) is not None

    def shred(self, owner: str) -> bool:
        """Deletes the owner's key: what was encrypted for them is unreadable, in every copy. Whether there was one.

        Other processes may use it for FRESH_SECONDS more: what they write until then must be deleted after that.
        """
        self._fresh.drop(owner)
        for each in self._here.begun:
            each.keys.pop(owner, None)
        return self._store is not None and self._store.shred(owner, self._writing().connection)

    def scrub(self) -> None:
        """Takes keys that were shredded out of the files of the key database. Raises ErasureIncomplete."""
        if self._store is not None:
            self._store.scrub()

    def rotate(self) -> Iterator[int]:
        """Wraps people's keys by the newest master key; how many so far. Nothing is encrypted anew."""
        return self._stored().rotate()

    def status(self) -> KeyStatus:
        return self._stored().status()

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def _stored(self) -> "KeyStore":
        if self._store is None:
            raise ConfigurationError("nothing is encrypted: `langmem keys new` makes a key for LANGMEM_KEYS")
        return self._store

    def _writing(self) -> _Begun:
        begun = self._here.begun
        return next((each for each in reversed(begun) if each.writes), begun[0])

    def _key_to_write(self, owner: str) -> OwnerKey:
        if (found := self._fresh_key(owner)) is not None:
            return found
        writing = self._writing()
        return self._keep(owner, self._stored().make_key(owner, writing.connection), writing)

    def _key_to_read(self, owner: str, key_id: bytes) -> OwnerKey | None:
        found = self._fresh_key(owner)
        return found if found is not None and found.key_id == key_id else None

    def _fresh_key(self, owner: str) -> OwnerKey | None:
        oldest, last = time.monotonic() - FRESH_SECONDS, self._here.begun[-1]
        if (kept := self._fresh.get(owner)) is not None and kept[1] > oldest:
            return kept[0]
        key, since, part = last.keys.get(owner, (None, 0.0, None))
        if part is not None and part.is_active and since > oldest:
            return key
        found = self._stored().key_of(owner, last.connection)
        return None if found is None else self._keep(owner, found, last)

    def _keep(self, owner: str, key: OwnerKey, begun: _Begun) -> OwnerKey:
        now = time.monotonic()
        if begun.writes and begun.connection is not None:
            part = begun.connection.get_nested_transaction() or begun.connection.get_transaction()
            begun.keys[owner] = key, now, part
        else:
            self._fresh.put(owner, (key, now), _BYTES_OF_A_KEY + len(owner))
        return key


NO_ENCRYPTION = Encryption()


def encryption_of(connection: Connection) -> Encryption:
    """The encryption of the database that the connection belongs to."""
    found: Encryption = connection.get_execution_options()["langmem_encryption"]
    return found
