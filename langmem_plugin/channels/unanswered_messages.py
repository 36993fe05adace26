"""Unanswered messages that were acknowledged: their provider does not deliver them again.

The process that answers a message holds it, and renews that now and then; one that nobody holds any more is taken up by
any process. Two processes at one message, as after one stood still, do no harm: it is claimed by its id
(message_claims.py).
"""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, select, tuple_, update

from langmem_plugin.agent.replying.reply_to_message import ANSWER_WITHIN
from langmem_plugin.channels.payloads import Incoming, log
from langmem_plugin.conversation.quoted_and_own_words import Quoted
from langmem_plugin.database.conversation_tables import acknowledged as table
from langmem_plugin.database.encryption.encrypted_columns import ACKNOWLEDGED
from langmem_plugin.database.schema import insert_unless_there
from langmem_plugin.errors import SessionRefused
from langmem_plugin.identifiers import masked, normalised
from langmem_plugin.plugin import PhoneMemory

HELD_FOR = timedelta(minutes=1)

Key = tuple[str, str]


@dataclass(frozen=True)
class Acknowledged:
    """The acknowledged messages of one channel, which has the name of its provider."""

    memory: PhoneMemory
    channel: str

    def key(self, message: Incoming) -> Key:
        """Return the message's key: its sender's identifier, and an id. Raises InvalidInput for a bad identifier."""
        identifier = normalised(message.who, self.memory.settings.default_region)
        named = json.dumps([identifier, self.channel, *message.ids, message.edited, message.moved_from])
        return identifier, hashlib.blake2b(named.encode(), digest_size=16).hexdigest()

    def note(self, messages: Sequence[Incoming]) -> None:
        """Keep the messages, held by the calling process."""
        now = self._now()
        with self.memory.database.write() as connection:
            for message in messages:
                key = identifier, delivery_id = self.key(message)
                values = {
                    "identifier": identifier,
                    "delivery_id": delivery_id,
                    "channel": self.channel,
                    "received_at": now,
                    "held_until": now + HELD_FOR,
                    "payload": ACKNOWLEDGED.encrypted(connection, key, _packed(message)),
                }
                connection.execute(insert_unless_there(table)[connection.dialect.name], values)

    def renew(self, keys: Collection[Key]) -> None:
        """Note that the messages with these keys are still being answered."""
        if keys:
            with self.memory.database.write(durable=False) as connection:
                mine = tuple_(table.c.identifier, table.c.delivery_id).in_(list(keys))
                connection.execute(update(table).where(mine).values(held_until=self._now() + HELD_FOR))

    def answered(self, key: Key) -> None:
        """Forget an answered message."""
        with self.memory.database.write(durable=False) as connection:
            connection.execute(delete(table).where(*_row(key)))

    def take_up(self) -> list[tuple[Key, Incoming]]:
        """Return the messages that nobody holds, in the order in which they came, held from now on by the calling
        process.

        A message that came too long ago to be answered is dropped, with an ERROR.
        """
        let_go = select(table).where(table.c.channel == self.channel, table.c.held_until <= self._now())
        with self.memory.database.read() as connection:  # a look that finds nothing must not block a writer
            if connection.execute(let_go.limit(1)).first() is None:
                return []
        with self.memory.database.write() as connection:
            rows = connection.execute(let_go.order_by(table.c.received_at, table.c.delivery_id)).all()
            taken = [((row.identifier, row.delivery_id), self._taken(connection, row)) for row in rows]
        return [(key, message) for key, message in taken if message is not None]

    def _taken(self, connection: Connection, row: Row[Any]) -> Incoming | None:
        key, extra = (row.identifier, row.delivery_id), {"phone": masked(row.identifier)}
        if row.received_at <= self._now() - ANSWER_WITHIN:
            connection.execute(delete(table).where(*_row(key)))
            log.error("webhook.given_up", extra=extra)
            return None
        free = update(table).where(*_row(key), table.c.held_until == row.held_until)
        if not connection.execute(free.values(held_until=self._now() + HELD_FOR)).rowcount:
            return None  # another process took it first
        try:
            return _unpacked(ACKNOWLEDGED.decrypted(connection, key, row.payload))
        except SessionRefused:
            log.exception("message.unreadable", extra=extra)
            return None

    def _now(self) -> datetime:
        return self.memory.saver.sessions.now()


def _row(key: Key) -> tuple[ColumnElement[bool], ...]:
    return table.c.identifier == key[0], table.c.delivery_id == key[1]


def _packed(message: Incoming) -> bytes:
    return json.dumps({**asdict(message), "sent_at": message.sent_at and message.sent_at.isoformat()}).encode()


def _unpacked(payload: bytes) -> Incoming:
    given = json.loads(payload)
    sent_at, quoted = given.pop("sent_at"), given.pop("quoted")
    return Incoming(
        **given,
        sent_at=None if sent_at is None else datetime.fromisoformat(sent_at),
        quoted=None if quoted is None else Quoted(*quoted),
    )
