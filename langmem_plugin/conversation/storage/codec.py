"""How a value becomes bytes: message rows taken out by number, the rest through the serializer and zlib.

Pure functions. A message inside a value is replaced by a mark that holds its row number; the value around it
stays what it was.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import ormsgpack
from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.event_hooks import SerdeEvent, register_serde_event_listener
from langgraph.types import Send

from langmem_plugin.conversation.storage.row_numbers import RowNumbers
from langmem_plugin.conversation.storage.serializer import StrictSerializer
from langmem_plugin.errors import DamagedSession, NotSerializable, TypeNotAllowed

MARK = "__langmem_rows__"
"""Stands for messages stored as rows; a value that holds messages must not use this key itself."""

TakeOut = Callable[[Sequence[BaseMessage]], RowNumbers]
PutBack = Callable[[RowNumbers], list[BaseMessage]]

_RAW, _DEFLATED = b"\x00", b"\x01"
# What nearly every payload repeats, so that a short message costs its text and little else (benchmarks/primer.py).
# Stored payloads can only be read with it: it never changes; a better one gets the next leading byte.
_PRIMER = (Path(__file__).parent / "primer.bin").read_bytes()
# Copied for each payload: taking the primer in anew would cost more than the payload itself.
_DEFLATER = zlib.compressobj(6, zlib.DEFLATED, -14, 6, zlib.Z_DEFAULT_STRATEGY, _PRIMER)


def compress(kind: str, payload: bytes) -> bytes:
    """The serializer's `(type, bytes)` as one value with a checksum, deflated when that is shorter."""
    name = kind.encode()
    framed = bytes([len(name)]) + name + payload
    deflater = _DEFLATER.copy()
    deflated = deflater.compress(framed) + deflater.flush()
    how, stored = (_DEFLATED, deflated) if len(deflated) < len(framed) else (_RAW, framed)
    return how + zlib.crc32(framed).to_bytes(4) + stored


def decompress(stored: bytes) -> tuple[str, bytes]:
    """The pair `compress` was given. Raises DamagedSession if these are not the bytes that were stored."""
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
    """The serializer's own form. Raises NotSerializable if it cannot store the value, or not read it again."""
    try:
        typed = serde.dumps_typed(value)
        if not isinstance(serde, StrictSerializer):  # ours has compared what comes back
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
    """The value of the serializer's form. Raises TypeNotAllowed, and DamagedSession if it is no such form at all."""
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
    """A value as one that stands by itself is stored. Raises as `dump` does."""
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
    # A serializer that refuses to build a type gives what it would be built from instead, and says so only here.
    if "blocked" in event["kind"] and (refused := _refused.get()) is not None:
        refused.append((event["module"], event["name"]))


_refused: ContextVar[list[tuple[str, str]] | None] = ContextVar("langmem_refused", default=None)
register_serde_event_listener(_note_refusal)


def is_message(value: Any) -> bool:
    """Tell whether the value is stored as a row. A RemoveMessage is an instruction, not a message."""
    return _is_message_type(type(value))


def is_message_list(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_is_message_type, set(map(type, value))))


def is_automated(message: BaseMessage) -> bool:
    """Tell whether a machine sent it on its own (a briefing, a nudge): such a message is never stored."""
    return message.additional_kwargs.get("automated") is True


def _is_message_type(kind: type) -> bool:
    return issubclass(kind, BaseMessage) and not issubclass(kind, RemoveMessage)


def take_out(value: Any, rows: TakeOut) -> Any:  # noqa: PLR0911 - one return per shape
    """`value` with every message in lists, tuples, dicts and Sends replaced by its row number.

    The very same object comes back if there is none, so that large values are not copied.
    """
    if is_message(value):
        return [] if is_automated(value) else {MARK: rows([value])[0]}
    if is_message_list(value):
        return {MARK: rows(value).packed()}
    kind = type(value)
    if kind in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        parts = [take_out(part, rows) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return kind(parts) if kind in (list, tuple) else kind(*parts)
    if kind is dict:
        if MARK in value:
            raise NotSerializable(f"the key {MARK!r} is reserved: name it otherwise")
        entries = {key: take_out(part, rows) for key, part in value.items()}
        return value if all(entries[key] is part for key, part in value.items()) else entries
    if isinstance(value, Send):
        argument = take_out(value.arg, rows)
        return value if argument is value.arg else Send(value.node, argument, timeout=value.timeout)
    return value


def put_back(value: Any, messages: PutBack) -> Any:
    """The inverse of `take_out`."""
    kind = type(value)
    if kind is dict:
        if MARK in value:
            held = value[MARK]
            return messages(_rows(held)) if isinstance(held, bytes) else messages(_rows(held))[0]
        return {key: put_back(part, messages) for key, part in value.items()}
    if kind in (list, tuple):
        return kind(put_back(part, messages) for part in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*(put_back(part, messages) for part in value))
    if isinstance(value, Send):
        return Send(value.node, put_back(value.arg, messages), timeout=value.timeout)
    return value


def referenced(value: Any) -> Iterator[int]:
    """The row numbers a taken-out value refers to, in order, without their sign."""
    if isinstance(value, dict):
        if MARK in value:
            held = value[MARK]
            yield from map(abs, _rows(held))
        else:
            for part in value.values():
                yield from referenced(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from referenced(part)
    elif isinstance(value, Send):
        yield from referenced(value.arg)


def _rows(held: bytes | int) -> RowNumbers:
    """The row numbers in a mark: those of a list, or that of one message."""
    return RowNumbers.unpacked(held) if isinstance(held, bytes) else RowNumbers.of([held])
