"""What a LangGraph store has put into a memory: its value, which follows the text when that is corrected elsewhere."""

import json
from collections.abc import Mapping
from typing import Any

MARK = "store"
_PARTS = {"namespace", "key", "value", "text", "ttl"}


def mark_of(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """None of a memory that no store made."""
    mark = metadata.get(MARK)
    return mark if isinstance(mark, dict) and mark.keys() >= _PARTS else None


def value_with(mark: Mapping[str, Any], text: str) -> dict[str, Any]:
    """As it was put; where the memory has another text since, with that one."""
    value: dict[str, Any] = json.loads(mark["value"])
    if text == mark["text"]:
        return value
    texts = [name for name, held in value.items() if isinstance(held, str)]
    return {**value, texts[0]: text} if len(texts) == 1 else {**value, "content": text}


def corrected(metadata: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The metadata of a memory that has this text now."""
    mark = mark_of(metadata)
    if mark is None or mark["text"] == text:
        return dict(metadata)
    return {**metadata, MARK: {**mark, "value": json.dumps(value_with(mark, text)), "text": text}}
