"""Messages that came in as records: what each said and what was answered, read and put back."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, select

from langmem_plugin.conversation.storage.codec import from_bytes, to_bytes
from langmem_plugin.database.conversation_tables import incoming as table
from langmem_plugin.database.encryption.encrypted_columns import INCOMING, REPLY
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import DamagedSession
from langmem_plugin.facts.redaction import without_secrets
from langmem_plugin.logs import event_log

log = event_log(__name__)


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    """`message` is there until it is answered, `reply` from then on."""

    message_id: str
    received_at: datetime
    message: BaseMessage | None
    reply: str | None
    sent: bool


class ClaimRecords:
    """`serde` is the one that MessageClaims packs with."""

    def __init__(self, serde: Callable[[], SerializerProtocol]) -> None:
        self._serde = serde

    def of_thread(self, connection: Connection, thread: str) -> list[ClaimRecord]:
        """In the order they came in. One that cannot be read is left out, with an ERROR."""
        mine = select(table).where(table.c.thread == thread).order_by(table.c.position, table.c.message_id)
        found = []
        for row in connection.execute(mine):
            key = (thread, row.message_id)
            try:
                message = self._unpacked(INCOMING.decrypted(connection, key, row.payload))
                reply = self._unpacked(REPLY.decrypted(connection, key, row.reply))
            except DamagedSession:
                log.exception("message.unreadable")
                continue
            found.append(ClaimRecord(row.message_id, row.received_at, message, reply, row.sent))
        return found

    def keep(self, connection: Connection, thread: str, record: ClaimRecord, position: int) -> bool:
        """False where it is there. What was not answered is answered together with the person's next message."""
        key = (thread, record.message_id)
        values = {
            "thread": thread,
            "message_id": record.message_id,
            "position": position,
            "ticket": None,
            "attempts": 0,
            "received_at": record.received_at,
            "payload": INCOMING.encrypted(connection, key, self._packed(record.message)),
            "reply": REPLY.encrypted(connection, key, self._packed(record.reply and without_secrets(record.reply))),
            "sent": record.sent,
        }
        statement = insert_unless_there(table, table.c.message_id)[connection.dialect.name]
        return connection.execute(statement, values).first() is not None

    def _packed(self, value: BaseMessage | str | None) -> bytes | None:
        return None if value is None else to_bytes(self._serde(), value)

    def _unpacked(self, stored: bytes | None) -> Any:
        return None if stored is None else from_bytes(self._serde(), stored)
