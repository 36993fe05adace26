"""One value of a row, encrypted for its place and for nothing else (AES-256-GCM, NIST SP 800-38D).

A stored value begins with a mark and the id of the owner's key, then comes the nonce, then what was encrypted with its
tag. The place is the associated data: its parts with their lengths, so that no two places are written alike.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from langmem_plugin.errors import DecryptionRefused

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
