"""The encryption of a database, with a key of each owner; without keys nothing is, and what is encrypted is refused.

A value is encrypted for its place in a row and for nothing else (AES-256-GCM, NIST SP 800-38D). It begins with a mark
and the id of the owner's key, then comes the nonce, then what was encrypted with its tag. The place is the associated
data: its parts with their lengths, so that no two places are written alike.
"""

import hashlib
import hmac
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Connection, RootTransaction, Transaction

from langmem_plugin.errors import ConfigurationError, DecryptionRefused
from langmem_plugin.lru_cache import LruCache

if TYPE_CHECKING:
    from langmem_plugin.database.encryption.key_store import KeyStore

FRESH_SECONDS = 5.0
"""The time for which a process may go on using a key that another one has shredded."""
_KEPT_BYTES, _BYTES_OF_A_KEY = 2_000_000, 300
MARK = b"\xf5LM1"  # begins no text and nothing that conversation/storage/codec.py writes
_KEY_ID, _NONCE = 4, 12
_AT = len(MARK) + _KEY_ID
EXTRA_BYTES = _AT + _NONCE + 16


class Place(NamedTuple):
    """The place where a value is stored: `owner` is the first part of the row's key, `rest` what else is in it."""

    table: str
    column: str
    owner: str
    rest: tuple[str | int, ...]


class OwnerKey(NamedTuple):
    key_id: bytes
    secret: bytes


class RowCipher:
    """`key_to_write` gives an owner's key, made if need be; `key_to_read` the one of an id, None where it is gone.

    Without them values are stored as they are, and one that is encrypted is refused.
    """

    def __init__(
        self,
        key_to_write: Callable[[str], OwnerKey] | None = None,
        key_to_read: Callable[[str, bytes], OwnerKey | None] = lambda *_: None,
    ) -> None:
        self.encrypts = key_to_write is not None
        self._key_to_write = key_to_write
        self._key_to_read = key_to_read

    def encrypt(self, place: Place, plain: bytes) -> bytes:
        if self._key_to_write is None:
            return plain
        key = self._key_to_write(place.owner)
        nonce = os.urandom(_NONCE)
        return MARK + key.key_id + nonce + AESGCM(key.secret).encrypt(nonce, plain, _bound_to(place))

    def decrypt(self, place: Place, stored: bytes) -> bytes:
        """Raises DecryptionRefused for what was not encrypted for this place."""
        if not self.encrypts and is_encrypted(stored):
            raise DecryptionRefused(f"{place.table}.{place.column} is encrypted: set LANGMEM_KEYS", lacks_key=True)
        if not self.encrypts:
            return stored
        if not is_encrypted(stored):
            raise DecryptionRefused(
                f"{place.table}.{place.column} holds a value that is not encrypted: restore it from a backup"
            )
        key = self._key_to_read(place.owner, stored[len(MARK) : _AT])
        if key is None:
            raise DecryptionRefused(
                f"the key of {place.table}.{place.column} is not there: its owner was erased, or the key database is "
                "another one: bring that back, or purge what it belongs to",
                lacks_key=True,
            )
        try:
            return AESGCM(key.secret).decrypt(stored[_AT : _AT + _NONCE], stored[_AT + _NONCE :], _bound_to(place))
        except (InvalidTag, ValueError) as error:
            raise DecryptionRefused(
                f"{place.table}.{place.column} is not what was encrypted for this row: restore it from a backup"
            ) from error


PLAINTEXT = RowCipher()


def is_encrypted(stored: bytes) -> bool:
    return stored[: len(MARK)] == MARK


def _bound_to(place: Place) -> bytes:
    parts = (place.table, place.column, place.owner, *map(str, place.rest))
    return b"".join(len(part).to_bytes(4) + part for part in (each.encode() for each in parts))


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
        self.is_shared = store is not None and store.is_shared
        """True where the keys lie in the database that they encrypt."""
        self._here = _OfThread()

    @contextmanager
    def within(self, connection: Connection, *, writes: bool) -> Iterator[None]:
        """Keys that lie in the connection's database are asked by it, in a block around its transaction.

        By another one, transactions that hold all connections of a pooler would wait for each other.
        """
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


def in_the_open(encryption: Encryption) -> str | None:
    """Return in words for the operator what a reader of a database's files learns; None if there are keys."""
    if encryption.encrypts:
        return None
    return (
        "no keys: whoever reads the database's files, or a backup of them, reads what people say and are told, what is "
        "remembered of them and their pictures; `langmem keys new` makes a key for LANGMEM_KEYS"
    )
