"""The keys of LANGMEM_KEYS: they wrap the keys of people, and encrypt nothing else."""

import base64
import binascii
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from langmem_plugin.errors import ConfigurationError

_BYTES = 32
_NONCE = 12
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")
_EXPECTED = "a comma-separated list of NAME:KEY, the newest first, as `langmem keys new` makes them"


@dataclass(frozen=True)
class MasterKey:
    name: str
    secret: bytes = field(repr=False)

    @property
    def check(self) -> bytes:
        """Tells this key from another of the same name, and nothing about it."""
        return hashlib.blake2b(b"langmem master key", key=self.secret, digest_size=16).digest()

    def wrap(self, key: bytes, bound_to: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + AESGCM(self.secret).encrypt(nonce, key, bound_to)

    def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytes | None:
        """Unwraps a key; None if another master key wrapped it, or it is bound to something else."""
        try:
            return AESGCM(self.secret).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], bound_to)
        except (InvalidTag, ValueError):
            return None


class MasterKeys:
    """The newest first: it wraps what is new, and the others open what they wrapped."""

    def __init__(self, keys: Iterable[MasterKey]) -> None:
        self._by_name = {key.name: key for key in keys}
        self.newest = next(iter(self._by_name.values()))

    @classmethod
    def of(cls, text: str) -> Self:
        """Reads LANGMEM_KEYS. Raises ConfigurationError, which never quotes a key."""
        keys = [_key(each) for each in text.split(",") if each.strip()]
        if not keys:
            raise ConfigurationError(f"LANGMEM_KEYS is empty: {_EXPECTED} is expected")
        if len({key.name for key in keys}) < len(keys):
            raise ConfigurationError("LANGMEM_KEYS names a key twice: each needs a name of its own")
        return cls(keys)

    def named(self, name: str) -> MasterKey | None:
        return self._by_name.get(name)

    def __iter__(self) -> Iterator[MasterKey]:
        return iter(self._by_name.values())


def new_master_key() -> str:
    """NAME:KEY, ready to be put in front of LANGMEM_KEYS."""
    return f"{os.urandom(4).hex()}:{base64.urlsafe_b64encode(os.urandom(_BYTES)).decode().rstrip('=')}"


def _key(text: str) -> MasterKey:
    name, _, written = text.strip().partition(":")
    try:
        secret = base64.b64decode(written + "=" * (-len(written) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if not _NAME.fullmatch(name) or len(secret) != _BYTES:
        raise ConfigurationError(f"LANGMEM_KEYS holds something that is no key: {_EXPECTED} is expected")
    return MasterKey(name, secret)
