"""Any value of a tool as plain data: models and dataclasses as dicts, keys as texts; and as bytes that tell it apart."""

import dataclasses
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from numbers import Integral
from pathlib import PurePath
from typing import Any
from uuid import UUID

import ormsgpack
from pydantic import BaseModel

_LEVELS = 40  # of nesting
_LARGEST = 2**1000  # what fits into a float and can be written out
_AS_IT_IS = frozenset((str, float, bool, type(None)))
_UNCHANGING = (date, time, timedelta, Decimal, UUID, PurePath)
_PACKING = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_UUID
)


def plain(value: object, levels: int = _LEVELS) -> Any:
    """As data: Pydantic models and dataclasses as dicts, and every dict and list anew, its keys texts.

    Of what is no data, of a number that nothing compares with, and of what is nested deeper than anybody is shown,
    there is only the name of its type.
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
    """What it is made of, for those that are neither dict nor list."""
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
    """Bytes that tell a value from every other; None if it holds what is no data and may change."""
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
