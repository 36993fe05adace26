"""The delimited block at the end of a person's message: what is known for this message, and stored nowhere.

It stands there because providers keep what they have read of a conversation up to the first change: a block that
changes at every turn is cheap behind the newest message and dear before the history. Some accept no later system text.
"""

from langchain_core.messages import BaseMessage

from langmem_plugin.foreign_text import first_tag

_OPENING, _CLOSING = "<context>\n", "\n</context>"
_BETWEEN = "\n\n"


def with_context(message: BaseMessage, known: str) -> BaseMessage:
    """A copy whose own words come first, unchanged, and the block last. `known` holds no tag of the block."""
    block = f"{_OPENING}{known}{_CLOSING}"
    if isinstance(message.content, str):
        return message.model_copy(update={"content": f"{message.content}{_BETWEEN}{block}"})
    return message.model_copy(update={"content": [*message.content, {"type": "text", "text": block}]})


def without_context(message: BaseMessage) -> tuple[BaseMessage, str]:
    """The message as it was before `with_context`, and what the block says; "" where it has none."""
    content = message.content
    if isinstance(content, str):
        said, opening, known = content.rpartition(_BETWEEN + _OPENING)
        if not opening or not known.endswith(_CLOSING):
            return message, ""
        return message.model_copy(update={"content": said}), known.removesuffix(_CLOSING)
    last = content[-1] if content else None
    text = str(last.get("text")) if isinstance(last, dict) and last.get("type") == "text" else ""
    if not (text.startswith(_OPENING) and text.endswith(_CLOSING)):
        return message, ""
    known = text.removeprefix(_OPENING).removesuffix(_CLOSING)
    return message.model_copy(update={"content": content[:-1]}), known


def before_context(text: str) -> str:
    """The text before the first thing that could pass for the block: the rest may be nobody's own words."""
    return text[: first_tag(text)]


def looks_like_context(text: str) -> bool:
    """Tell whether a text holds something that could pass for the beginning or end of the block, or of a part of it."""
    return first_tag(text) is not None
