"""Remembers parts of sessions in this process: decoded messages, reserved row numbers, the newest checkpoint.

Messages are decoded once, compared quickly, and handed out as copies.
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from operator import attrgetter, eq, is_
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from langmem_plugin import process_forks
from langmem_plugin.conversation.storage.codec import NO_ROWS, RowNumbers, StoredCheckpoint
from langmem_plugin.conversation.storage.serializer import is_same
from langmem_plugin.errors import NotSerializable
from langmem_plugin.lru import LruCache

SessionKey = tuple[str, int]
"""A thread and the number of its session. The number alone is not unique: two phones may begin at one instant."""


@dataclass(slots=True)
class DecodedMessage:
    """One row, decoded and `lean`. `written` is the graph's own message where decoding gives something else."""

    row: int
    message: BaseMessage
    written: BaseMessage | None
    size: int

    def is_version_of(self, message: BaseMessage) -> bool:
        return same(self.message, message) or (self.written is not None and same(self.written, message))


@dataclass(frozen=True, slots=True)
class DecodedList:
    """A list of messages as stored: the next list, most of it the same, is compared with it at once.

    `messages` are those of its `versions`, without an id where the row is negative.
    """

    rows: RowNumbers
    versions: tuple[DecodedMessage, ...] = ()
    messages: tuple[BaseMessage, ...] = ()

    def extended(self, rows: RowNumbers, versions: Sequence[DecodedMessage]) -> "DecodedList":
        """Make a list with these messages added at its end."""
        more = (
            version.message if row > 0 or version.message.id is None else lean(unnamed(version.message))
            for row, version in zip(rows, versions, strict=True)
        )
        return DecodedList(self.rows + rows, (*self.versions, *versions), (*self.messages, *more))

    def find(self, message: BaseMessage) -> DecodedMessage | None:
        """The version in this list, at any place, that is the message; None if there is none."""
        alike = (
            version
            for known, version in zip(self.messages, self.versions, strict=True)
            if known.id == message.id and (same(known, message) or version.is_version_of(message))
        )
        return next(alike, None)

    def begins(self, messages: Sequence[BaseMessage]) -> bool:
        """Tell whether `messages` starts with this whole list, nothing changed.

        Compared in C and without copies of the lists, because it is done at every step of a run.
        """
        try:
            return (
                len(self.messages) <= len(messages)
                and all(map(eq, map(_FIELDS, self.messages), map(_FIELDS, messages)))
                and all(map(is_, map(type, self.messages), map(type, messages)))
                and all(map(eq, map(_EXTRAS, self.messages), map(_EXTRAS, messages)))
            )
        except (TypeError, ValueError, ArithmeticError):  # such as an array, or a signalling NaN
            return False


_FIELDS = attrgetter("__dict__")
_EXTRAS = attrgetter("__pydantic_extra__")

NO_MESSAGES = DecodedList(NO_ROWS)


