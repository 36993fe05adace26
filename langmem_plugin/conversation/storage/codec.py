"""Turns values and checkpoints into bytes: messages as row numbers, the rest through the serializer and zlib.

The functions are pure. A message inside a value is replaced by a mark that holds its row number; the value around it is
unchanged. A list of messages is stored as its row numbers; when those no longer fit in a few bytes only what it adds to
the parent checkpoint's list is stored, with a full list now and then so that a read follows few parents.
"""

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import ormsgpack
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.types import Send

from langmem_plugin.conversation.media.inline_media import rebuilt
from langmem_plugin.conversation.storage.serializer import StrictSerializer
from langmem_plugin.errors import DamagedSession, NotSerializable, TypeNotAllowed

MARK = "__langmem_rows__"
"""The key of a dict that stands for messages stored as rows; a value that holds messages must not use this key."""
_RAW, _DEFLATED = b"\x00", b"\x01"
_SHORT_LIST = 64
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class RowNumbers:
    """Row numbers in order as runs of (start, length), none of which goes on where the one before ends.

    A negative number is the same row read without its message id: a message enters the graph before `add_messages`
    names it, and naming it must not store it twice. A conversation is mostly one run, however long it is.

    Each operation takes time by the number of runs, not of row numbers.
    """

    runs: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Self:
        return cls.joined((number, 1) for number in numbers)

    @classmethod
    def joined(cls, runs: Iterable[tuple[int, int]]) -> Self:
        joined: list[tuple[int, int]] = []
        for start, length in runs:
            if joined and sum(joined[-1]) == start:
                joined[-1] = joined[-1][0], joined[-1][1] + length
            else:
                joined.append((start, length))
        return cls(tuple(joined))

    @classmethod
    def unpacked(cls, packed: bytes) -> Self:
        """The inverse of `packed`."""
        return cls.joined(_runs(_varints(packed)))

    def packed(self) -> bytes:
        """Each run as its start, relative to the end of the run before, and its length, as varints."""
        out = bytearray()
        end = 0
        for start, length in self.runs:
            step = start - end
            _varint(out, (step << 1) ^ (step >> 63))
            _varint(out, length)
            end = start + length
        return bytes(out)

    def __iter__(self) -> Iterator[int]:
        for start, length in self.runs:
            yield from range(start, start + length)

    def __add__(self, other: "RowNumbers") -> "RowNumbers":
        return RowNumbers.joined((*self.runs, *other.runs))

    def first(self, count: int) -> "RowNumbers":
        return RowNumbers(tuple(self._cut(0, count)))

    def after(self, count: int) -> "RowNumbers":
        """The numbers without the first `count`."""
        return RowNumbers(tuple(self._cut(count, sys.maxsize)))

    def in_common(self, other: "RowNumbers") -> int:
        """The count of numbers that both begin with."""
        count = 0
        for (start, length), (other_start, other_length) in zip(self.runs, other.runs, strict=False):
            if start != other_start:
                break
            count += min(length, other_length)
            if length != other_length:
                break
        return count

    def _cut(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        at = 0
        for start, length in self.runs:
            first, last = max(begin - at, 0), min(end - at, length)
            if first < last:
                yield start + first, last - first
            at += length


NO_ROWS = RowNumbers()


def _runs(numbers: Iterator[int]) -> Iterator[tuple[int, int]]:
    end = 0
    for zigzag in numbers:
        start = end + ((zigzag >> 1) ^ -(zigzag & 1))
        length = next(numbers)
        yield start, length
        end = start + length


def _varint(out: bytearray, number: int) -> None:
    while number > 0x7F:  # noqa: PLR2004 - seven bits a byte, the eighth says that more follow
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _varints(packed: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in packed:
        number |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
        else:
            yield number
            number = shift = 0


TakeOut = Callable[[Sequence[BaseMessage]], RowNumbers]
PutBack = Callable[[RowNumbers], list[BaseMessage]]

# The parts that most payloads repeat: a short message then costs little more than its text (benchmarks/primer.py).
# Stored payloads can only be read with it: it never changes; a better one gets the next leading byte.
_PRIMER = (Path(__file__).parent / "primer.bin").read_bytes()
# Copied for each payload: loading the primer again would cost more than the payload itself.
_DEFLATER = zlib.compressobj(6, zlib.DEFLATED, -14, 6, zlib.Z_DEFAULT_STRATEGY, _PRIMER)


def compress(kind: str, payload: bytes) -> bytes:
    """Make one value of the serializer's `(type, bytes)`, with a checksum, deflated when that is shorter."""
    name = kind.encode()
    framed = bytes([len(name)]) + name + payload
    deflater = _DEFLATER.copy()
    deflated = deflater.compress(framed) + deflater.flush()
    how, stored = (_DEFLATED, deflated) if len(deflated) < len(framed) else (_RAW, framed)
    return how + zlib.crc32(framed).to_bytes(4) + stored


def decompress(stored: bytes) -> tuple[str, bytes]:
    """The pair that `compress` was given. Raises DamagedSession if the bytes have changed."""
    how, checksum, framed = stored[:1], stored[1:5], stored[5:]
    if how == _DEFLATED:
        inflater = zlib.decompressobj(-15, zdict=_PRIMER)
        try:
            framed = inflater.decompress(framed) + inflater.flush()
        except zlib.error as error:
            raise DamagedSession(f"a stored payload is damaged ({error}): run `langmem doctor`") from error
    if not framed or zlib.crc32(framed).to_bytes(4) != checksum:
        raise DamagedSession("a stored payload is damaged (its checksum differs): run `langmem doctor`")
    size = framed[0] + 1
    return framed[1:size].decode(), framed[size:]


def dump(serde: SerializerProtocol, value: Any) -> tuple[str, bytes]:
    """The serializer's own form of a value. Raises NotSerializable if it cannot store the value or read it again."""
    try:
        typed = serde.dumps_typed(value)
        if not isinstance(serde, StrictSerializer):  # our own serializer has compared the value already
            load(serde, typed)
    except DamagedSession as error:
        raise NotSerializable(str(error)) from error
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise NotSerializable(
            f"the state holds something that cannot be stored ({error}): keep it out of the state, or give "
            "the checkpointer a serializer that knows it"
        ) from error
    return typed


def load(serde: SerializerProtocol, typed: tuple[str, bytes]) -> Any:
    """The value of the serializer's form. Raises TypeNotAllowed, and DamagedSession if it is not such a form."""
    refused: list[tuple[str, str]] = []
    token = _refused.set(refused)
    try:
        value = serde.loads_typed(typed)
    except (ValueError, TypeError, NotImplementedError) as error:
        raise DamagedSession(f"a stored value cannot be read ({error}): run `langmem doctor`") from error
    finally:
        _refused.reset(token)
    if refused:
        raise TypeNotAllowed(*refused[0])
    return value


def to_bytes(serde: SerializerProtocol, value: Any) -> bytes:
    """The bytes of a value that is stored alone. Raises as `dump` does."""
    return compress(*dump(serde, value))


def from_bytes(serde: SerializerProtocol, stored: bytes) -> Any:
    """The value that `to_bytes` was given. Raises as `decompress` and `load` do."""
    return load(serde, decompress(stored))


def unpack(payload: bytes) -> Any:
    """Unpack a value that was packed and compressed. Raises DamagedSession."""
    try:
        return ormsgpack.unpackb(decompress(payload)[1])
    except ValueError as error:
        raise DamagedSession(f"a stored payload cannot be read ({error}): run `langmem doctor`") from error


def _note_refusal(event: SerdeEvent) -> None:
    # A serializer that refuses to build a type returns the parts instead, and tells it only here.
    if "blocked" in event["kind"] and (refused := _refused.get()) is not None:
        refused.append((event["module"], event["name"]))


_refused: ContextVar[list[tuple[str, str]] | None] = ContextVar("langmem_refused", default=None)
register_serde_event_listener(_note_refusal)


def is_message_list(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_is_message_type, set(map(type, value))))


def is_automated(message: BaseMessage) -> bool:
    """Tell whether a machine sent it on its own (a briefing, a nudge): such a message is never stored."""
    return message.additional_kwargs.get("automated") is True


def _is_message_type(kind: type) -> bool:
    """Tell whether its values are stored as rows. A RemoveMessage is an instruction, not a message."""
    return issubclass(kind, BaseMessage) and not issubclass(kind, RemoveMessage)


def take_out(value: Any, rows: TakeOut) -> Any:
    """Copy `value` with every message in lists, tuples, dicts and Sends replaced by its row number.

    The same object comes back if there is none, so that large values are not copied.
    """
    if _is_message_type(type(value)):
        return [] if is_automated(value) else {MARK: next(iter(rows([value])))}
    if is_message_list(value):
        return {MARK: rows(value).packed()}
    if type(value) is dict and MARK in value:
        raise NotSerializable(f"the key {MARK!r} is reserved: name it otherwise")
    return rebuilt(value, partial(take_out, rows=rows)) if _has_parts(value) else value


def put_back(value: Any, messages: PutBack) -> Any:
    """The inverse of `take_out`."""
    if type(value) is dict and MARK in value:
        held = value[MARK]
        return messages(_rows(held)) if isinstance(held, bytes) else messages(_rows(held))[0]
    return rebuilt(value, partial(put_back, messages=messages)) if _has_parts(value) else value


def _has_parts(value: Any) -> bool:
    kind = type(value)
    return kind in (dict, list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")) or kind is Send


def referenced(value: Any) -> list[int]:
    """The row numbers a taken-out value refers to, in order."""
    found: list[int] = []

    def noted(rows: RowNumbers) -> list[Any]:
        found.extend(rows)
        return [*rows]

    put_back(value, noted)
    return found


def _rows(held: bytes | int) -> RowNumbers:
    """The row numbers in a mark: several for a list, one for a message."""
    return RowNumbers.unpacked(held) if isinstance(held, bytes) else RowNumbers.of([held])


Typed = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class MessageList:
    """A channel that is a list of messages: their rows.

    `depth` is the number of checkpoints back to its last full list, `size` about the bytes of a full list.
    """

    rows: RowNumbers
    depth: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class InlineValue:
    """Bytes of the serializer; `marked` if messages were taken out of the value."""

    typed: Typed
    marked: bool


@dataclass(frozen=True, slots=True)
class ValueRow:
    """A value row, for values too long to repeat in every checkpoint."""

    row: int


StoredValue = MessageList | InlineValue | ValueRow


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """A checkpoint read but not decoded further than its lists."""

    checkpoint_id: str
    parent_id: str | None
    body: dict[str, Any]
    metadata: Typed
    channels: dict[str, StoredValue]


@dataclass(frozen=True, slots=True)
class StoredWrite:
    """One write of a task. `path` and `index` give the order in which the graph applies them."""

    index: int
    channel: str
    path: str
    held: StoredValue


def encode(
    body: Typed, metadata: Typed, channels: Mapping[str, StoredValue], parent: StoredCheckpoint | None
) -> tuple[bytes, dict[str, StoredValue]]:
    """The checkpoint's payload, and its channels as `decode` would give them."""
    before = parent.channels if parent else {}
    encoded = {name: _encode_held(held, before.get(name)) for name, held in channels.items()}
    packed = {name: packed for name, (packed, _) in encoded.items()}
    payload = compress("", ormsgpack.packb([body, metadata, packed]))
    return payload, {name: held for name, (_, held) in encoded.items()}


def decode(
    serde: SerializerProtocol,
    checkpoint_id: str,
    parent_id: str | None,
    payload: bytes,
    parent: Callable[[], StoredCheckpoint | None],
) -> StoredCheckpoint:
    """The inverse of `encode`; `parent` is called only when a list is stored against the parent's.

    Raises DamagedSession.
    """
    match unpack(payload):
        case [[str(), bytes()] as body, [str(), bytes()] as metadata, dict(held)]:
            channels = {name: _decode_held(name, part, parent) for name, part in held.items()}
            facts = load(serde, tuple(body))
            if isinstance(facts, dict):
                return StoredCheckpoint(checkpoint_id, parent_id, facts, tuple(metadata), channels)
    raise DamagedSession(f"damaged checkpoint {checkpoint_id}: it is stored in an unknown way")


def encode_writes(writes: list[StoredWrite]) -> bytes:
    """The payload of what one task wrote."""
    packed = [[write.index, write.channel, write.path, _encode_held(write.held, None)[0]] for write in writes]
    return compress("", ormsgpack.packb(packed))


def decode_writes(payload: bytes) -> list[StoredWrite]:
    return [
        StoredWrite(index, channel, path, _decode_held(channel, held, lambda: None))
        for index, channel, path, held in unpack(payload)
    ]


def rows_in(serde: SerializerProtocol, held: StoredValue) -> list[int]:
    """The message rows a channel refers to."""
    if isinstance(held, MessageList):
        return [*held.rows]
    if isinstance(held, InlineValue) and held.marked:
        return referenced(load(serde, held.typed))
    return []


def _encode_held(held: StoredValue, parent: StoredValue | None) -> tuple[list[Any], StoredValue]:
    """The stored form of a channel, and the same as read back."""
    match held:
        case InlineValue(typed, marked):
            return ["s" if marked else "p", *typed], held
        case ValueRow(row):
            return ["b", row], held
        case MessageList(rows):
            if isinstance(parent, MessageList) and parent.size > _SHORT_LIST and parent.depth < _DEEPEST:
                keep, depth = parent.rows.in_common(rows), parent.depth + 1
                packed = rows.after(keep).packed()
                return ["d", depth, keep, packed], MessageList(rows, depth, parent.size + len(packed))
            packed = rows.packed()
            return ["r", packed], MessageList(rows, 0, len(packed))


def _decode_held(name: str, held: list[Any], parent: Callable[[], StoredCheckpoint | None]) -> StoredValue:
    match held:
        case ["p", kind, payload]:
            return InlineValue((kind, payload), marked=False)
        case ["s", kind, payload]:
            return InlineValue((kind, payload), marked=True)
        case ["b", row]:
            return ValueRow(row)
        case ["r", packed]:
            return MessageList(RowNumbers.unpacked(packed), 0, len(packed))
        case ["d", depth, keep, packed]:
            base = parent()
            before = base.channels.get(name) if base else None
            if not isinstance(before, MessageList):
                raise DamagedSession(f"damaged checkpoint: the list {name!r} continues one that is missing")
            rows = before.rows.first(keep) + RowNumbers.unpacked(packed)
            return MessageList(rows, depth, before.size + len(packed))
    raise DamagedSession(f"damaged checkpoint: the channel {name!r} is stored in an unknown way")
