"""Messages as read from their rows: decoded once, compared quickly, handed out as copies."""

import gc
import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, eq, is_
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langmem_plugin import forks
from langmem_plugin.conversation.row_numbers import NO_ROWS, RowNumbers
from langmem_plugin.errors import NotSerializable

_MOST_IN_LINES = 20_000

Conversation = tuple[str, int]
"""A thread and the number of its session. The number alone is not unique: two phones may begin at one instant."""


@dataclass(slots=True)
class Version:
    """One row, decoded and `lean`. `written` is what the graph handed over where decoding gives something else."""

    row: int
    message: BaseMessage
    written: BaseMessage | None
    size: int

    def is_version_of(self, message: BaseMessage) -> bool:
        return same(self.message, message) or (self.written is not None and same(self.written, message))


class Lent:
    """Copies given to readers of a list. Whoever takes them has them alone, until they are given again."""

    __slots__ = ("_copies", "_lock")

    def __init__(self) -> None:
        self._copies: list[BaseMessage] = []
        self._lock = forks.Lock()

    def take(self) -> list[BaseMessage]:
        with self._lock:
            copies, self._copies = self._copies, []
        return copies

    def give(self, copies: list[BaseMessage]) -> None:
        with self._lock:
            self._copies = copies


class Known:
    """What is known of each message of lines that grow out of one another, which share it."""

    __slots__ = ("extras", "fields", "ids", "kinds", "lent", "messages", "versions")

    def __init__(self) -> None:
        self.versions: list[Version] = []
        self.messages: list[BaseMessage] = []  # as listed: without an id where the row is negative
        self.fields: list[dict[str, Any]] = []  # theirs
        self.extras: list[dict[str, Any] | None] = []
        self.kinds: list[type] = []
        self.ids: list[str | None] = []
        self.lent = Lent()

    def add(self, rows: Iterable[int], versions: Iterable[Version]) -> None:
        for row, version in zip(rows, versions, strict=True):
            named = row > 0 or version.message.id is None
            message = version.message if named else lean(unnamed(version.message))
            self.versions.append(version)
            self.messages.append(message)
            self.fields.append(message.__dict__)
            self.extras.append(message.__pydantic_extra__)
            self.kinds.append(type(message))
            self.ids.append(message.id)


