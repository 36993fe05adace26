"""Messages that came in as records: what each said and what was answered, read and put back."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, select

from langmem_plugin.conversation.storage.codec import compress, decompress, dump, load
from langmem_plugin.database.conversation_tables import incoming as table
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import DamagedSession
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
            try:
                message = None if row.payload is None else load(self._serde(), decompress(row.payload))
                reply = None if row.reply is None else load(self._serde(), decompress(row.reply))
            except DamagedSession:
                log.exception("message.unreadable")
                continue
            found.append(ClaimRecord(row.message_id, row.received_at, message, reply, row.sent))
        return found

    def keep(self, connection: Connection, thread: str, record: ClaimRecord, position: int) -> bool:
        """False where it is there. What was not answered is answered together with the person's next message."""
        values = {
            "thread": thread,
            "message_id": record.message_id,
            "position": position,
            "ticket": None,
            "attempts": 0,
            "received_at": record.received_at,
            "payload": None if record.message is None else compress(*dump(self._serde(), record.message)),
            "reply": None if record.reply is None else compress(*dump(self._serde(), record.reply)),
            "sent": record.sent,
        }
        statement = insert_unless_there(table, table.c.message_id)[connection.dialect.name]
        return connection.execute(statement, values).first() is not None
