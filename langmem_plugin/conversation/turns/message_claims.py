"""Messages that came in, claimed by their ids: each is answered once, even if delivered twice or cut short.

A message is noted in the transaction that draws its turn's ticket, and taken in the one that begins the turn; a message
that needs no turn is handled, claimed and answered in one. Its answer is kept with it for later deliveries, for
ANSWERS_KEPT_FOR. `IncomingMessage.claim_id` says which deliveries are of one message.
"""

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, bindparam, delete, null, select, update

from langmem_plugin.conversation.config_keys import ticket_of
from langmem_plugin.conversation.sessions import session_rows
from langmem_plugin.conversation.sessions.session_lifecycle import SessionStore
from langmem_plugin.conversation.storage.codec import from_bytes, to_bytes
from langmem_plugin.conversation.turns.turn_queue import line
from langmem_plugin.database import Database
from langmem_plugin.database.conversation_tables import incoming
from langmem_plugin.database.encryption.encrypted_columns import INCOMING, REPLY, bind_anew
from langmem_plugin.database.prepared_statements import Prepared, given
from langmem_plugin.database.schema import in_parts, insert_unless_there
from langmem_plugin.errors import DamagedSession, SessionRefused
from langmem_plugin.facts.redacted_text import without_secrets
from langmem_plugin.identifiers import masked
from langmem_plugin.logs import event_log

log = event_log(__name__)

MOST_ATTEMPTS = 3
"""The most turns that begin with one message: one that always ends the process must not stop all after it."""

ANSWERS_KEPT_FOR = timedelta(days=3)
"""The time for which the answer to a message is kept, for later deliveries."""

_NO_TURN = 0  # the ticket of a message that needed no turn; tickets begin with 1


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message that is to be answered; `attempts` counts earlier turns that began with it and were cut short.

    `waited` says that other turns came between it and its own first turn: it does not answer their questions.
    """

    message_id: str | None
    message: HumanMessage
    attempts: int = 0
    waited: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a message, and `sent` where the channel confirmed that it went out."""

    text: str
    sent: bool


class Claimed(Exception):
    """Another delivery of the message is answered, or to be answered."""


class _Nothing(Exception):
    """The work without a turn gave no answer."""


@dataclass
class Claim:
    """One delivery of a message, on its way through the turns: an Arrival. Without an id no second delivery is known.

    Once its turn has begun, `answer` is the answer given already, to an earlier delivery. If there is none, `before`
    are messages that came before it and whose turns were cut short, each to be answered first and by itself, and
    `together` those to be answered in one run, in their order: those refused as busy, the message itself, and with
    `joins` those that came after it and wait for a turn of their own. `session_id` is the session of its turn. `lost`
    is the session of an earlier turn, which another took away: if it is gone by now, as after an erasure,
    UnknownSession is raised and nothing begins.
    """

    claims: "MessageClaims"
    message: HumanMessage
    message_id: str | None
    joins: bool = False
    lost: str | None = None
    answer: Answer | None = None
    session_id: str | None = None
    before: list[Waiting] = field(default_factory=list)
    together: list[Waiting] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._payload = self.claims.packed(self.message) if self.message_id else None
        self._waits_in: str | None = None
        self._drawn_with: Connection | None = None
        self.position = 0
        """The place in the order of arrival: the ticket of the message's first delivery."""

    def drawn(self, connection: Connection, thread: str, ticket: int) -> None:
        self._refuse_gone(connection)
        self.position = ticket
        self._drawn_with = connection
        if self.message_id is not None:
            if self._waits_in not in {None, thread}:  # the sender is linked to another person by now
                self.claims.follow(connection, str(self._waits_in), thread, self.message_id)
            self._waits_in = thread
            self.claims.note(connection, thread, self.message_id, self._payload, ticket)

    def begun(self, connection: Connection, thread: str, ticket: int) -> None:
        self._refuse_gone(connection)
        waited = connection is not self._drawn_with
        rows = _OPEN.all(connection, {"of_thread": thread})
        own = next((row for row in rows if row[0] == self.message_id), None) if self.message_id else None
        if self.message_id and own is None:
            self.answer = self.claims.answer_in(connection, thread, self.message_id)
            return
        waiting = line(connection, thread) if self.joins else set()
        position = own[1] if own else self.position
        # A turn that was cut short is repeated as it was: no later message may join it.
        begun = own is not None and own[3] > 0
        before, refused, later = [], [], []
        for row in (each for each in rows if each is not own):
            _, at, of_ticket, attempts, _, _ = row
            if of_ticket is None and not attempts and not begun:
                refused.append(row)
            elif at < position:
                # Even if another delivery of it waits in the line: that one would come too late for the order.
                if attempts < MOST_ATTEMPTS:
                    before.append(row)
            elif self.joins and of_ticket in waiting and not begun and not attempts and at > position:
                later.append(row)
        unpacked = partial(self.claims.unpacked, connection, thread, waited=waited)
        self.before = unpacked(before)
        mine = Waiting(self.message_id, self.message, own[3] if own else 0, bool(own[5]) if own and begun else waited)
        self.together = [*unpacked(refused), mine, *unpacked(later)]
        self.claims.take(connection, thread, ticket, [*self.before, *self.together])

    def _refuse_gone(self, connection: Connection) -> None:
        if self.lost is not None:
            session_rows.anywhere(connection, self.lost)


