"""Notices what storage has changed: a number beside each row, over what was written."""

import hashlib
import json
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

from langmem_plugin.identifiers import OwnerKey

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def of_values(*values: Any) -> int:
    """Of JSON values in this order, instants among them; the same in every release, for it is stored."""
    return zlib.crc32(_written(values))


def digest_of_values(*values: Any) -> str:
    """The same where somebody may change them on purpose, to be kept where nobody else can write."""
    return hashlib.blake2b(_written(values), digest_size=16).hexdigest()


def of_vector(owner: OwnerKey, model: str, row_id: str, stored: bytes) -> int:
    return zlib.crc32(stored, zlib.crc32(f"{owner}\n{model}\n{row_id}".encode("utf-8", "surrogatepass")))


def vector_is_whole(owner: OwnerKey, model: str, row_id: str, stored: Any, checksum: int | None) -> bool:
    return isinstance(stored, bytes) and checksum in (None, of_vector(owner, model, row_id, stored))


def instant(stored: int | None) -> datetime | None:
    """Of the microseconds that a column holds. Raises TypeError or OverflowError for what never was an instant."""
    return None if stored is None else _EPOCH + timedelta(microseconds=stored)


def _written(values: tuple[Any, ...]) -> bytes:
    return json.dumps(values, default=_microseconds, separators=(",", ":")).encode()


def _microseconds(value: datetime) -> int:
    return (value - _EPOCH) // timedelta(microseconds=1)
