"""The encryption of a database: what is encrypted, with whose keys; without keys, nothing is, and what is encrypted is
refused.
"""

import hashlib
import hmac
import time
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from sqlalchemy import Connection

from langmem_plugin.database.encryption.row_cipher import PLAINTEXT, OwnerCipher, OwnerKey, RowCipher
from langmem_plugin.errors import ConfigurationError
from langmem_plugin.lru import LruCache

FRESH_SECONDS = 5.0
"""For so long a process goes on using a key that another one has shredded."""
_KEPT_BYTES, _BYTES_OF_A_KEY = 2_000_000, 300


class KeyStatus(NamedTuple):
    """`wrapped` counts people's keys by the name of the master key that wraps them."""

    newest: str
    wrapped: dict[str, int]


class Keys(Protocol):
    """Where the keys of people are (key_store.py)."""

    store_id: str

    def key_of(self, owner: str) -> OwnerKey | None: ...
    def make_key(self, owner: str) -> OwnerKey: ...
    def shred(self, owner: str) -> bool: ...
    def scrub(self) -> None: ...
    def rotate(self) -> Iterator[int]: ...
    def status(self) -> KeyStatus: ...
    def close(self) -> None: ...


class Encryption:
    """`cipher` is for all that a person says and is told.

    It may raise StoreUnavailable, when the key database cannot be asked.
    """

    def __init__(self, store: Keys | None = None) -> None:
        self._store = store
        self._fresh: LruCache[str, tuple[OwnerKey, float]] = LruCache(_KEPT_BYTES)
        self.cipher: RowCipher = PLAINTEXT if store is None else OwnerCipher(self._key_to_write, self._key_to_read)
        self.store_id = None if store is None else store.store_id

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
        return self._store is not None and self._store.shred(owner)

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

    def _stored(self) -> Keys:
        if self._store is None:
            raise ConfigurationError("nothing is encrypted: `langmem keys new` makes a key for LANGMEM_KEYS")
        return self._store

    def _key_to_write(self, owner: str) -> OwnerKey:
        return self._fresh_key(owner) or self._keep(owner, self._stored().make_key(owner))

    def _key_to_read(self, owner: str, key_id: bytes) -> OwnerKey | None:
        found = self._fresh_key(owner)
        return found if found is not None and found.key_id == key_id else None

    def _fresh_key(self, owner: str) -> OwnerKey | None:
        kept = self._fresh.get(owner)
        if kept is not None and time.monotonic() - kept[1] < FRESH_SECONDS:
            return kept[0]
        found = self._stored().key_of(owner)
        return None if found is None else self._keep(owner, found)

    def _keep(self, owner: str, key: OwnerKey) -> OwnerKey:
        self._fresh.put(owner, (key, time.monotonic()), _BYTES_OF_A_KEY + len(owner))
        return key


NO_ENCRYPTION = Encryption()


def encryption_of(connection: Connection) -> Encryption:
    """Of the database that the connection belongs to."""
    found: Encryption = connection.get_execution_options()["langmem_encryption"]
    return found
