"""What a tool returned, as plain data: JSON and Python literals in text, content blocks, models and dataclasses."""

import ast
import dataclasses
import json
import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from uuid import UUID

import ormsgpack
from pydantic import BaseModel

_UNCHANGING = (date, time, timedelta, Decimal, UUID, PurePath)
_PACKING = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
_FENCED = re.compile(r"^\s*```\w*\n(.*?)\n?```\s*$", re.DOTALL)


def plain(value: object) -> Any:
    """As data: Pydantic models and dataclasses as dicts, and every dict and list anew."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


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


def structured(content: object) -> Any:
    """A tool message's content as data; its text when it is no data."""
    if isinstance(content, str):
        return _decode(content)
    if isinstance(content, list):
        blocks = []
        for block in content:
            if isinstance(block, str):
                blocks.append(_decode(block))
            elif isinstance(block, Mapping):
                if isinstance(block.get("text"), str):
                    blocks.append(_decode(block["text"]))
                elif "json" in block:
                    blocks.append(block["json"])
        if len(blocks) == 1:
            return blocks[0]
        if blocks and all(isinstance(block, str) for block in blocks):
            return "\n".join(blocks)
        data = [block for block in blocks if not isinstance(block, str)]
        return data[0] if len(data) == 1 else data
    return content


def _decode(text: str) -> Any:
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    if fenced:
        stripped = fenced[1].strip()
    if stripped[:1] in "[{":
        try:
            return json.loads(stripped)
        except ValueError:
            pass
        try:
            return ast.literal_eval(stripped)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            pass
        lines = [line for line in stripped.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            pass
    for opening in ("[", "{"):
        start = stripped.find(opening)
        if start > 0 and stripped[-1:] in "]}":
            try:
                return json.loads(stripped[start:])
            except ValueError:
                continue
    return text
