"""A row's words, encrypted as one value for that row; what they are found by is stored as keyed digests of them."""

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Column

from langmem_plugin.database.encryption import Encryption, Place, RowCipher
from langmem_plugin.database.schema import Name, name_to_store, to_store
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.identifiers import OwnerKey

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def of_values(*values: Any) -> int:
    """A checksum of JSON values in this order, instants among them; the same in every release, for it is stored."""
    return zlib.crc32(_written(values))


def digest_of_values(*values: Any) -> str:
    """The same where somebody may change them on purpose, to be kept where nobody else can write."""
    return hashlib.blake2b(_written(values), digest_size=16).hexdigest()


def of_vector(owner: OwnerKey, model: str, row_id: str, stored: bytes) -> int:
    return zlib.crc32(stored, zlib.crc32(f"{owner}\n{model}\n{row_id}".encode("utf-8", "surrogatepass")))


def vector_is_whole(owner: OwnerKey, model: str, row_id: str, stored: Any, checksum: int | None) -> bool:
    return isinstance(stored, bytes) and checksum in (None, of_vector(owner, model, row_id, stored))


def instant(stored: int | None) -> datetime | None:
    """The instant of the microseconds in a column. Raises TypeError or OverflowError for what never was an instant."""
    return None if stored is None else _EPOCH + timedelta(microseconds=stored)


def _written(values: tuple[Any, ...]) -> bytes:
    return json.dumps(values, default=_microseconds, separators=(",", ":")).encode()


def _microseconds(value: datetime) -> int:
    return (value - _EPOCH) // timedelta(microseconds=1)


_DIGEST_BYTES = 16

Blinding = Callable[[Encryption, OwnerKey, Column[Any], str], str]


def seal(cipher: RowCipher, place: Place, words: Mapping[str, Any], beside: Sequence[Any]) -> bytes:
    """`beside` is what stays in plain in the row, and without which the words are not to be believed."""
    return cipher.encrypt(place, json.dumps([words, digest_of_values(*beside)], separators=(",", ":")).encode())


def unseal(cipher: RowCipher, place: Place, sealed: Any, beside: Sequence[Any]) -> dict[str, Any]:
    """Raises DecryptionRefused where this is not what was sealed for the row, or the rest of it was changed."""
    words, digest = _opened(cipher, place, sealed)
    if digest != digest_of_values(*beside):
        raise DecryptionRefused(f"a row of {place.table} was changed beside what is encrypted in it: restore a backup")
    return words


def words_alone(cipher: RowCipher, place: Place, sealed: Any) -> dict[str, Any]:
    """Without a look at the rest of the row, which is looked at when it is shown. Raises DecryptionRefused."""
    return _opened(cipher, place, sealed)[0]


def _opened(cipher: RowCipher, place: Place, sealed: Any) -> tuple[dict[str, Any], str]:
    if not isinstance(sealed, bytes):
        raise DecryptionRefused(f"a row of {place.table} is not encrypted: restore it from a backup")
    try:
        words, digest = json.loads(cipher.decrypt(place, sealed))
    except ValueError as error:  # of a database without keys: there it is no ciphertext either
        raise DecryptionRefused(f"a row of {place.table} is not what was stored: restore it from a backup") from error
    return words, digest


def blinded(encryption: Encryption, owner: OwnerKey, column: Column[Any], text: str) -> str:
    """The digest in place of `text` in an encrypted row. Raises InvalidInput for a text that no row could hold."""
    checked = name_to_store(text) if isinstance(column.type, Name) else to_store(text)
    return encryption.blinded(owner, column.name, checked)[:_DIGEST_BYTES].hex()


def blinded_slot(encryption: Encryption, owner: OwnerKey, column: Column[Any], slot: str) -> str:
    """It ends in a slash and the digest of the attribute, as the slot in plain ends in the attribute."""
    whole = blinded(encryption, owner, column, slot)
    _, slash, attribute = slot.partition("/")
    return f"{whole}/{blinded(encryption, owner, column, attribute)}" if slash else whole


def blinded_digest(encryption: Encryption, owner: OwnerKey, said: str) -> bytes:
    return encryption.blinded(owner, "text_digest", to_store(said))[:_DIGEST_BYTES]


def as_stored(
    encryption: Encryption, owner: OwnerKey, column: Column[Any], texts: Sequence[str], blind: Blinding = blinded
) -> list[str]:
    """The stored forms of these texts in rows: digests where rows are encrypted; none for an owner without a key."""
    if not encryption.encrypts:
        return list(texts)
    return [blind(encryption, owner, column, text) for text in texts] if encryption.has_key(owner) else []
