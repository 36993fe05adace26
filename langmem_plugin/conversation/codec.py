"""How a value becomes bytes: message rows taken out by number, the rest through the serializer and zlib.

Pure functions. A message inside a value is replaced by a mark that holds its row number; the value around it
stays what it was. A negative number is the same row read without its message id: a message enters the graph
before `add_messages` names it, and naming it must not store it twice.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.types import Send

from langmem_plugin.errors import DamagedSession, NotSerializable

MARK = "__langmem_rows__"
"""Stands for messages stored as rows; a value that holds messages must not use this key itself."""

Rows = list[int]
TakeOut = Callable[[Sequence[BaseMessage]], Rows]
PutBack = Callable[[Rows], list[BaseMessage]]

_RAW, _DEFLATED = b"\x00", b"\x01"
# What nearly every payload repeats: primed into zlib, so that a short message costs its text and little else.
# Stored payloads can only be read with it: it may never change; a better one gets the next leading byte.
_PRIMER = (
    b"__interrupt____resume____pregel_tasks__error__branch:to:model_request__start__branch:to:recallbranch:to:"
    b"branch:to:agentbranch:to:writebranch:to:toolsbranch:to:modelrecalledjump_tostructured_response\x00\x00"
    b"\xa7updates\xa4user\xa5stop\xa9tool_callfunctioncallsuccesserrorstatus\xa8artifact\xactool_call_id\xaainput_"
    b"tokensoutput_tokenstotal_tokensinput_token_detailsoutput_token_detailscache_readreasoningfinish_reason"
    b"tool_callsstopmodel_namemodel_providerlogprobstoken_usageid\xa9system_fingerprint\xacservice_tier\xa9refusal"
    b"langgraph.typesSendnodeargInterruptvalueid"
    b'{"results": [{"id": "title": "name": "price": "url": "date": "time": "rating": "minutes": "servings": '
    b'"description": "ingredients": "amount": "tags": "count": "total": "status": "items": '
    b"langchain_core.messages.toolToolMessage\x8b\xa7content\xb1additional_kwargs\x80\xb1response_metadata\x80"
    b"\xa4type\xa4tool\xa4name\xa2id\xc0\xactool_call_id\xd9\xa8artifact\xc0\xa6status\xa7success"
    b"langchain_core.messages.systemSystemMessage"
    b"langchain_core.messages.aiAIMessage\x8a\xa7content\xb1additional_kwargs\x80\xb1response_metadata\x80"
    b"\xa4type\xa2ai\xa4name\xc0\xa2id\xc0\xa7example\xc2\xaatool_calls\x91\x84\xa4name\xa4args\xa2id\xa4type"
    b"\xa9tool_call\xb2invalid_tool_calls\x90\xaeusage_metadata\xc0\xb3model_validate_json"
    b"langchain_core.messages.humanHumanMessage\x87\xa7content\xb1additional_kwargs\x80\xb1response_metadata\x80"
    b"\xa4type\xa5human\xa4name\xc0\xa2id\xc0\xa7example\xc2"
    b"runtime_namelanggraph_auth_userlanggraph_auth_permissionsls_integrationrun_attemptlanggraph_version"
    b"langgraph_planlanggraph_hostlanggraph_api_urlgraph_idassistant_iduser_idcreated_byrun_idthread_id"
    b"\x83\xa1c\x87\xa1v\x02\xa2ts\xd9 2026-01-01T00:00:00.000000+00:00\xaepending_sends\x90\xb0channel_versions"
    b"\xadversions_seen\xa9__input__\x80\xa9__start__\x81\xa9__start__\xd91"
    b"00000000000000000000000000000001.0000000000000000\xb0updated_channels\x91\xa8messages"
    b"\xa1m\x83\xa6source\xa4loop\xa5input\xa4step\xa7parents\x80\xa1v\x82\xa8messages\x81\xb1__langmem_rows__"
)


def compress(kind: str, payload: bytes) -> bytes:
    """The serializer's `(type, bytes)` as one value with a checksum, deflated when that is shorter."""
    name = kind.encode()
    framed = bytes([len(name)]) + name + payload
    deflater = zlib.compressobj(6, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, _PRIMER)
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
    """The serializer's own form. Raises NotSerializable if it cannot store the value."""
    try:
        return serde.dumps_typed(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotSerializable(
            f"the state holds something that cannot be stored ({error}): keep it out of the state, or give "
            "the checkpointer a serializer that knows it"
        ) from error


def is_message(value: Any) -> bool:
    """Whether the value is stored as a row. A RemoveMessage is an instruction, not a message."""
    return _is_message_type(type(value))


def is_automated(message: BaseMessage) -> bool:
    """Whether it is marked as sent by a machine on its own (a briefing, a nudge): it is never stored."""
    return message.additional_kwargs.get("automated") is True


def _is_message_type(kind: type) -> bool:
    return issubclass(kind, BaseMessage) and not issubclass(kind, RemoveMessage)


def take_out(value: Any, rows: TakeOut) -> Any:  # noqa: PLR0911 - one return per shape
    """`value` with every message in lists, tuples, dicts and Sends replaced by its row number, automated ones by
    nothing.

    The very same object comes back if there is none, so that large values are not copied.
    """
    if is_message(value):
        return [] if is_automated(value) else {MARK: rows([value])[0]}
    if isinstance(value, list) and value and all(map(_is_message_type, set(map(type, value)))):
        return {MARK: pack(rows([message for message in value if not is_automated(message)]))}
    if isinstance(value, list | tuple):
        parts = [take_out(part, rows) for part in value]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        if isinstance(value, list):
            return parts
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, dict):
        if MARK in value:
            raise NotSerializable(f"the key {MARK!r} is reserved: name it otherwise")
        entries = {key: take_out(part, rows) for key, part in value.items()}
        return value if all(entries[key] is part for key, part in value.items()) else entries
    if isinstance(value, Send):
        argument = take_out(value.arg, rows)
        return value if argument is value.arg else Send(value.node, argument)
    return value


