"""Turns channel values and the writes of tasks into rows and bytes, and reads them back."""

from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, bindparam, insert, select

from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage import checkpoint_format, codec
from langmem_plugin.conversation.storage.checkpoint_format import (
    InlineValue,
    MessageList,
    StoredValue,
    Typed,
    ValueRow,
)
from langmem_plugin.conversation.storage.row_allocator import RowLease
from langmem_plugin.conversation.storage.row_numbers import NO_ROWS
from langmem_plugin.conversation.storage.session_messages import SessionMessages
from langmem_plugin.database.conversation_tables import value as value_table
from langmem_plugin.database.encryption.encrypted_columns import VALUE
from langmem_plugin.database.prepared import Prepared
from langmem_plugin.errors import DamagedSession, NotSerializable


@dataclass(frozen=True, slots=True)
class ChannelValues:
    """The values of one session, inside one transaction."""

    connection: Connection
    session: Session
    serde: SerializerProtocol
    lease: RowLease
    messages: SessionMessages

    def load(self, stored: StoredValue) -> Any:
        """A copy that the caller may change. Raises DamagedSession if a row of it is lost."""
        match stored:
            case MessageList(rows):
                return self.messages.messages(rows)
            case InlineValue(typed, marked):
                value = codec.load(self.serde, typed)
                return codec.put_back(value, self.messages.messages) if marked else value
            case ValueRow(row):
                found = _VALUE.first(
                    self.connection,
                    {"of_thread": self.session.thread, "of_session": self.session.number, "of_row": row},
                )
                if found is None:
                    raise DamagedSession(f"value row {row} is missing: run `langmem doctor`")
                payload = VALUE.decrypted(self.connection, self._key(row), found[0])
                return codec.from_bytes(self.serde, payload)

    def check(self, stored: StoredValue) -> None:
        """Raises DamagedSession as `load` does; messages are decoded for the next who asks."""
        if isinstance(stored, MessageList):
            self.messages.check(stored.rows)
        else:
            self.load(stored)

    def store(self, channel: str, value: Any, before: StoredValue | None = None) -> StoredValue:
        """The value as it is to be stored; `before` is what the channel held until now.

        Raises NotSerializable with the channel's name.
        """
        previous = before.rows if isinstance(before, MessageList) else NO_ROWS
        try:
            return checkpoint_format.hold(
                self.serde,
                self.messages.reduced_state(value),
                lambda messages: self.messages.store(messages, previous),
                self._add_row,
            )
        except NotSerializable as error:
            raise NotSerializable(f"the channel {channel!r}: {error}") from error

    def _add_row(self, typed: Typed) -> int:
        row = self.lease.take()
        _ADD_VALUE.run(
            self.connection,
            {
                "thread": self.session.thread,
                "session": self.session.number,
                "row": row,
                "payload": VALUE.encrypted(self.connection, self._key(row), codec.compress(*typed)),
            },
        )
        return row

    def _key(self, row: int) -> tuple[str, int, int]:
        return self.session.thread, self.session.number, row


_VALUE = Prepared(
    select(value_table.c.payload).where(
        value_table.c.thread == bindparam("of_thread"),
        value_table.c.session == bindparam("of_session"),
        value_table.c.row == bindparam("of_row"),
    )
)
_ADD_VALUE = Prepared(insert(value_table))
