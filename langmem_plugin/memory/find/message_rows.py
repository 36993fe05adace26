"""A searchable message as a row and back: read only if it is what was written."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, type_coerce

from langmem_plugin.database.encryption import Encryption, Place
from langmem_plugin.database.memory_tables import history_message as table
from langmem_plugin.database.schema import name_to_store, to_store
from langmem_plugin.errors import DecryptionRefused
from langmem_plugin.identifiers import OwnerKey
from langmem_plugin.memory.keep import sealed_rows
from langmem_plugin.memory.keep.damaged_rows import AnyRow
from langmem_plugin.memory.keep.sealed_rows import seal, unseal, words_alone

# The owner, the fields of PastMessage, of_session, what is encrypted and the checksum, as they are stored.
STORED = [
    *(table.c.owner, table.c.message_id, table.c.session_id, table.c.speaker, table.c.text),
    *(type_coerce(table.c.said_at, BigInteger), table.c.of_session, table.c.sealed, table.c.checksum),
]


@dataclass(frozen=True)
class PastMessage:
    """One message of a person or of the bot; `speaker` is a name or a role."""

    message_id: str
    session_id: str
    speaker: str
    text: str
    said_at: datetime


def as_message(row: AnyRow, encryption: Encryption) -> PastMessage | None:
    """Read a row of STORED; None where it does not hold what was written, or is in plain and should not be."""
    owner, message_id, session_id, speaker, text, said_at, of_session, sealed, written = row
    try:
        instant = sealed_rows.instant(said_at)
        if is_sealed(encryption, sealed):
            beside = (session_id, said_at, of_session, speaker, text)
            words = unseal(encryption.cipher, _place(owner, message_id), sealed, beside)
            speaker, text = words["speaker"], words["text"]
    except (TypeError, OverflowError, DecryptionRefused):
        return None
    if instant is None or not all(isinstance(each, str) for each in (message_id, session_id, speaker, text)):
        return None
    message = PastMessage(message_id, session_id, speaker, text, instant)
    whole = sealed is not None or written in (None, checksum_of(owner, message, of_session))
    return message if whole else None


def as_values(owner: OwnerKey, message: PastMessage, of_session: str | None, encryption: Encryption) -> dict[str, Any]:
    """The columns of a message, but for its change."""
    values: dict[str, Any] = {
        "owner": owner,
        "message_id": message.message_id,
        "session_id": message.session_id,
        "speaker": message.speaker,
        "text": message.text,
        "said_at": message.said_at,
        "of_session": of_session,
    }
    if not encryption.encrypts:
        return values | {"sealed": None, "checksum": checksum_of(owner, message, of_session)}
    words = {"speaker": name_to_store(message.speaker), "text": to_store(message.text)}
    beside = (message.session_id, message.said_at, of_session, "", "")
    sealed = seal(encryption.cipher, _place(owner, message.message_id), words, beside)
    return values | {"speaker": "", "text": "", "sealed": sealed, "checksum": None}


def said(encryption: Encryption, key: tuple[OwnerKey, str], text: Any, speaker: Any, sealed: Any) -> tuple[Any, Any]:
    """(text, speaker) of the row (owner, id), before it is looked at whole; (None, None) where they cannot be had."""
    if not is_sealed(encryption, sealed):
        return text, speaker
    try:
        words = words_alone(encryption.cipher, _place(*key), sealed)
    except DecryptionRefused:
        return None, None
    return words["text"], words["speaker"]


def is_sealed(encryption: Encryption, sealed: Any) -> bool:
    """True where the row must be read as encrypted: a plain row, where all are encrypted, is then refused."""
    return sealed is not None or encryption.encrypts


def checksum_of(owner: OwnerKey, message: PastMessage, of_session: str | None) -> int:
    return sealed_rows.of_values(
        owner, message.message_id, message.session_id, message.speaker, message.text, message.said_at, of_session
    )


def _place(owner: OwnerKey, message_id: str) -> Place:
    return Place(table.name, "sealed", owner, (message_id,))
