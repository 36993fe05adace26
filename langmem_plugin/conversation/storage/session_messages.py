"""The rows of a session's messages and values: finds the row of a message, and the message of a row.

A row never changes, except for its message id, which is filled in once. Readers get copies, so that a node that changes
a message in place changes its copy; when that comes back it is another version, a new row.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from sqlalchemy import Connection, bindparam, insert, select, update

from langmem_plugin.conversation.media.media_store import BroughtFiles, Media
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.codec import (
    NO_ROWS,
    InlineValue,
    MessageList,
    RowNumbers,
    StoredValue,
    ValueRow,
)
from langmem_plugin.conversation.storage.message_cache import (
    NO_MESSAGES,
    DecodedList,
    DecodedMessage,
    MessageCache,
    RowLease,
    SessionKey,
    copied,
    lean,
    same,
    unnamed,
    weight,
)
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.conversation_tables import value as value_table
from langmem_plugin.database.encryption.encrypted_columns import MESSAGE, VALUE
from langmem_plugin.database.prepared_statements import Prepared, given
from langmem_plugin.errors import DamagedSession, NotSerializable, TypeNotAllowed
from langmem_plugin.logs import event_log
from langmem_plugin.lru import LruCache

log = event_log(__name__)

TEXT = "[A message that was here cannot be read any more.]"
_NOTES, _ROW = "langmem", "unreadable_row"  # in response_metadata, which is sent to no provider
_MOST_REPORTED = 1_000


_LARGE = 512
"""The length, in bytes, over which a value is stored once as a row of its own, not in every checkpoint."""

CountTokens = Callable[[BaseMessage], int]
OnDamage = Callable[[str, DamagedSession], None]
"""A function of (what, why) that raises errors which must not be passed over."""


@dataclass
class SessionMessages:
    """The message and value rows of one session inside one transaction: finds, adds and reads them.

    `publish`, called once the transaction is on disk, puts the added rows into the cache.
    """

    connection: Connection
    session: Session
    serde: SerializerProtocol
    cache: MessageCache
    lease: RowLease
    media: Media
    now: datetime | None = None
    count_tokens: CountTokens | None = None
    # Called for an unreadable row, which is then replaced by a stand-in; without it, reading raises.
    on_damage: OnDamage | None = None
    _unreadable: set[int] = field(default_factory=set)
    _added: dict[int, DecodedMessage] = field(default_factory=dict)
    _stored: list[tuple[DecodedList, RowNumbers, list[DecodedMessage]]] = field(default_factory=list)
    _inserts: list[dict[str, Any]] = field(default_factory=list)
    _before: list[DecodedMessage] | None = None

    def __post_init__(self) -> None:
        self._key: SessionKey = (self.session.thread, self.session.number)
        self._of_session = {"thread": self._key[0], "session": self._key[1]}
        self._files = BroughtFiles(self.connection, *self._key)

    def store(self, messages: Sequence[BaseMessage], previous: RowNumbers = NO_ROWS) -> RowNumbers:
        """The row of each message, negative if it has no id; new messages get new rows, automated ones none.

        `previous` are the rows of the list this one grew from: most messages are where they were.
        """
        before = self._decoded(previous) if previous else NO_MESSAGES
        known = before if before.begins(messages) else NO_MESSAGES
        rows: list[int] = []  # of what comes after the known beginning
        versions: list[DecodedMessage] = []
        for index in range(len(known.messages), len(messages)):
            message = messages[index]
            if codec.is_automated(message):
                continue
            behind = row_behind(message)
            if behind is not None and any(abs(row) == behind for row in previous):
                # A stand-in with another id or place changes nothing: the row behind it is never overwritten.
                row, version = behind if message.id is not None else -behind, self._read_one(behind)
            elif index < len(before.messages) and same(before.messages[index], message):
                row, version = before.rows[index], before.versions[index]
            else:
                # The graph keeps the picture for the rest of its run; only a reference is stored and cached.
                message = self.media.reduced(message, self._files)
                version = self._find(message, before) or self._add(message)
                row = version.row if message.id is not None else -version.row
            rows.append(row)
            versions.append(version)
        more = RowNumbers.of(rows)
        self._stored.append((known, more, versions))
        return known.rows + more

    def messages(self, rows: RowNumbers) -> list[BaseMessage]:
        """Copies of the messages of these rows, in this order.

        Raises DamagedSession if a row is missing or its bytes have changed.
        """
        return [copied(message) for message in self._decoded(rows).messages]

    def value(self, stored: StoredValue) -> Any:
        """Copy the value of a channel or a write; the caller may change it. Raises DamagedSession if a row is lost."""
        match stored:
            case MessageList(rows):
                return self.messages(rows)
            case InlineValue(typed, marked):
                value = codec.load(self.serde, typed)
                return codec.put_back(value, self.messages) if marked else value
            case ValueRow(row):
                found = _VALUE.first(self.connection, self._of_row(row))
                if found is None:
                    raise DamagedSession(f"value row {row} is missing: run `langmem doctor`")
                return codec.from_bytes(self.serde, VALUE.decrypted(self.connection, (*self._key, row), found[0]))

    def store_value(self, channel: str, value: Any, before: StoredValue | None = None) -> StoredValue:
        """The stored form of a value: its messages as rows, large bytes as a row, the rest inline.

        `before` is the former value of the channel. The files of the value become the session's. Raises NotSerializable
        with the channel's name.
        """
        previous = before.rows if isinstance(before, MessageList) else NO_ROWS
        try:
            value = self.media.reduced_state(value, self._files)
            if codec.is_message_list(value):
                return MessageList(self.store(value, previous))
            taken = codec.take_out(value, lambda messages: self.store(messages, previous))
            typed = codec.dump(self.serde, taken)
        except NotSerializable as error:
            raise NotSerializable(f"the channel {channel!r}: {error}") from error
        if taken is not value or len(typed[1]) <= _LARGE:
            return InlineValue(typed, marked=taken is not value)
        row = self.lease.take()
        payload = VALUE.encrypted(self.connection, (*self._key, row), codec.compress(*typed))
        _ADD_VALUE.run(
            self.connection, {"thread": self._key[0], "session": self._key[1], "row": row, "payload": payload}
        )
        return ValueRow(row)

    def reduced_content(self, blocks: list[Any]) -> list[Any]:
        """The content blocks of a message as they are stored."""
        return self.media.reduced_content(blocks, self._files)

    def flush(self) -> None:
        """Send the gathered rows and files to the database."""
        self._files.flush()
        if self._inserts:
            _ADD_ROWS.run_each(self.connection, self._inserts)
            self._inserts = []

    def publish(self) -> None:
        """Let later transactions find what this one added; call it only after that is on disk."""
        self.cache.put(self._key, self._added.values())
        self.lease.publish(self._added)
        for known, rows, versions in self._stored:
            if self._unreadable:
                continue  # a stand-in is not cached: its row may be repaired
            # A row named later in this transaction has another version by now.
            latest = [self._added.get(version.row, version) for version in versions]
            self.cache.put_list(self._key, known.extended(rows, latest), known)

    def _decoded(self, rows: RowNumbers) -> DecodedList:
        found = self.cache.decoded_list(self._key, rows)
        if found is None:
            versions = self._read(rows)
            found = NO_MESSAGES.extended(rows, [versions[abs(row)] for row in rows])
            if self._unreadable.isdisjoint(versions):
                self.cache.put_list(self._key, found)
        return found

    def _read(self, rows: RowNumbers) -> dict[int, DecodedMessage]:
        """The versions of these rows, by row without its sign."""
        named = {row for row in rows if row > 0}
        wanted = named | {-row for row in rows if row < 0}
        found = self.cache.get(self._key, wanted)
        # Another process may have named a row since it was cached here.
        fresh = {row: each for row, each in found.items() if row not in named or each.message.id is not None}
        if missing := wanted - fresh.keys():
            loaded = self._load(missing)
            self.cache.put(self._key, [each for row, each in loaded.items() if row not in self._unreadable])
            fresh |= loaded
        return fresh

    def _read_one(self, row: int) -> DecodedMessage:
        return self._read(RowNumbers.of([row]))[row]

    def _find(self, message: BaseMessage, before: DecodedList) -> DecodedMessage | None:
        """The known row that is this message: a task's recent write, or one elsewhere in the list before."""
        alike = [each for each in self._lately() if (each.written or each.message).content == message.content]
        for version in alike:
            if version.is_version_of(message):
                return version
        # Only now: of two equal tool results, a named one must match its own row first, not the unnamed one's.
        for version in alike:
            unnamed_yet = version.message.id is None and version.is_version_of(unnamed(message))
            if unnamed_yet and self._name(version, message):
                return self._added[version.row]
        return before.find(message)

    def _name(self, version: DecodedMessage, message: BaseMessage) -> bool:
        """Note the id that the graph gave to a message stored without one. False if it has another id by now."""
        for waiting in self._inserts:
            if waiting["row"] == version.row:
                waiting["message_id"] = message.id
                break
        else:
            of_row = self._of_row(version.row)
            if not _NAME_ROW.run(self.connection, {**of_row, "new_id": message.id}):
                return False
        named = copied(version.message)
        named.id = message.id
        written = copied(message) if version.written is not None else None
        self._remember(DecodedMessage(version.row, lean(named), written, version.size))
        return True

    def _add(self, message: BaseMessage) -> DecodedMessage:
        assert self.now is not None and self.count_tokens is not None  # noqa: S101, PT018 - a reader adds nothing
        row = self.lease.take()
        anonymous = unnamed(message)
        kind, payload = codec.dump(self.serde, anonymous)
        decoded = codec.load(self.serde, (kind, payload))
        if not isinstance(decoded, BaseMessage):
            raise NotSerializable(
                f"the serializer reads a {type(message).__name__} back as {type(decoded).__name__}: allow its type"
            )
        written = None if same(decoded, anonymous) else copied(message)
        decoded.id = message.id
        self._inserts.append(
            {
                **self._of_session,
                "row": row,
                "message_id": message.id,
                "tokens": self.count_tokens(message),
                "created_at": self.now,
                "payload": MESSAGE.encrypted(self.connection, (*self._key, row), codec.compress(kind, payload)),
            }
        )
        return self._remember(DecodedMessage(row, lean(decoded), written, weight(payload)))

    def _lately(self) -> Iterator[DecodedMessage]:
        """The messages added in this transaction or lately before it, the newest first."""
        if self._before is None:
            self._before = [*reversed(self.cache.get(self._key, self.lease.expected).values())]
        added = [*reversed(self._added.values())]
        return chain(added, (version for version in self._before if version.row not in self._added))

    def _remember(self, version: DecodedMessage) -> DecodedMessage:
        self._added[version.row] = version
        return version

    def _load(self, rows: set[int]) -> dict[int, DecodedMessage]:
        loaded = {}
        stored = _LOAD_ROWS.all(
            self.connection,
            {"of_thread": self._key[0], "of_session": self._key[1], "first": min(rows), "last": max(rows)},
        )
        for row, message_id, payload in stored:
            if row in rows:
                try:
                    loaded[row] = self._decode(row, message_id, payload)
                except DamagedSession as error:
                    loaded[row] = self._instead_of(row, message_id, error)
        for row in sorted(rows - loaded.keys()):
            missing = DamagedSession(f"message row {row} is missing: run `langmem doctor`")
            loaded[row] = self._instead_of(row, None, missing)
        return loaded

    def _decode(self, row: int, message_id: str | None, payload: bytes) -> DecodedMessage:
        plain = MESSAGE.decrypted(self.connection, (*self._key, row), payload)
        kind, framed = codec.decompress(plain)
        message = codec.load(self.serde, (kind, framed))
        if not isinstance(message, BaseMessage):
            raise DamagedSession(f"message row {row} holds no message: run `langmem doctor`")
        message.id = message_id
        return DecodedMessage(row, lean(message), None, weight(framed))

    def pass_over(self, what: str, error: DamagedSession) -> None:
        """Report what cannot be read; raise the error if damage is not to be passed over."""
        if self.on_damage is None:
            raise error
        self.on_damage(what, error)

    def _of_row(self, row: int) -> dict[str, Any]:
        return {"of_thread": self._key[0], "of_session": self._key[1], "of_row": row}

    def _instead_of(self, row: int, message_id: str | None, error: DamagedSession) -> DecodedMessage:
        self.pass_over(f"message row {row}", error)
        self._unreadable.add(row)
        return DecodedMessage(row, lean(stand_in(row, message_id)), None, weight(b""))


