"""A tool message's content as data: JSON, JSON lines and Python literals in text, fenced or not, and content blocks."""

import ast
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from langmem_plugin.references.shown.plain_data import plain

_DIGITS = 300  # of a number that is read as one
_FENCED = re.compile(r"^\s*```\w*\n(.*?)\n?```\s*$", re.DOTALL)


def structured(content: object) -> Any:
    """A tool message's content as data; its text when it is no data."""
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
    """Nothing where it holds neither text nor data: an image."""
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
    """A number of very many digits stays the text it is. Raises ValueError or, nested too deep, RecursionError."""
    return plain(json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _DIGITS else digits))
