"""The messages and values of a session: finds the row of a message and the message of a row, and remembers them.

A row never changes, except for its message id, which is filled in once. Readers get copies, so that a node that changes
a message in place changes its copy; when that comes back it is another version, a new row. A process remembers what it
decoded, and which row numbers it reserved: hints, which the database confirms.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from operator import attrgetter, eq, is_
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from pydantic import BaseModel
from sqlalchemy import Connection, bindparam, insert, select, update

from langmem_plugin.conversation.media.inline_media import (
    Inline,
    content_without_inline,
    message_without_inline,
    state_without_inline,
)
from langmem_plugin.conversation.media.media_store import BroughtFiles, Media
from langmem_plugin.conversation.sessions.session_rows import Session
from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.window import CountTokens
from langmem_plugin.database.conversation_tables import message as message_table
from langmem_plugin.database.conversation_tables import value as value_table
from langmem_plugin.database.encryption.encrypted_columns import MESSAGE, VALUE
from langmem_plugin.database.prepared_statements import Prepared, given
from langmem_plugin.errors import DamagedSession, NotSerializable, TypeNotAllowed
from langmem_plugin.logs import event_log
from langmem_plugin.lru_cache import LruCache

log = event_log(__name__)

TEXT = "[A message that was here cannot be read any more.]"
_NOTES, _ROW = "langmem", "unreadable_row"  # in response_metadata, which is sent to no provider
_MOST_REPORTED = 1_000
_MOST_EXPECTED = 32
_BLOCK = 16  # row numbers reserved at once: a few turns of a conversation

_TOO_DEEP = "the state holds lists or dicts nested too deep to be stored: keep them out of the state"

_LARGE = 512
"""The length, in bytes, over which a value is stored once as a row of its own, not in every checkpoint."""

OnDamage = Callable[[str, DamagedSession], None]
"""A function of (what, why) that raises errors which must not be passed over."""

SessionKey = tuple[str, int]
"""A thread and the number of its session. The number alone is not unique: two phones may begin at one instant."""
_EMPTY: dict[type, Any] = {dict: {}, list: []}
_UNCHANGING = {str, int, float, bool, bytes, type(None)}


class DecodedMessage(NamedTuple):
    """One row, decoded, as a list has it under this number: without an id if the number is negative.

    `written` is the graph's own message where decoding gives something else, `size` an estimate in bytes of memory.
    """

    row: int
    message: BaseMessage
    written: BaseMessage | None
    size: int


class Reservation(NamedTuple):
    """Row numbers reserved for a session, valid while `next_row` is its next row; a deletion or rewriting raises that.

    `newest` is the checkpoint that this process stored last in the session, after its namespace and its payload.
    """

    next_row: int = 0
    free: range = range(0)
    newest: tuple[str, bytes, codec.StoredCheckpoint] | None = None

    def at(self, next_row: int) -> "Reservation":
        """Gives the part that is left once the session has this next row: numbers that only this process gives out."""
        return self if self.next_row == next_row else Reservation(next_row, self.free)


class SessionMemory:
    """A session as this process remembers it. A part or version is replaced whole: threads read it as it is."""

    def __init__(self) -> None:
        self.versions: dict[int, DecodedMessage] = {}
        self.size = 2_000
        self.reserved = Reservation()
        self._expected: tuple[int, tuple[int, ...]] = 0, ()

    def expected(self, next_row: int) -> tuple[int, ...]:
        """The rows that the next list is likely to hold: written by tasks, or read as pending, lately."""
        at, rows = self._expected
        return rows if at == next_row else ()

    def expect(self, read_at: int, rows: Iterable[int], next_row: int) -> None:
        """Add rows that were read or written since the session had the next row `read_at`."""
        if self._expected[0] <= read_at:
            self._expected = next_row, (*self.expected(read_at), *rows)[-_MOST_EXPECTED:]


@dataclass
class SessionMessages:
    """The message and value rows of one session inside one transaction: finds, adds and reads them.

    `publish`, called once the transaction is on disk, lets later ones find what was added. `next_row` is the session's
    after the transaction.
    """

    connection: Connection
    session: Session
    serde: SerializerProtocol
    memories: LruCache[SessionKey, SessionMemory]
    media: Media
    now: datetime | None = None
    count_tokens: CountTokens | None = None
    # Called for an unreadable row, which is then replaced by a stand-in; without it, reading raises.
    on_damage: OnDamage | None = None
    _unreadable: set[int] = field(default_factory=set)
    _added: dict[int, DecodedMessage] = field(default_factory=dict)
    _inserts: list[dict[str, Any]] = field(default_factory=list)
    _before: list[DecodedMessage] | None = None
    _files: BroughtFiles | None = None

    def __post_init__(self) -> None:
        self._key: SessionKey = (self.session.thread, self.session.number)
        self._memory = self.memories.get(self._key) or SessionMemory()
        self.next_row = self.session.next_row
        _, self._free, self.newest = self._memory.reserved.at(self.next_row)

    def store(self, messages: Sequence[BaseMessage], previous: codec.RowNumbers = codec.NO_ROWS) -> codec.RowNumbers:
        """The row of each message, negative if it has no id; new messages get new rows, automated ones none.

        `previous` are the rows of the list this one grew from: most messages are where they were.
        """
        before = self._versions(previous)
        begins = _begin(messages, before)
        rows: list[int] = []  # of what comes after the known beginning
        for index in range(len(before) if begins else 0, len(messages)):
            message = messages[index]
            if codec.is_automated(message):
                continue
            behind = row_behind(message)
            if behind is not None and any(abs(row) == behind for row in previous):
                # A stand-in with another id or place changes nothing: the row behind it is never overwritten.
                rows.append(behind if message.id is not None else -behind)
            elif index < len(before) and self._is_same(before[index].message, message):
                rows.append(before[index].row)
            else:
                # The graph keeps the picture for the rest of its run; only a reference is stored and remembered.
                message = message_without_inline(message, self._describe)
                rows.append((self._find(message, before) or self._add(message)).row)
        more = codec.RowNumbers.of(rows)
        return previous + more if begins else more

    def messages(self, rows: codec.RowNumbers) -> list[BaseMessage]:
        """Copies of the messages of these rows, in this order.

        Raises DamagedSession if a row is missing or its bytes have changed.
        """
        return [copied(version.message) for version in self._versions(rows)]

    def value(self, stored: codec.StoredValue) -> Any:
        """Copy the value of a channel or a write; the caller may change it. Raises DamagedSession if a row is lost."""
        match stored:
            case codec.MessageList(rows):
                return self.messages(rows)
            case codec.InlineValue(typed, marked):
                value = codec.load(self.serde, typed)
                return codec.put_back(value, self.messages) if marked else value
            case codec.ValueRow(row):
                found = _VALUE.first(self.connection, self._of_row(row))
                if found is None:
                    raise DamagedSession(f"value row {row} is missing: run `langmem doctor`")
                return codec.from_bytes(self.serde, VALUE.decrypted(self.connection, (*self._key, row), found[0]))

    def store_value(self, channel: str, value: Any, before: codec.StoredValue | None = None) -> codec.StoredValue:
        """The stored form of a value: its messages as rows, large bytes as a row, the rest inline.

        `before` is the former value of the channel. The files of the value become the session's. Raises NotSerializable
        with the channel's name.
        """
        previous = before.rows if isinstance(before, codec.MessageList) else codec.NO_ROWS
        try:
            if codec.is_message_list(value):
                return codec.MessageList(self.store(value, previous))
            value = state_without_inline(value, self._describe)
            taken = codec.take_out(value, lambda messages: self.store(messages, previous))
            typed = codec.dump(self.serde, taken)
        except RecursionError as error:
            raise NotSerializable(f"the channel {channel!r}: {_TOO_DEEP}") from error
        except NotSerializable as error:
            raise NotSerializable(f"the channel {channel!r}: {error}") from error
        if taken is not value or len(typed[1]) <= _LARGE:
            return codec.InlineValue(typed, marked=taken is not value)
        row = self._take()
        payload = VALUE.encrypted(self.connection, (*self._key, row), codec.compress(*typed))
        _ADD_VALUE.run(
            self.connection, {"thread": self._key[0], "session": self._key[1], "row": row, "payload": payload}
        )
        return codec.ValueRow(row)

    def reduced_content(self, blocks: list[Any]) -> list[Any]:
        """The content blocks of a message as they are stored."""
        try:
            return content_without_inline(blocks, self._describe)
        except RecursionError as error:
            raise NotSerializable(_TOO_DEEP) from error

    def flush(self) -> None:
        """Send the gathered rows and files to the database."""
        if self._files is not None:
            self._files.flush()
        if self._inserts:
            _ADD_ROWS.run_each(self.connection, self._inserts)
            self._inserts = []

    def expect(self, rows: Iterable[int]) -> None:
        """Note rows read as pending writes: the next list holds their messages."""
        self._memory.expect(self.session.next_row, rows, self.session.next_row)

    def publish(self) -> None:
        """Let later transactions find what this one added; call it only after that is on disk."""
        self._memory.reserved = Reservation(self.next_row, self._free, self.newest)
        self._memory.expect(self.session.next_row, self._added, self.next_row)
        self._keep(self._added.values())

    def forget(self) -> None:
        """Forget a transaction that failed: its reserved numbers are not given again, its reads are not relied on."""
        self.memories.drop(self._key)

    def _keep(self, versions: Iterable[DecodedMessage]) -> None:
        memory, known = self._memory, self._memory.versions
        for version in versions:
            before = known.pop(version.row, None) or known.pop(-abs(version.row), None)  # without an id until now
            memory.size += version.size - (before.size if before else 0)
            known[version.row] = version
        self.memories.put(self._key, memory, memory.size)

    def _describe(self, inline: Inline) -> str:
        if self._files is None:
            self._files = BroughtFiles(self.connection, *self._key)
        return self.media.describe(inline, self._files)

    def _take(self) -> int:
        """A row number nobody else has, reserved in blocks so that most steps leave the session's row unchanged."""
        if not self._free:
            self._free = range(self.next_row, self.next_row + _BLOCK)
            self.next_row += _BLOCK
        number, self._free = self._free[0], self._free[1:]
        return number

    def _versions(self, rows: codec.RowNumbers) -> list[DecodedMessage]:
        known = self._memory.versions
        found = [*chain.from_iterable(map(known.get, range(start, start + length)) for start, length in rows.runs)]
        if None in found:  # several steps may share this transaction
            found = [version or self._added.get(row) for row, version in zip(rows, found, strict=True)]
        if None in found:
            missing = {row for row, version in zip(rows, found, strict=True) if version is None}
            loaded = self._load(missing)
            self._keep(version for row, version in loaded.items() if abs(row) not in self._unreadable)
            found = [version or loaded[row] for row, version in zip(rows, found, strict=True)]
        return found  # type: ignore[return-value]

    def _find(self, message: BaseMessage, before: Sequence[DecodedMessage]) -> DecodedMessage | None:
        """The known row that is this message: a task's recent write, or one elsewhere in the list before."""
        lately = chain(reversed(self._added.values()), self._lately())  # the newest first
        alike = [each for each in lately if (each.written or each.message).content == message.content]
        for version in alike:
            if self._is_version(version, message):
                return version
        # Only now: of two equal tool results, a named one must match its own row first, not the unnamed one's.
        for version in alike:
            unnamed_yet = version.message.id is None and self._is_version(version, unnamed(message))
            if unnamed_yet and self._name(version, message):
                return self._added[-version.row]
        return next(
            (each for each in before if each.message.id == message.id and self._is_version(each, message)), None
        )

    def _name(self, version: DecodedMessage, message: BaseMessage) -> bool:
        """Note the id that the graph gave to a message stored without one. False if it has another id by now."""
        row = -version.row
        for waiting in self._inserts:
            if waiting["row"] == row:
                waiting["message_id"] = message.id
                break
        else:
            if not _NAME_ROW.run(self.connection, {**self._of_row(row), "new_id": message.id}):
                return False
        named = copied(version.message)
        named.id = message.id
        self._added.pop(version.row, None)  # else the next one that is equal would take this id away
        self._added[row] = DecodedMessage(row, lean(named), version.written and copied(message), version.size)
        return True

    def _add(self, message: BaseMessage) -> DecodedMessage:
        assert self.now is not None and self.count_tokens is not None  # noqa: S101, PT018 - a reader adds nothing
        row, message_id = self._take(), message.id  # read once: the graph may be naming the message
        anonymous = unnamed(message)
        kind, payload = codec.dump(self.serde, anonymous)
        decoded = codec.load(self.serde, (kind, payload))
        if not isinstance(decoded, BaseMessage):
            raise NotSerializable(
                f"the serializer reads a {type(message).__name__} back as {type(decoded).__name__}: allow its type"
            )
        written = None if self._is_same(decoded, anonymous) else copied(message)
        decoded.id = message_id
        self._inserts.append(
            {
                "thread": self._key[0],
                "session": self._key[1],
                "row": row,
                "message_id": message_id,
                "tokens": self.count_tokens(message),
                "created_at": self.now,
                "payload": MESSAGE.encrypted(self.connection, (*self._key, row), codec.compress(kind, payload)),
            }
        )
        listed = row if message_id is not None else -row
        self._added[listed] = DecodedMessage(listed, lean(decoded), written, weight(payload))
        return self._added[listed]

    def _lately(self) -> list[DecodedMessage]:
        """The messages of the rows that were expected before this transaction, without those that it has named."""
        if self._before is None:
            known, expected = self._memory.versions, self._memory.expected(self.session.next_row)
            self._before = [version for row in reversed(expected) if (version := known.get(row))]
        return [each for each in self._before if -each.row not in self._added]

    def _is_version(self, version: DecodedMessage, message: BaseMessage) -> bool:
        return self._is_same(version.message, message) or (
            version.written is not None and self._is_same(version.written, message)
        )

    def _is_same(self, left: BaseMessage, right: BaseMessage) -> bool:
        """Tell whether two messages are equal in every field, their ids included."""
        if type(left) is not type(right):
            return False
        try:
            return left.__dict__ == right.__dict__ and left.__pydantic_extra__ == right.__pydantic_extra__
        except (TypeError, ValueError, ArithmeticError):  # such as an array, or a signalling NaN
            try:
                return codec.dump(self.serde, left) == codec.dump(self.serde, right)
            except (TypeNotAllowed, NotSerializable):
                return False

    def _load(self, rows: set[int]) -> dict[int, DecodedMessage]:
        numbers = {abs(row) for row in rows}
        between = {"of_thread": self._key[0], "of_session": self._key[1], "first": min(numbers), "last": max(numbers)}
        stored = {row: (message_id, payload) for row, message_id, payload in _LOAD_ROWS.all(self.connection, between)}
        loaded = {}
        for row in sorted(rows, key=abs):
            message_id, payload = stored.get(abs(row), (None, None))
            try:
                message, size = self._decode(abs(row), payload)
                message.id = message_id
            except DamagedSession as error:
                self.pass_over(f"message row {abs(row)}", error)
                self._unreadable.add(abs(row))
                message, size = stand_in(abs(row), message_id), 0
            if row < 0:
                message.id = None
            loaded[row] = DecodedMessage(row, lean(message), None, size)
        return loaded

    def _decode(self, row: int, payload: bytes | None) -> tuple[BaseMessage, int]:
        if payload is None:
            raise DamagedSession(f"message row {row} is missing: run `langmem doctor`")
        kind, framed = codec.decompress(MESSAGE.decrypted(self.connection, (*self._key, row), payload))
        message = codec.load(self.serde, (kind, framed))
        if not isinstance(message, BaseMessage):
            raise DamagedSession(f"message row {row} holds no message: run `langmem doctor`")
        return message, weight(framed)

    def pass_over(self, what: str, error: DamagedSession) -> None:
        """Report what cannot be read; raise the error if damage is not to be passed over."""
        if self.on_damage is None:
            raise error
        self.on_damage(what, error)

    def _of_row(self, row: int) -> dict[str, Any]:
        return {"of_thread": self._key[0], "of_session": self._key[1], "of_row": row}


