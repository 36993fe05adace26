"""A checkpoint as it is stored: which row, list or bytes each channel holds, against its parent.

A list of messages is its row numbers; when those no longer fit in a few bytes it is what it adds to the
parent's list, with a full list now and then so that reading never walks far.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde.base import SerializerProtocol

from langmem_plugin.conversation.storage import codec
from langmem_plugin.conversation.storage.row_numbers import RowNumbers
from langmem_plugin.errors import DamagedSession

_LARGE = 512
"""A value longer than this, in bytes, is stored once as a row of its own."""

_SHORT_LIST = 64
_DEEPEST = 32

Typed = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class MessageList:
    """A channel that is a list of messages: their rows.

    As stored: how many checkpoints back its last full list is, and about how many bytes a full list would take.
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


def hold(
    serde: SerializerProtocol, value: Any, take_out: codec.TakeOut, add_value: Callable[[Typed], int]
) -> StoredValue:
    """How a value is to be stored: its messages as rows, large bytes as a row, the rest inline."""
    if codec.is_message_list(value):
        return MessageList(take_out(value))
    taken = codec.take_out(value, take_out)
    typed = codec.dump(serde, taken)
    if taken is value and len(typed[1]) > _LARGE:
        return ValueRow(add_value(typed))
    return InlineValue(typed, marked=taken is not value)


def encode(
    body: Typed, metadata: Typed, channels: Mapping[str, StoredValue], parent: StoredCheckpoint | None
) -> tuple[bytes, dict[str, StoredValue]]:
    """The checkpoint's payload, and the channels as decoding it gives them."""
    before = parent.channels if parent else {}
    encoded = {name: _encode_held(held, before.get(name)) for name, held in channels.items()}
    packed = {name: packed for name, (packed, _) in encoded.items()}
    payload = codec.compress("", ormsgpack.packb([body, metadata, packed]))
    return payload, {name: held for name, (_, held) in encoded.items()}


def decode(
    serde: SerializerProtocol,
    checkpoint_id: str,
    parent_id: str | None,
    payload: bytes,
    parent: Callable[[], StoredCheckpoint | None],
) -> StoredCheckpoint:
    """The inverse of `encode`; `parent` is asked for only when a list is stored against it."""
    match codec.unpack(payload):
        case [[str(), bytes()] as body, [str(), bytes()] as metadata, dict(held)]:
            channels = {name: _decode_held(name, part, parent) for name, part in held.items()}
            facts = codec.load(serde, tuple(body))
            if isinstance(facts, dict):
                return StoredCheckpoint(checkpoint_id, parent_id, facts, tuple(metadata), channels)
    raise DamagedSession(f"damaged checkpoint {checkpoint_id}: it is stored in an unknown way")


def encode_writes(writes: list[StoredWrite]) -> bytes:
    """The payload of what one task wrote."""
    packed = [[write.index, write.channel, write.path, _encode_held(write.held, None)[0]] for write in writes]
    return codec.compress("", ormsgpack.packb(packed))


def decode_writes(payload: bytes) -> list[StoredWrite]:
    return [
        StoredWrite(index, channel, path, _decode_held(channel, held, lambda: None))
        for index, channel, path, held in codec.unpack(payload)
    ]


def rows_in(serde: SerializerProtocol, held: StoredValue) -> list[int]:
    """The message rows a channel refers to, without their sign."""
    if isinstance(held, MessageList):
        return [abs(row) for row in held.rows]
    if isinstance(held, InlineValue) and held.marked:
        return list(codec.referenced(codec.load(serde, held.typed)))
    return []


def _encode_held(held: StoredValue, parent: StoredValue | None) -> tuple[list[Any], StoredValue]:
    """How it is stored, and the same as read back."""
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