def stand_in(row: int, message_id: str | None) -> BaseMessage:
    """The message in place of an unreadable one. It is the assistant's: nobody else said it, and it needs no call."""
    return AIMessage(TEXT, id=message_id or f"unreadable-{row}", response_metadata={_NOTES: {_ROW: row}})


def row_behind(message: BaseMessage) -> int | None:
    """The row of the message that a stand-in replaces; None for any other message."""
    notes = message.response_metadata.get(_NOTES)
    row = notes.get(_ROW) if isinstance(notes, dict) else None
    return row if isinstance(row, int) else None


class DamageReports:
    """Logs once per session, in this process, that a part of it cannot be read, with the first such part.

    `langmem doctor` names all of them.
    """

    def __init__(self) -> None:
        self._reported: LruCache[str, bool] = LruCache(_MOST_REPORTED)

    def note(self, session_id: str, what: str, error: DamagedSession) -> None:
        """Report damage. Raises TypeNotAllowed: a value of a type that is not allowed is not damaged."""
        if isinstance(error, TypeNotAllowed):
            raise error
        self.report(session_id, what, error)

    def report(self, session_id: str, what: str, error: DamagedSession) -> None:
        if self._reported.get(session_id) is None:
            self._reported.put(session_id, True, 1)
            log.error("session.damaged", extra={"session_id": session_id, "what": what, "error": str(error)})


_ADD_ROWS = Prepared(insert(message_table))
_LOAD_ROWS = Prepared(
    select(message_table.c.row, message_table.c.message_id, message_table.c.payload).where(
        *given(message_table.c.thread, message_table.c.session),
        message_table.c.row.between(bindparam("first"), bindparam("last")),
    )
)
_NAME_ROW = Prepared(
    update(message_table)
    .where(
        *given(message_table.c.thread, message_table.c.session, message_table.c.row),
        message_table.c.message_id.is_(None),
    )
    .values(message_id=bindparam("new_id"))
)
_VALUE = Prepared(
    select(value_table.c.payload).where(*given(value_table.c.thread, value_table.c.session, value_table.c.row))
)
_ADD_VALUE = Prepared(insert(value_table))
