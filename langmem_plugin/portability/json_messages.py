"""A message as plain JSON and back, whatever values its maker put into it."""

import base64
import math
from datetime import date, datetime
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage, message_to_dict, messages_from_dict

from langmem_plugin.conversation.storage.codec import is_automated
from langmem_plugin.errors import InvalidInput

_LEVELS = 100


def as_json(message: BaseMessage) -> dict[str, Any]:
    """Return the message in LangChain's form; values that JSON cannot hold become text."""
    plain: dict[str, Any] = _plain(message_to_dict(message), _LEVELS)
    return plain


def from_json(form: dict[str, Any]) -> BaseMessage:
    """Return the message of LangChain's form. Raises InvalidInput for what is no message."""
    try:
        [message] = messages_from_dict([form])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInput(f"this is no message in LangChain's form ({type(error).__name__})") from error
    if isinstance(message, RemoveMessage):
        raise InvalidInput("this is no message but the order to remove one")
    if is_automated(message):
        raise InvalidInput("it is marked as automated: such messages are never stored")
    return message


def _plain(value: Any, levels: int) -> Any:  # noqa: PLR0911 - one return per kind
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value).encode("utf-8", "replace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime | date):
        return value.isoformat()
    if levels and isinstance(value, dict):
        return {str(_plain(str(key), 0)): _plain(part, levels - 1) for key, part in value.items()}
    if levels and isinstance(value, list | tuple | set | frozenset):
        return [_plain(part, levels - 1) for part in value]
    return _plain(str(value), 0)
