"""When a memory is the same as another: by a digest of key and text; case, spacing and full stops do not count."""

import hashlib
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, select

from langmem_plugin.database.encryption import Encryption
from langmem_plugin.database.memory_tables import memory
from langmem_plugin.database.schema import in_parts
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep.memory_rows import valid
from langmem_plugin.memory.keep.sealed_rows import blinded_digest
from langmem_plugin.memory.models import LIVE, Status, bare


def digest_of(encryption: Encryption, owner: OwnerKey, salt: bytes, text: str, key: str | None) -> bytes:
    """Equal for texts that say the same under the same key, and different for every owner.

    With keys it is the owner's own that makes it: with the salt, which lies beside, nobody can tell whether they have
    guessed a text.
    """
    said = f"{key or ''}\n{bare(text)}"
    if encryption.encrypts:
        return blinded_digest(encryption, owner, said)
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), key=salt, digest_size=16).digest()


def known(
    connection: Connection,
    owner: OwnerKey,
    digests: Sequence[bytes],
    now: datetime,
    *,
    statuses: Sequence[Status] = LIVE,
) -> dict[str, bytes]:
    """Those of the digests that the owner's memories in one of these states have, by memory id."""
    found: dict[str, bytes] = {}
    for part in in_parts(digests):
        # In one step SQLite reads all the owner's rows: it takes the primary key where a column is in no index.
        same = select(memory.c.memory_id).where(memory.c.owner == owner, memory.c.text_digest.in_(part))
        with_digest = select(memory.c.memory_id, memory.c.text_digest).where(
            memory.c.owner == owner,
            memory.c.memory_id.in_(same),
            memory.c.status.in_(statuses),
            valid(now),
        )
        found.update((memory_id, digest) for memory_id, digest in connection.execute(with_digest))
    return found
