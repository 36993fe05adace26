"""The words of a message that its person wrote themselves.

They alone can be a command, an order, an answer, an agreement or a fact. The model is given the whole message.
"""

import re
from typing import NamedTuple

from langchain_core.messages import BaseMessage

from langmem_plugin.conversation.transcript import notes_of

QUOTED = "langmem_quoted"  # in additional_kwargs

_FORWARD = r"(?:begin forwarded message|forwarded(?: message)?|(?:mensaje )?reenviado|הודעה שהועברה|הועברה?)"
_BY = r"(?:\s+(?:many times|from|by|de|por|de parte de|מאת|מ-?|על ידי)\b.{0,60})?"
_FORWARDED_BELOW = re.compile(rf"[\W_]*+{_FORWARD}{_BY}[\W_]*|\W*+(?:fwd?|rv)\s*:.*", re.IGNORECASE)


class Quoted(NamedTuple):
    """The message that another one answers: the id that it has in the conversation, its text, or both."""

    id: str | None
    text: str | None


def own_words(message: BaseMessage) -> str:
    """The text without the lines that quote another (">"), and without what follows a line that says that it was
    forwarded; "" for a message that was. What stands behind a command is the person's choice.
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
    """Tell whether the person says anything by it: a picture alone is theirs too, unless it was forwarded."""
    return bool(own_words(message).strip()) or (not message.text and notes_of(message).get("forwarded") is not True)


def quoted_of(message: BaseMessage) -> Quoted | None:
    """The message that this one answers, as its channel said. It may be anybody's work: only texts count."""
    quoted = message.additional_kwargs.get(QUOTED)
    if not isinstance(quoted, dict):
        return None
    found = Quoted(*(each if isinstance(each := quoted.get(key), str) and each else None for key in Quoted._fields))
    return found if any(found) else None
