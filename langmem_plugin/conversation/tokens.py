"""How many tokens a message is taken to have, where nobody brings a counter: an estimate, and nothing is downloaded."""

import json
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from langmem_plugin.conversation.media.content_blocks import inline_of
from langmem_plugin.conversation.media.media_reference import references_in

_CHARACTERS = 4  # for each token, of texts in most languages
_PICTURE = 1_600
"""The cost of the largest picture that providers do not make smaller, so that a limit holds for any: Anthropic takes up
to 1,568 (docs.anthropic.com/en/docs/build-with-claude/vision), OpenAI up to 85 + 8 tiles of 170 = 1,445
(platform.openai.com/docs/guides/images-vision).
"""


def estimated_tokens(message: BaseMessage) -> int:
    """A quarter of the characters of its text and of its calls' arguments as JSON, and 1,600 for each picture.

    A picture counts whether it is still in the message, given by its URL, or a line that stands for it.
    """
    characters = len(message.text)
    if isinstance(message, AIMessage):
        characters += sum(len(call["name"] or "") + len(_as_json(call["args"])) for call in _calls(message))
    pictures = _pictures(message.content) if isinstance(message.content, list) else 0
    return characters // _CHARACTERS + pictures * _PICTURE


def _calls(message: AIMessage) -> Iterable[Any]:
    return (*message.tool_calls, *message.invalid_tool_calls)


def _as_json(arguments: Any) -> str:
    if isinstance(arguments, str):  # of a call that could not be parsed
        return arguments
    try:
        return json.dumps(arguments, ensure_ascii=False, default=str, skipkeys=True)
    except (ValueError, RecursionError):  # endless, or nested too deep: it can be neither stored nor sent
        return ""


def _pictures(blocks: list[Any]) -> int:
    """A line that a person typed is in a text, not in a list of blocks: it is not taken for a picture."""
    return sum(_is_picture(block) for block in blocks if isinstance(block, dict))


def _is_picture(block: dict[Any, Any]) -> bool:
    if block.get("type") == "text":
        text = block.get("text")
        if not isinstance(text, str) or not text.startswith("[image"):
            return False
        return any(each.kind == "image" and each.path is not None and str(each) == text for each in references_in(text))
    inline = inline_of(block)
    if inline is not None:
        return inline.kind == "image" or (inline.mime_type or "").startswith("image/")
    return any(each.kind == "image" for each in references_in(block))
