"""The values of tools as plain data: models and dataclasses as dicts, JSON in texts read; and as bytes to compare."""

import ast
import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import partial
from numbers import Integral
from pathlib import PurePath
from typing import Any
from uuid import UUID

import ormsgpack
from pydantic import BaseModel

_LEVELS = 40  # of nesting
_LARGEST = 2**1000  # it fits into a float and can be written out
_AS_IT_IS = frozenset((str, float, bool, type(None)))
_UNCHANGING = (date, time, timedelta, Decimal, UUID, PurePath)
_PACKING = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
_DIGITS = 300  # of a number that is read as one
_FENCED = re.compile(r"^\s*```\w*\n(.*?)\n?```\s*$", re.DOTALL)


def plain(value: object, levels: int = _LEVELS) -> Any:
    """Return a value as data: Pydantic models and dataclasses as dicts, and every dict and list anew, its keys texts.

    A value that is no data, a number that nothing compares with, and a value nested deeper than anybody is shown become
    the name of their type.
    """
    if type(value) in _AS_IT_IS:
        return value
    value = _opened(value)
    if levels and isinstance(value, Mapping):
        return {_key(key): plain(inner, levels - 1) for key, inner in value.items()}
    if levels and isinstance(value, (list, tuple)):
        return [plain(inner, levels - 1) for inner in value]
    return _leaf(value)


def _opened(value: object) -> object:
    """Return the dict, list or simple value inside an object that is neither dict nor list."""
    if isinstance(value, BaseModel):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (set, frozenset)):
        return sorted(map(plain, value), key=str)
    return value.value if isinstance(value, Enum) else value


def _leaf(value: object) -> Any:
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Integral):
        value = value if isinstance(value, bool) else int(value)
    comparable = (
        abs(value) < _LARGEST
        if isinstance(value, int)
        else value.is_finite()
        if isinstance(value, Decimal)
        else value is None or isinstance(value, (str, float, bytes, *_UNCHANGING))
    )
    return value if comparable else type(value).__name__


def _key(key: object) -> str:
    return key if isinstance(key, str) else str(plain(key))


def packed(value: object) -> bytes | None:
    """Return bytes that tell a value from every other; None if it holds something that is no data and may change."""
    try:
        return ormsgpack.packb(value, default=_packed_leaf, option=_PACKING)
    except ormsgpack.MsgpackEncodeError:
        return None


def _packed_leaf(value: object) -> Any:
    if isinstance(value, _UNCHANGING):
        return type(value).__name__, str(value)
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        return plain(value)
    raise TypeError


def structured(content: object) -> Any:
    """Return a tool message's content as data; its text if it is no data."""
    if isinstance(content, str):
        return _decode(content)
    if isinstance(content, list):
        blocks = [block for each in content for block in _of_block(each)]
        data = [block for block in blocks if not isinstance(block, str)]
        if blocks and not data:
            return "\n".join(blocks)
        return data[0] if len(data) == 1 else data
    return plain(content)


def _of_block(block: object) -> list[Any]:
    """Return the data of a content block; none if it holds neither text nor data: an image."""
    text = block.get("text") if isinstance(block, Mapping) else block
    if isinstance(text, str):
        return [_decode(text)]
    return [plain(block["json"])] if isinstance(block, Mapping) and "json" in block else []


def _decode(text: str) -> Any:
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    if fenced:
        stripped = fenced[1].strip()
    readers: list[Callable[[], Any]] = []
    if stripped[:1] in "[{":
        readers += [
            lambda: _of_json(stripped),
            lambda: plain(ast.literal_eval(stripped)),
            lambda: [_of_json(line) for line in stripped.splitlines() if line.strip()],
        ]
    if stripped[-1:] in "]}":
        starts = (start for start in map(stripped.find, "[{") if start > 0)
        readers += [partial(_of_json, stripped[start:]) for start in starts]
    for read in readers:
        with suppress(ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return read()
    return text


def _of_json(text: str) -> Any:
    """Read JSON; a number of very many digits stays a text. Raises ValueError or, nested too deep, RecursionError."""
    return plain(json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _DIGITS else digits))