def _begin(messages: Sequence[BaseMessage], known: Sequence[DecodedMessage]) -> bool:
    """Tell whether the messages begin with all that are known, nothing changed.

    Compared in C and without copies of the lists, because it is done at every step of a run.
    """
    of_list = [*map(attrgetter("message"), known)]
    try:
        return (
            len(of_list) <= len(messages)
            and all(map(eq, map(_FIELDS, of_list), map(_FIELDS, messages)))
            and all(map(is_, map(type, of_list), map(type, messages)))
            and all(map(eq, map(_EXTRAS, of_list), map(_EXTRAS, messages)))
        )
    except (TypeError, ValueError, ArithmeticError):  # such as an array, or a signalling NaN
        return False


_FIELDS = attrgetter("__dict__")
_EXTRAS = attrgetter("__pydantic_extra__")


def copied(message: BaseMessage) -> BaseMessage:
    """Copy a message; no changeable part is shared."""
    twin: BaseMessage = object.__new__(type(message))
    _PUT_FIELDS(
        twin,
        {
            name: value if type(value) in _UNCHANGING else _fresh(value)  # most fields are: a call takes longer
            for name, value in message.__dict__.items()
        },
    )
    _PUT_EXTRA(twin, _fresh(message.__pydantic_extra__))
    _PUT_SET(twin, message.__pydantic_fields_set__.copy())
    _PUT_PRIVATE(twin, _fresh(message.__pydantic_private__))
    return twin