class ClaimRecord(NamedTuple):
    """One message and its answer: `message` is there until it is answered, `reply` from then on."""

    message_id: str
    received_at: datetime
    message: BaseMessage | None
    reply: str | None
    sent: bool


class MessageClaims:
    """The claims on messages in one database. `serde` packs what is kept of messages and answers."""

    def __init__(self, database: Database, sessions: SessionStore, serde: Callable[[], SerializerProtocol]) -> None:
        self._database = database
        self._sessions = sessions
        self._serde = serde

    def once(
        self,
        thread: str,
        message_id: str | None,
        work: Callable[[], str | None],
        *,
        whose: Callable[[], str] | None = None,
        anyway: bool = False,
    ) -> str | None:
        """Do `work` that needs no turn; its text is kept as the answer in one transaction with its writes.

        Return the text, or None if the work says nothing; it has then written nothing. `whose` gives the conversation
        that keeps the answer when the work is done. Raises Claimed if another delivery is answered, or, unless
        `anyway`, to be answered.
        """
        if message_id is None:
            return work()
        with suppress(_Nothing), self._database.together():
            self._database.first(partial(self._refuse_claimed, thread=thread, message_id=message_id, anyway=anyway))
            text = work()
            if text is None:
                raise _Nothing
            with self._database.write() as connection:
                kept_for = thread if whose is None else whose()
                self.note(connection, kept_for, message_id, None, _NO_TURN)
                self.answered(connection, kept_for, [message_id], text)
            return text
        return None

    def _refuse_claimed(self, connection: Connection, *, thread: str, message_id: str, anyway: bool) -> None:
        """Raise Claimed if the message is claimed; first in its transaction, so that a second delivery waits here."""
        session_rows.one_at_a_time(connection, message_id)
        row = _ANSWER.first(connection, {"of_thread": thread, "of_message_id": message_id})
        if row is not None and not (anyway and row[0] is None):
            raise Claimed

    def answer_to(self, thread: str, message_id: str) -> Answer | None:
        """The answer to an earlier delivery of the message; None without one."""
        return self._database.select(lambda connection: self.answer_in(connection, thread, message_id))

    def newest_answer(self, thread: str) -> Answer | None:
        """The newest answer that a turn gave; None without one that is kept."""
        kept = select(incoming.c.message_id).where(incoming.c.thread == thread, incoming.c.reply.is_not(None))
        with self._database.read() as connection:
            newest = connection.execute(kept.order_by(incoming.c.position.desc()).limit(1)).scalar()
            return None if newest is None else self.answer_in(connection, thread, newest)

    def is_known(self, thread: str, message_id: str) -> bool:
        """Tell whether the message was delivered before, answered or not."""
        mine = {"of_thread": thread, "of_message_id": message_id}
        return self._database.select(lambda connection: _ANSWER.first(connection, mine)) is not None

    def answer_in(self, connection: Connection, thread: str, message_id: str) -> Answer | None:
        row = _ANSWER.first(connection, {"of_thread": thread, "of_message_id": message_id})
        if row is None or row[0] is None:
            return None
        try:
            plain = REPLY.decrypted(connection, (thread, message_id), row[0])
        except SessionRefused:
            # An answer that may be another person's is not told, and no message is answered twice.
            log.exception("answer.unreadable", extra={"phone": masked(thread)})
            return Answer("", sent=True)
        return Answer(from_bytes(self._serde(), plain), row[1])

    def refuse(self, thread: str, claim: Claim) -> None:
        """Note that nobody waits for its answer any more: it is answered together with the next message."""
        message_id = claim.message_id or uuid.uuid4().hex
        with self._database.write() as connection:
            self.note(connection, thread, message_id, self.packed(claim.message), claim.position)
            _REFUSE.run(connection, {"of_thread": thread, "of_message_id": message_id})

    def join(self, config: RunnableConfig, claim: Claim) -> bool:
        """Take into the claim the messages since its turn began, with `joins`; return whether there were any.

        Raises TurnLost.
        """
        if any(each.attempts for each in claim.together):  # the same rule as when the turn began
            return False
        taken = {each.message_id for each in (*claim.before, *claim.together)}
        thread = self._sessions.thread_of(config)
        with self._sessions.fenced(config), self._database.write(durable=False) as connection:
            rows = [row for row in _OPEN.all(connection, {"of_thread": thread}) if row[0] not in taken and not row[3]]
            waiting = line(connection, thread)
            new = self.unpacked(connection, thread, [row for row in rows if row[2] in waiting], waited=False)
            self.take(connection, thread, ticket_of(config) or 0, new)
        claim.together += new
        return bool(new)

    def answered(self, connection: Connection, thread: str, message_ids: Sequence[str], text: str) -> None:
        """Keep the answer, unless there is one.

        A code, a token or a password in it is kept as MASK: a reader of the file must not get in by it.
        """
        for message_id in message_ids[1:]:  # one message may be made of several, of which one was claimed
            self.note(connection, thread, message_id, None, _NO_TURN)
        reply = to_bytes(self._serde(), without_secrets(text))
        for message_id in message_ids:
            answer = REPLY.encrypted(connection, (thread, message_id), reply)
            _ANSWERED.run(connection, {"of_thread": thread, "of_message_id": message_id, "answer": answer})

    def went_out(self, thread: str, message_ids: Sequence[str], sent_as: str, *, is_last: bool) -> None:
        """Note that a part of the answer is sent; `sent_as` is the digest of its id in the channel ("" without one)."""
        with self._database.write(durable=not is_last) as connection:
            before = max(self._sent_as(connection, thread, message_ids), key=len, default=[])
            for part in in_parts(message_ids):
                these = update(incoming).where(incoming.c.thread == thread, incoming.c.message_id.in_(part))
                connection.execute(these.values(sent=is_last, sent_as=[*before, sent_as]))

    def parts_sent(self, thread: str, message_ids: Sequence[str]) -> int:
        """The number of parts of the answer to these messages that are sent."""
        sent = self._database.select(lambda connection: self._sent_as(connection, thread, message_ids))
        return max(map(len, sent), default=0)

    @staticmethod
    def _sent_as(connection: Connection, thread: str, message_ids: Sequence[str]) -> list[list[str]]:
        """Return the ids in the channel of the sent parts, for each of these messages."""
        mine = select(incoming.c.sent_as).where(incoming.c.thread == thread, incoming.c.message_id.in_(message_ids))
        return [each or [] for each in connection.execute(mine).scalars()]

    def text_sent_as(self, thread: str, sent_as: str) -> tuple[str | None, bool]:
        """The answer that was sent under this id of the channel, or None, and whether it is the newest."""
        newest = select(incoming.c.message_id, incoming.c.sent_as, incoming.c.received_at).where(
            incoming.c.thread == thread, incoming.c.reply.is_not(None), incoming.c.sent_as.is_not(None)
        )
        with self._database.read() as connection:
            rows = connection.execute(newest.order_by(incoming.c.received_at.desc(), incoming.c.position.desc())).all()
            found = next((row for row in rows if sent_as in (row.sent_as or ())), None)
            if found is None:
                return None, False
            answer = self.answer_in(connection, thread, found.message_id)
            return (answer.text if answer else None), found.received_at == rows[0].received_at

    def is_recent(self, thread: str, message_id: str, within: timedelta) -> bool:
        """Tell whether the message came within this time."""
        mine = select(incoming.c.received_at).where(incoming.c.thread == thread, incoming.c.message_id == message_id)
        came = self._database.select(lambda connection: connection.execute(mine).scalar_one_or_none())
        return came is None or self._sessions.now() - came < within

    def note(self, connection: Connection, thread: str, message_id: str, payload: bytes | None, ticket: int) -> bool:
        """Let the message wait under this ticket. Return False if it was there before."""
        came = ClaimRecord(message_id, self._sessions.now(), None, None, sent=False)
        if _inserted(connection, thread, came, ticket, payload=payload, ticket=ticket):
            return True
        if ticket:
            _WAIT_AGAIN.run(connection, {"of_thread": thread, "of_message_id": message_id, "of_ticket": ticket})
        return False

    def follow(self, connection: Connection, source: str, target: str, message_id: str) -> None:
        """Move a waiting message to another conversation, unless it is there already."""
        there = incoming.alias()
        known = select(there.c.message_id).where(there.c.thread == target, there.c.message_id == message_id)
        mine = (incoming.c.thread == source, incoming.c.message_id == message_id, _UNANSWERED)
        if connection.execute(update(incoming).where(*mine, ~known.exists()).values(thread=target)).rowcount:
            arrived = (incoming.c.thread == target, incoming.c.message_id == message_id)
            bind_anew(connection, incoming, arrived, {"thread": source})
        connection.execute(delete(incoming).where(*mine))

    def take(self, connection: Connection, thread: str, ticket: int, taken: Sequence[Waiting]) -> None:
        """Note that the turn of this ticket answers these messages."""
        rows = [
            {"of_thread": thread, "of_message_id": each.message_id, "of_ticket": ticket, "has_waited": each.waited}
            for each in taken
            if each.message_id
        ]
        if rows:
            _TAKE.run_each(connection, rows)

    def records(self, connection: Connection, thread: str) -> list[ClaimRecord]:
        """The claims of a thread in order of arrival. An unreadable one is left out, with an ERROR."""
        mine = select(incoming).where(incoming.c.thread == thread).order_by(incoming.c.position, incoming.c.message_id)
        found = []
        for row in connection.execute(mine):
            key = (thread, row.message_id)
            try:
                kept = INCOMING.decrypted(connection, key, row.payload), REPLY.decrypted(connection, key, row.reply)
                message, reply = (None if each is None else from_bytes(self._serde(), each) for each in kept)
            except DamagedSession:
                log.exception("message.unreadable", extra={"phone": masked(thread)})
                continue
            found.append(ClaimRecord(row.message_id, row.received_at, message, reply, row.sent))
        return found

    def keep_record(
        self, connection: Connection, thread: str, record: ClaimRecord, position: int, *, masks: bool = True
    ) -> bool:
        """Keep a claim; return False if it is there already.

        A message without an answer is answered together with the person's next one. Without `masks` the reply is kept
        letter by letter, with its secrets.
        """
        reply = without_secrets(record.reply) if record.reply and masks else record.reply
        payload, kept = (None if each is None else to_bytes(self._serde(), each) for each in (record.message, reply))
        return _inserted(connection, thread, record, position, payload=payload, reply=kept)

    def packed(self, message: HumanMessage) -> bytes:
        return to_bytes(self._serde(), message)

    def unpacked(
        self,
        connection: Connection,
        thread: str,
        rows: Sequence[tuple[str, int, int | None, int, bytes, bool | None]],
        *,
        waited: bool,
    ) -> list[Waiting]:
        """The waiting messages in these rows, without those that cannot be read, each an ERROR.

        An unreadable message must not keep its person from being answered.
        """
        found = []
        for message_id, _, _, attempts, payload, had_waited in rows:
            try:
                plain = INCOMING.decrypted(connection, (thread, message_id), payload)
                message = from_bytes(self._serde(), plain)
                found.append(Waiting(message_id, message, attempts, bool(had_waited) if attempts else waited))
            except DamagedSession:
                log.exception("message.unreadable", extra={"phone": masked(thread)})
        return found


