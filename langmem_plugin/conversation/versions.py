"""Messages as read from their rows: decoded once, compared quickly, handed out as copies."""

import gc
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from langmem_plugin.errors import NotSerializable

_MOST_EXPECTED = 32
_MOST_SESSIONS = 1_024
_MOST_IN_LINES = 20_000

Conversation = tuple[str, int]
"""A thread and the number of its session. The number alone is not unique: two phones may begin at one instant."""


@dataclass(slots=True)
class Version:
    """One row, decoded. `written` is what the graph handed over where decoding gives something else."""

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
        self._lock = threading.Lock()

    def take(self) -> list[BaseMessage]:
        with self._lock:
            copies, self._copies = self._copies, []
        return copies

    def give(self, copies: list[BaseMessage]) -> None:
        with self._lock:
            self._copies = copies


@dataclass(frozen=True, slots=True)
class Line:
    """A list of messages as stored: what the next list, most of it the same, is compared with in one go."""

    rows: tuple[int, ...]
    versions: list[Version]
    messages: list[BaseMessage]  # as listed: without an id where the row is negative
    fields: list[dict[str, Any]]  # their fields
    extras: list[dict[str, Any] | None]
    kinds: list[type]
    ids: list[str | None]
    lent: Lent = field(default_factory=Lent)  # shared with the lines it grows into

    def extended(self, rows: Sequence[int], versions: list[Version]) -> "Line":
        """The line with more at its end."""
        messages = [
            version.message if row > 0 or version.message.id is None else unnamed(version.message)
            for row, version in zip(rows, versions, strict=True)
        ]
        return Line(
            (*self.rows, *rows),
            self.versions + versions,
            self.messages + messages,
            self.fields + list(map(_FIELDS, messages)),
            self.extras + list(map(_EXTRAS, messages)),
            self.kinds + list(map(type, messages)),
            self.ids + [message.id for message in messages],
            self.lent if self.rows else Lent(),
        )

    def copies(self) -> list[BaseMessage]:
        """Messages for a reader who may change them.

        A copy given out before is given again if nobody else has it any more and it is as it was: between two turns
        of a conversation that is nearly all of them, and making them anew takes most of the time of a read.
        """
        before = self.lent.take()[: len(self.rows)]
        counts = list(map(sys.getrefcount, before))
        with without_collection():
            if counts.count(_ALONE) != len(before) or not self._starts_with(before):
                before = [
                    copy if count == _ALONE and same(copy, message) else copied(message)
                    for count, copy, message in zip(counts, before, self.messages, strict=False)
                ]
            copies = before + [copied(message) for message in self.messages[len(before) :]]
        self.lent.give(copies)
        return copies[:]

    def find(self, message: BaseMessage) -> Version | None:
        """The version in this line, wherever it stands, that is the message."""
        at = -1
        for _ in range(self.ids.count(message.id)):
            at = self.ids.index(message.id, at + 1)
            if same(self.messages[at], message) or self.versions[at].is_version_of(message):
                return self.versions[at]
        return None

    def begins(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether `messages` starts with this whole line, nothing changed."""
        head = messages[: len(self.rows)]
        return len(head) == len(self.rows) and self._starts_with(head)

    def _starts_with(self, head: Sequence[BaseMessage]) -> bool:
        """Compared list by list, in C, because it is done at every step of a run with the whole conversation."""
        end = len(head)
        try:
            return (
                list(map(type, head)) == self.kinds[:end]
                and list(map(_FIELDS, head)) == self.fields[:end]
                and list(map(_EXTRAS, head)) == self.extras[:end]
            )
        except (TypeError, ValueError):  # an artifact that cannot be compared, such as an array
            return False


_FIELDS = attrgetter("__dict__")
_EXTRAS = attrgetter("__pydantic_extra__")
_ALONE = next(map(sys.getrefcount, [object()]))
"""What the count of references is to an object that only one list holds."""

NOTHING = Line((), [], [], [], [], [], [])


class VersionCache:
    """Decoded rows and lists of all sessions, the least recently used dropped beyond `limit` bytes of rows."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._entries: OrderedDict[tuple[Conversation, int], Version] = OrderedDict()
        self._lines: OrderedDict[tuple[Conversation, tuple[int, ...]], Line] = OrderedDict()
        self._in_lines = 0
        self._expected: OrderedDict[Conversation, tuple[int, deque[int]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, session: Conversation, rows: Iterable[int]) -> dict[int, Version]:
        """Those of `rows` that are here."""
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

    def line(self, session: Conversation, rows: tuple[int, ...]) -> Line | None:
        with self._lock:
            if (line := self._lines.get((session, rows))) is not None:
                self._lines.move_to_end((session, rows))
            return line

    def put_line(self, session: Conversation, line: Line) -> None:
        with self._lock:
            if self._lines.pop((session, line.rows), None) is None:
                self._in_lines += len(line.rows)
            self._lines[session, line.rows] = line
            while self._in_lines > _MOST_IN_LINES and len(self._lines) > 1:
                self._in_lines -= len(self._lines.popitem(last=False)[1].rows)

    def expect(self, session: Conversation, rows: Iterable[int], *, since: int, until: int) -> None:
        """Notes rows that the session's next messages are likely to be: written by tasks, not yet in a list.

        The session's next row was `since` when they were read or added, and is `until` now.
        """
        with self._lock:
            known_at, noted = self._expected.get(session, (since, deque(maxlen=_MOST_EXPECTED)))
            if known_at > until:
                return
            if known_at != since:
                noted.clear()
            noted.extend(rows)
            self._expected[session] = (until, noted)
            self._expected.move_to_end(session)
            if len(self._expected) > _MOST_SESSIONS:
                self._expected.popitem(last=False)

    def expected(self, session: Conversation, at: int) -> list[int]:
        """None if the session's next row is another by now: somebody else has added rows, or deleted some."""
        with self._lock:
            known_at, noted = self._expected.get(session, (at, ()))
            return list(noted) if known_at == at else []


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
    extra = message.__pydantic_extra__
    object.__setattr__(twin, "__pydantic_extra__", _fresh(extra) if extra else extra)
    # Every field of a stored message counts as set, so this never changes and may be shared.
    object.__setattr__(twin, "__pydantic_fields_set__", message.__pydantic_fields_set__)
    object.__setattr__(twin, "__pydantic_private__", message.__pydantic_private__)
    return twin


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


_UNCHANGING = {str, int, float, bool, bytes, type(None)}


def weight(payload: bytes) -> int:
    """A decoded message takes about this many bytes of memory."""
    return 3 * len(payload) + 1_500