def put_back(value: Any, messages: PutBack) -> Any:
    """The inverse of `take_out`."""
    if isinstance(value, dict):
        if MARK in value:
            held = value[MARK]
            return messages(unpack(held)) if isinstance(held, bytes) else messages([held])[0]
        return {key: put_back(part, messages) for key, part in value.items()}
    if isinstance(value, list):
        return [put_back(part, messages) for part in value]
    if isinstance(value, tuple):
        parts = [put_back(part, messages) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, Send):
        return Send(value.node, put_back(value.arg, messages))
    return value


def referenced(value: Any) -> Iterator[int]:
    """The row numbers a taken-out value refers to, in order, without their sign."""
    if isinstance(value, dict):
        if MARK in value:
            held = value[MARK]
            yield from map(abs, unpack(held) if isinstance(held, bytes) else [held])
        else:
            for part in value.values():
                yield from referenced(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from referenced(part)
    elif isinstance(value, Send):
        yield from referenced(value.arg)


def pack(rows: Sequence[int]) -> bytes:
    """Row numbers as runs of neighbours, each a start (relative to the last end) and a length, as varints."""
    out = bytearray()
    position = 0
    index = 0
    while index < len(rows):
        start = rows[index]
        length = _run(rows, index)
        step = start - position
        _varint(out, (step << 1) ^ (step >> 63))
        _varint(out, length)
        position = start + length
        index += length
    return bytes(out)


def _run(rows: Sequence[int], index: int) -> int:
    """How many neighbours follow one another from `index` on, found by doubling."""
    length, step = 1, 1
    while step:
        first, last = index + length, index + length + step
        expected = rows[index] + length
        if last <= len(rows) and list(rows[first:last]) == list(range(expected, expected + step)):
            length += step
            step *= 2
        else:
            step //= 2
    return length


def unpack(packed: bytes) -> Rows:
    """The inverse of `pack`."""
    rows: Rows = []
    position = 0
    numbers = _varints(packed)
    for zigzag in numbers:
        position += (zigzag >> 1) ^ -(zigzag & 1)
        length = next(numbers)
        rows.extend(range(position, position + length))
        position += length
    return rows


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