def lean(message: BaseMessage) -> BaseMessage:
    """Make the message's empty lists and dicts those that all kept messages share; return it. It must never change.

    A whole conversation is compared with it at every step, and this keeps it small enough for the processor's cache.
    """
    fields = message.__dict__
    for key, value in fields.items():
        if (kind := type(value)) in _EMPTY and not value:
            fields[key] = _EMPTY[kind]
    if message.__pydantic_extra__ == {}:
        object.__setattr__(message, "__pydantic_extra__", _EMPTY[dict])
    return message


def unnamed(message: BaseMessage) -> BaseMessage:
    twin = copied(message)
    twin.id = None
    return twin


def _fresh(value: Any) -> Any:
    kind = type(value)
    if kind in _UNCHANGING:
        return value
    if kind is dict:
        return {key: _fresh(part) for key, part in value.items()}
    if kind is list:
        return [_fresh(part) for part in value]
    try:
        return deepcopy(value)
    except (TypeError, RecursionError) as error:
        raise NotSerializable(
            f"a message holds something that cannot be stored ({error}): keep it out of its artifact"
        ) from error


# The setters of pydantic's slots: through `object.__setattr__` a copy takes a quarter longer.
_PUT_FIELDS, _PUT_EXTRA, _PUT_SET, _PUT_PRIVATE = (
    vars(BaseModel)[slot].__set__
    for slot in ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
)


def weight(payload: bytes) -> int:
    """The estimated size in memory, in bytes, of a decoded message."""
    return 3 * len(payload) + 2_000


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
