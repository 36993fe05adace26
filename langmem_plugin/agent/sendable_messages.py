"""Messages as the client of any model can send them: no halves of characters, nothing nested or counted without end."""

import re
from typing import Any

from langchain_core.messages import BaseMessage

from langmem_plugin.memory.models import storable

_HALF = re.compile(r"[\ud800-\udfff]")
_SENT = ("content", "name", "tool_calls", "invalid_tool_calls", "tool_call_id", "additional_kwargs")
_LEVELS = 60
_LARGEST_BITS = 10_000  # Python refuses to write out a number of more than 4,300 digits


def sendable(message: BaseMessage) -> BaseMessage:
    """The message; a copy where something in it could not be sent. It is stored with the same question marks."""
    fields = {name: getattr(message, name) for name in _SENT if getattr(message, name, None)}
    changed = {name: new for name, value in fields.items() if (new := _whole(value, _LEVELS)) is not value}
    return message.model_copy(update=changed) if changed else message


def _whole(value: Any, levels: int) -> Any:
    """The very same object where nothing has to change."""
    if isinstance(value, str):
        return storable(value) if _HALF.search(value) else value
    if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
        return "…"
    if not isinstance(value, list | dict):
        return value
    if not levels:
        return "…"
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    new = [_whole(part, levels - 1) for part in parts]
    if all(one is other for one, other in zip(new, parts, strict=True)):
        return value
    return dict(zip(new[: len(value)], new[len(value) :], strict=True)) if isinstance(value, dict) else new
