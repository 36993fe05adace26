"""The words of a message that its person wrote themselves, and the block of known facts, put behind them.

Only the person's own words can be a command, an order, an answer, an agreement or a fact. The model is given the whole
message. The block is stored nowhere.
"""

import re
from typing import NamedTuple

from langchain_core.messages import BaseMessage

from langmem_plugin.conversation.message_as_dict import notes_of
from langmem_plugin.text_sanitizing import first_tag

QUOTED = "langmem_quoted"  # in additional_kwargs

_FORWARD = r"(?:begin forwarded message|forwarded(?: message)?|(?:mensaje )?reenviado|הודעה שהועברה|הועברה?)"
_BY = r"(?:\s+(?:many times|from|by|de|por|de parte de|מאת|מ-?|על ידי)\b.{0,60})?"
_FORWARDED_BELOW = re.compile(rf"[\W_]*+{_FORWARD}{_BY}[\W_]*|\W*+(?:fwd?|rv)\s*:.*", re.IGNORECASE)
# The block stands at the end because providers cache a conversation up to the first change: a block that changes at
# every turn is cheap behind the newest message and expensive before the history.
_OPENING, _CLOSING = "<context>\n", "\n</context>"
_BETWEEN = "\n\n"


class Quoted(NamedTuple):
    """The message that another one answers: the id that it has in the conversation, its text, or both."""

    id: str | None
    text: str | None


def own_words(message: BaseMessage) -> str:
    """The text without quoted lines (">") and without the part after a line that says it was forwarded.

    It is "" for a forwarded message. A command's text stays whole: the person chose what stands behind it.
    """
    if notes_of(message).get("forwarded") is True:
        return ""
    text = str(message.text)
    if text.lstrip().startswith("/"):
        return text
    kept = []
    for line in text.splitlines():
        if _FORWARDED_BELOW.fullmatch(line):
            break
        if not line.lstrip().startswith(">"):
            kept.append(line)
    return "\n".join(kept)


def is_own(message: BaseMessage) -> bool:
    """Tell whether the person says anything in the message; a picture alone counts, unless it was forwarded."""
    return bool(own_words(message).strip()) or (not message.text and notes_of(message).get("forwarded") is not True)


def quoted_of(message: BaseMessage) -> Quoted | None:
    """The message that this one answers, as its channel said. Anybody may have written it: only texts are taken."""
    quoted = message.additional_kwargs.get(QUOTED)
    if not isinstance(quoted, dict):
        return None
    found = Quoted(*(each if isinstance(each := quoted.get(key), str) and each else None for key in Quoted._fields))
    return found if any(found) else None


def with_context(message: BaseMessage, known: str) -> BaseMessage:
    """Copy a message with its own words first, unchanged, and the block last. `known` holds no tag of the block."""
    block = f"{_OPENING}{known}{_CLOSING}"
    if isinstance(message.content, str):
        return message.model_copy(update={"content": f"{message.content}{_BETWEEN}{block}"})
    return message.model_copy(update={"content": [*message.content, {"type": "text", "text": block}]})


def without_context(message: BaseMessage) -> tuple[BaseMessage, str]:
    """The message as it was before `with_context`, and the text of the block; "" without a block."""
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
    """The text before the first thing that looks like the block: the person may not have written the rest."""
    return text[: first_tag(text)]


def looks_like_context(text: str) -> bool:
    """Tell whether a text holds something that looks like the beginning or end of the block or of a part of it."""
    return first_tag(text) is not None
