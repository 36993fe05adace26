"""Puts the newest turn's pictures back for the model, and takes out those whose address nobody should ask."""

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from langmem_plugin.conversation.media.media_reference import MediaReference, references_in
from langmem_plugin.conversation.media.picture_urls import why_refused

_NAMES = ("url", "uri")
_REFUSED = "[a picture or file by its address, which is not allowed: the address was left out]"


def with_public_pictures(message: BaseMessage) -> BaseMessage:
    """A line of text in place of what a provider would fetch from where it should not: whoever wrote the address."""
    if not isinstance(message.content, list):
        return message
    shown = [{"type": "text", "text": _REFUSED} if _is_refused(block) else block for block in message.content]
    return message.model_copy(update={"content": shown}) if shown != message.content else message


def _is_refused(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") == "text":
        return False
    return any(each[:5].lower() != "data:" and why_refused(each) is not None for each in _addresses(block))


def _addresses(block: dict[Any, Any]) -> Iterator[str]:
    """In the shape of any provider: `url`, `image_url`, `file_uri` and such, by themselves or inside."""
    for key, value in block.items():
        if isinstance(value, str) and isinstance(key, str) and key.lower().endswith(_NAMES):
            yield value
        elif isinstance(value, dict):
            inner = value.items() if key != "extras" else ()
            yield from (each for name, each in inner if isinstance(each, str) and str(name).lower().endswith(_NAMES))


def with_pictures(messages: Sequence[BaseMessage], load: Callable[[MediaReference], bytes | None]) -> list[BaseMessage]:
    """The messages with the pictures and files of the newest turn in place of the lines that stand for them.

    After an interrupt a run goes on from what is stored, and the model is to see what it saw before. What
    `load` gives nothing for stays a line. Messages that are changed are copies.
    """
    newest = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage)), 0)
    return [*messages[:newest], *(_with_pictures(message, load) for message in messages[newest:])]


def _with_pictures(message: BaseMessage, load: Callable[[MediaReference], bytes | None]) -> BaseMessage:
    if not isinstance(message.content, list):  # a text a person typed stays a text, whatever it looks like
        return message
    shown = [_shown(block, load) for block in message.content]
    return message.model_copy(update={"content": shown}) if shown != message.content else message


def _shown(block: Any, load: Callable[[MediaReference], bytes | None]) -> Any:
    if not isinstance(block, dict) or block.get("type") != "text":
        return block
    text = str(block.get("text"))
    match references_in(text):
        case [reference] if str(reference) == text and (data := load(reference)) is not None:
            return {"type": reference.kind, "base64": b64encode(data).decode(), "mime_type": reference.mime_type}
    return block