@dataclass(frozen=True, slots=True)
class Line:
    """A list of messages as stored: what the next list, most of it the same, is compared with in one go."""

    rows: RowNumbers
    known: Known

    def extended(self, rows: RowNumbers, versions: Sequence[Version]) -> "Line":
        """The line with more at its end."""
        known = self.known
        if not self.rows or len(known.versions) != len(self.rows):  # it has grown in another way already
            known = Known()
            known.add(self.rows, self.known.versions[: len(self.rows)])
        known.add(rows, versions)
        return Line(self.rows + rows, known)

    def copies(self) -> list[BaseMessage]:
        """Messages for a reader who may change them.

        A copy given out before is given again if nobody else has it any more and it is as it was: between two turns
        of a conversation that is nearly all of them, and making them anew takes most of the time of a read.
        """
        size, known = len(self.rows), self.known
        before = known.lent.take()[:size]
        counts = list(map(sys.getrefcount, before))
        with without_collection():
            if counts.count(_ALONE) != len(before) or not self._starts_with(before, len(before)):
                before = [
                    copy if count == _ALONE and same(copy, message) else copied(message)
                    for count, copy, message in zip(counts, before, known.messages, strict=False)
                ]
            copies = before + [copied(message) for message in known.messages[len(before) : size]]
        known.lent.give(copies)
        return copies[:]

    def find(self, message: BaseMessage) -> Version | None:
        """The version in this line, wherever it stands, that is the message."""
        size, known, at = len(self.rows), self.known, -1
        for _ in range(known.ids[:size].count(message.id)):
            at = known.ids.index(message.id, at + 1)
            if same(known.messages[at], message) or known.versions[at].is_version_of(message):
                return known.versions[at]
        return None

    def begins(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether `messages` starts with this whole line, nothing changed."""
        return len(self.rows) <= len(messages) and self._starts_with(messages, len(self.rows))

    def _starts_with(self, messages: Sequence[BaseMessage], count: int) -> bool:
        """Compared in C and without copies of the lists, because it is done at every step of a run."""
        known = self.known
        try:
            return (
                all(map(eq, map(_FIELDS, messages), islice(known.fields, count)))
                and all(map(eq, map(_EXTRAS, messages), islice(known.extras, count)))
                and all(map(is_, map(type, messages), islice(known.kinds, count)))
            )
        except (TypeError, ValueError):  # an artifact that cannot be compared, such as an array
            return False


_FIELDS = attrgetter("__dict__")
_EXTRAS = attrgetter("__pydantic_extra__")
_ALONE = next(map(sys.getrefcount, [object()]))
"""What the count of references is to an object that only one list holds."""

NOTHING = Line(NO_ROWS, Known())


class VersionCache:
    """Decoded rows and lists of all sessions, the least recently used dropped beyond `limit` bytes of rows."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._entries: OrderedDict[tuple[Conversation, int], Version] = OrderedDict()
        self._lines: OrderedDict[tuple[Conversation, RowNumbers], Line] = OrderedDict()
        self._in_lines = 0
        self._lock = forks.Lock()

    def get(self, session: Conversation, rows: Iterable[int]) -> dict[int, Version]:
        """Those of `rows` that are here, in their order."""
        found = {}
        with self._lock:
            for row in rows:
                if (version := self._entries.get((session, row))) is not None:
                    self._entries.move_to_end((session, row))
                    found[row] = version
        return found

    def put(self, session: Conversation, versions: Iterable[Version]) -> None:
        with self._lock:
            for version in versions:
                if (known := self._entries.pop((session, version.row), None)) is not None:
                    self._size -= known.size
                self._entries[session, version.row] = version
                self._size += version.size
            while self._size > self._limit and self._entries:
                self._size -= self._entries.popitem(last=False)[1].size

    def line(self, session: Conversation, rows: RowNumbers) -> Line | None:
        with self._lock:
            if (line := self._lines.get((session, rows))) is not None:
                self._lines.move_to_end((session, rows))
            return line

    def put_line(self, session: Conversation, line: Line, before: Line = NOTHING) -> None:
        """Keeps the line, in place of the one it grew out of."""
        with self._lock:
            if before.known is line.known and self._lines.pop((session, before.rows), None) is not None:
                self._in_lines -= len(before.rows)
            if self._lines.pop((session, line.rows), None) is None:
                self._in_lines += len(line.rows)
            self._lines[session, line.rows] = line
            while self._in_lines > _MOST_IN_LINES and len(self._lines) > 1:
                self._in_lines -= len(self._lines.popitem(last=False)[1].rows)


def same(left: BaseMessage, right: BaseMessage) -> bool:
    """Whether two messages are equal in every field, their ids included."""
    if type(left) is not type(right):
        return False
    try:
        return left.__dict__ == right.__dict__ and left.__pydantic_extra__ == right.__pydantic_extra__
    except (TypeError, ValueError):  # an artifact that cannot be compared, such as an array
        return _same_bytes(left, right)


def _same_bytes(left: BaseMessage, right: BaseMessage) -> bool:
    try:
        return _PLAIN.dumps_typed(left.__dict__) == _PLAIN.dumps_typed(right.__dict__)
    except (TypeError, ValueError):  # it cannot be stored either: left to the serializer to refuse
        return False


_PLAIN = JsonPlusSerializer()


@contextmanager
def without_collection() -> Iterator[None]:
    """For copying a long list: thousands of small objects, none of them garbage.

    Looking for some among them, and in all modules on the way, takes four times as long as the copies themselves.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def copied(message: BaseMessage) -> BaseMessage:
    """A copy that shares nothing that can change with the original; far faster than pydantic's deep copy."""
    fields = message.__dict__.copy()
    for key, value in fields.items():
        if type(value) not in _UNCHANGING:
            fields[key] = _fresh(value)
    twin = object.__new__(type(message))
    object.__setattr__(twin, "__dict__", fields)
    object.__setattr__(twin, "__pydantic_extra__", _fresh(message.__pydantic_extra__))
    # Every field of a stored message counts as set, so this never changes and may be shared.
    object.__setattr__(twin, "__pydantic_fields_set__", message.__pydantic_fields_set__)
    object.__setattr__(twin, "__pydantic_private__", message.__pydantic_private__)
    return twin


def lean(message: BaseMessage) -> BaseMessage:
    """The message itself, its empty lists and dicts those that all kept messages share: it must never change again.

    What is compared with a whole conversation at every step then stays small enough for the processor's cache.
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
        return {key: _fresh(part) for key, part in value.items()} if value else {}
    if kind is list:
        return [_fresh(part) for part in value] if value else []
    try:
        return deepcopy(value)
    except TypeError as error:
        raise NotSerializable(
            f"a message holds something that cannot be stored ({error}): keep it out of its artifact"
        ) from error


_EMPTY: dict[type, Any] = {dict: {}, list: []}
_UNCHANGING = {str, int, float, bool, bytes, type(None)}


def weight(payload: bytes) -> int:
    """A decoded message takes about this many bytes of memory."""
    return 3 * len(payload) + 1_500