def _inserted(
    connection: Connection,
    thread: str,
    came: ClaimRecord,
    position: int,
    *,
    payload: bytes | None,
    reply: bytes | None = None,
    ticket: int | None = None,
) -> bool:
    key = (thread, came.message_id)
    values = {
        "thread": thread,
        "message_id": came.message_id,
        "position": position,
        "ticket": ticket,
        "attempts": 0,
        "received_at": came.received_at,
        "payload": INCOMING.encrypted(connection, key, payload),
        "reply": REPLY.encrypted(connection, key, reply),
        "sent": came.sent,
    }
    return _ADD.run(connection, values) > 0


_MINE = given(incoming.c.thread, incoming.c.message_id)
_UNANSWERED = incoming.c.reply.is_(None)
_AT_FIRST: dict[str, Any] = {
    each.name: bindparam(each.name) for each in incoming.c if each.name not in {"waited", "sent_as"}
}
_ADD = Prepared({dialect: insert.values(_AT_FIRST) for dialect, insert in insert_unless_there(incoming).items()})
_WAIT_AGAIN = Prepared(update(incoming).where(*_MINE, _UNANSWERED).values(ticket=bindparam("of_ticket")))
_REFUSE = Prepared(update(incoming).where(*_MINE, _UNANSWERED).values(ticket=null()))
_TAKE = Prepared(
    update(incoming)
    .where(*_MINE)
    .values(ticket=bindparam("of_ticket"), attempts=incoming.c.attempts + 1, waited=bindparam("has_waited"))
)
_ANSWERED = Prepared(update(incoming).where(*_MINE, _UNANSWERED).values(reply=bindparam("answer"), payload=null()))
_ANSWER = Prepared(select(incoming.c.reply, incoming.c.sent).where(*_MINE))
_OPEN = Prepared(
    select(*(incoming.c[name] for name in ("message_id", "position", "ticket", "attempts", "payload", "waited")))
    .where(*given(incoming.c.thread), _UNANSWERED)
    .order_by(incoming.c.position, incoming.c.message_id)
)