class MessageCache:
    """Decoded rows and lists of all sessions. Each may take half of `limit` bytes; the least recently used go."""

    def __init__(self, limit: int) -> None:
        self._versions: LruCache[tuple[SessionKey, int], DecodedMessage] = LruCache(limit // 2)
        self._lists: LruCache[tuple[SessionKey, RowNumbers], DecodedList] = LruCache(limit // 2)

    def get(self, session: SessionKey, rows: Iterable[int]) -> dict[int, DecodedMessage]:
        """The cached ones of `rows`, in their order."""
        found = ((row, self._versions.get((session, row))) for row in rows)
        return {row: version for row, version in found if version is not None}

    def put(self, session: SessionKey, versions: Iterable[DecodedMessage]) -> None:
        for version in versions:
            self._versions.put((session, version.row), version, version.size)

    def decoded_list(self, session: SessionKey, rows: RowNumbers) -> DecodedList | None:
        return self._lists.get((session, rows))

    def put_list(self, session: SessionKey, grown: DecodedList, before: DecodedList = NO_MESSAGES) -> None:
        """Keep the list, in place of the one it grew out of."""
        self._lists.drop((session, before.rows))
        self._lists.put((session, grown.rows), grown, sum(version.size for version in grown.versions))


def same(left: BaseMessage, right: BaseMessage) -> bool:
    """Tell whether two messages are equal in every field, their ids included."""
    if type(left) is not type(right):
        return False
    try:
        return left.__dict__ == right.__dict__ and left.__pydantic_extra__ == right.__pydantic_extra__
    except (TypeError, ValueError, ArithmeticError):  # such as an array, or a signalling NaN
        return _is_same(left, right)


def _is_same(left: BaseMessage, right: BaseMessage) -> bool:
    try:
        return is_same(left, right)
    except (TypeError, ValueError, RecursionError, NotSerializable):  # the serializer will refuse it
        return False


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


_EMPTY: dict[type, Any] = {dict: {}, list: []}
_UNCHANGING = {str, int, float, bool, bytes, type(None)}
# The setters of pydantic's slots: through `object.__setattr__` a copy takes a quarter longer.
_PUT_FIELDS, _PUT_EXTRA, _PUT_SET, _PUT_PRIVATE = (
    vars(BaseModel)[slot].__set__
    for slot in ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
)


def weight(payload: bytes) -> int:
    """The estimated size in memory, in bytes, of a decoded message."""
    return 3 * len(payload) + 2_000


_MOST_EXPECTED = 32
_MOST_SESSIONS = 1_024
_BLOCK = 16  # row numbers reserved at once: a few turns of a conversation


@dataclass(frozen=True, slots=True)
class Reservation:
    """Row numbers reserved for a session, valid while `at` is its next row; a deletion or rewriting raises that."""

    next_row: int
    free: range = range(0)  # row numbers that only this process gives out
    expected: tuple[int, ...] = ()  # rows written by tasks or read lately: likely the next list's new messages
    newest: tuple[str, bytes, StoredCheckpoint] | None = None  # namespace, payload: what this process stored last


class RowAllocator:
    """Keeps a reservation for each session that this process wrote to lately; a forked child has none."""

    def __init__(self) -> None:
        self._lock = process_forks.Lock()
        self._reservations: LruCache[SessionKey, Reservation] = LruCache(_MOST_SESSIONS)
        # The parent keeps its reserved numbers: a child that gave one out too would store two messages in one row.
        process_forks.register(after_in_child=self._reservations.clear)

    def of(self, session: SessionKey, next_row: int) -> Reservation:
        """The reservation of a session that has this next row now."""
        with self._lock:
            return self._of(session, next_row)

    def expect(self, session: SessionKey, next_row: int, rows: Iterable[int]) -> None:
        """Note rows that were read when the session had this next row."""
        with self._lock:
            known = self._reservations.get(session)
            if known is None or known.next_row <= next_row:
                before = self._of(session, next_row)
                self._reservations.put(session, replace(before, expected=_latest(before.expected, rows)), 1)

    def wrote(self, session: SessionKey, since: int, left: Reservation) -> None:
        """Note the state in which a transaction left the session, with the rows it added; it began at `since`."""
        with self._lock:
            before = self._of(session, since)
            self._reservations.put(session, replace(left, expected=_latest(before.expected, left.expected)), 1)

    def forget(self, session: SessionKey) -> None:
        self._reservations.drop(session)

    def _of(self, session: SessionKey, next_row: int) -> Reservation:
        known = self._reservations.get(session) or Reservation(next_row)
        return known if known.next_row == next_row else Reservation(next_row, known.free)


class RowLease:
    """The rows that one transaction takes from the allocator. `next_row` is the session's after the transaction.

    `expected` are rows whose messages the next list is likely to hold, `newest` the checkpoint that this process stored
    last in the session, with its namespace and payload, if nobody has changed the session's past since.
    """

    def __init__(self, allocator: RowAllocator, session: SessionKey, next_row: int) -> None:
        self.next_row = next_row
        self._allocator = allocator
        self._session = session
        self._began_at = next_row
        reserved = allocator.of(session, next_row)
        self._free, self.expected, self.newest = reserved.free, reserved.expected, reserved.newest

    def expect(self, rows: Iterable[int]) -> None:
        """Note rows read as pending writes: the next list holds their messages."""
        self._allocator.expect(self._session, self._began_at, rows)

    def take(self) -> int:
        """A row number nobody else has, reserved in blocks so that most steps leave the session's row unchanged."""
        if not self._free:
            self._free = range(self.next_row, self.next_row + _BLOCK)
            self.next_row += _BLOCK
        number, self._free = self._free[0], self._free[1:]
        return number

    def publish(self, added: Iterable[int]) -> None:
        """Hand the added rows to the allocator, once the transaction is on disk."""
        left = Reservation(self.next_row, self._free, tuple(added), self.newest)
        self._allocator.wrote(self._session, self._began_at, left)

    def forget(self) -> None:
        """Forget a transaction that failed: its reserved numbers are not given again, its reads are not relied on."""
        self._allocator.forget(self._session)


def _latest(before: tuple[int, ...], more: Iterable[int]) -> tuple[int, ...]:
    return (*before, *more)[-_MOST_EXPECTED:]
