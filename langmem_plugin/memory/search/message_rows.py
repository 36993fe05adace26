"""A searchable message as a row and back: read only if it is what was written."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BigInteger, type_coerce

from langmem_plugin.database.memory_tables import history_message as table
from langmem_plugin.memory import checksums
from langmem_plugin.memory.damaged_rows import AnyRow

# The owner, the fields of PastMessage, of_session and the checksum, as they are stored.
STORED = [
    *(table.c.owner, table.c.message_id, table.c.session_id, table.c.speaker, table.c.text),
    *(type_coerce(table.c.said_at, BigInteger), table.c.of_session, table.c.checksum),
]


@dataclass(frozen=True)
class PastMessage:
    """One message of a person or of the bot; `speaker` is a name or a role."""

    message_id: str
    session_id: str
    speaker: str
    text: str
    said_at: datetime


def as_message(row: AnyRow) -> PastMessage | None:
    """Of a row of STORED; None where it does not hold what was written."""
    owner, message_id, session_id, speaker, text, said_at, of_session, written = row
    try:
        instant = checksums.instant(said_at)
    except (TypeError, OverflowError):
        return None
    if instant is None or not all(isinstance(each, str) for each in (message_id, session_id, speaker, text)):
        return None
    message = PastMessage(message_id, session_id, speaker, text, instant)
    return message if written in (None, checksum_of(owner, message, of_session)) else None


def checksum_of(owner: str, message: PastMessage, of_session: str | None) -> int:
    return checksums.of_values(
        owner, message.message_id, message.session_id, message.speaker, message.text, message.said_at, of_session
    )
