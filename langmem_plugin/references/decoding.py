"""What a tool returned, as plain data: JSON and Python literals in text, content blocks, models and dataclasses."""

import ast
import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

_FENCED = re.compile(r"^\s*```\w*\n(.*?)\n?```\s*$", re.DOTALL)


def plain(value: object) -> Any:
    """Pydantic models and dataclasses as dicts; anything else as it is."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, Mapping):
        return (
            value
            if not any(isinstance(v, (BaseModel, list, tuple, Mapping)) for v in value.values())
            else {k: plain(v) for k, v in value.items()}
        )
    return value


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
