"""A tool message's content as data: JSON, JSON lines and Python literals in text, fenced or not, and content blocks."""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from langmem_plugin.references.shown.plain_data import plain

_DIGITS = 300  # of a number that is read as one
_FENCED = re.compile(r"^\s*```\w*\n(.*?)\n?```\s*$", re.DOTALL)


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
                    blocks.append(plain(block["json"]))
        if len(blocks) == 1:
            return blocks[0]
        if blocks and all(isinstance(block, str) for block in blocks):
            return "\n".join(blocks)
        data = [block for block in blocks if not isinstance(block, str)]
        return data[0] if len(data) == 1 else data
    return plain(content)


def _decode(text: str) -> Any:
    stripped = text.strip()
    fenced = _FENCED.match(stripped)
    if fenced:
        stripped = fenced[1].strip()
    if stripped[:1] in "[{":
        try:
            return _of_json(stripped)
        except (ValueError, RecursionError):
            pass
        try:
            return plain(ast.literal_eval(stripped))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass
        lines = [line for line in stripped.splitlines() if line.strip()]
        try:
            return [_of_json(line) for line in lines]
        except (ValueError, RecursionError):
            pass
    for opening in ("[", "{"):
        start = stripped.find(opening)
        if start > 0 and stripped[-1:] in "]}":
            try:
                return _of_json(stripped[start:])
            except (ValueError, RecursionError):
                continue
    return text


def _of_json(text: str) -> Any:
    """A number of very many digits stays the text it is. Raises ValueError or, nested too deep, RecursionError."""
    return plain(json.loads(text, parse_int=lambda digits: int(digits) if len(digits) <= _DIGITS else digits))
