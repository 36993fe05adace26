"""The question to a person of whose words it is unclear what they point at: asked before, and without, the model."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langmem_plugin.agent.incoming_message import clean
from langmem_plugin.agent.replies import Replies
from langmem_plugin.conversation.own_words import own_words
from langmem_plugin.references import Resolution
from langmem_plugin.references.shown.items import ItemEntry

_ASKED = "langmem_asked"
"""In the `response_metadata` of such a question."""

_MOST_NAMED, _LONGEST, _DETAILS = 6, 60, 2  # of candidates, of letters of a name, of what tells two of a name apart


def asked_back(
    messages: Sequence[BaseMessage],
    resolution: Callable[[Sequence[BaseMessage]], Resolution],
    replies: Callable[[], Replies],
) -> AIMessage | None:
    """The question to ask instead of calling the model with these messages; None where the model is to answer.

    It is asked about one message that a person has just written, in words alone: not about the answer to such a
    question, nor while a tool call waits for its result.
    """
    if not messages or not _is_of_words(messages[-1]):
        return None
    before = messages[-2] if len(messages) > 1 else None
    if isinstance(before, HumanMessage) or (
        isinstance(before, AIMessage) and (before.tool_calls or before.response_metadata.get(_ASKED))
    ):
        return None
    meant = resolution(messages)
    text = _worded(meant, replies) if meant.unresolved or len(meant.candidates) > 1 else ""
    return AIMessage(text, id=uuid.uuid4().hex, response_metadata={_ASKED: True}) if text else None


def _is_of_words(message: BaseMessage) -> bool:
    """What a picture came with may point at the picture."""
    content = message.content
    return (
        isinstance(message, HumanMessage)
        and bool(own_words(message))
        and (isinstance(content, str) or all(isinstance(each, str) or each.get("type") == "text" for each in content))
    )


def _worded(meant: Resolution, replies: Callable[[], Replies]) -> str:
    texts = replies()
    names = _names(meant.candidates[:_MOST_NAMED])
    options = "\n".join(f"{number}. {name}" for number, name in enumerate(names, 1))
    if meant.unresolved:
        words = ", ".join(f"“{_brief(each)}”" for each in meant.unresolved[:_MOST_NAMED])
        return f"{texts.nothing_shown.format(words=words)}\n{options}".strip()
    many = len(meant.candidates) > _MOST_NAMED
    return (texts.which_of_many if many else texts.which_one).format(options=options)


def _names(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """What a person calls each; those of the same name with what tells them apart."""
    titles = [_brief(ItemEntry(dict(item)).title) for item in items]
    names = []
    for title, item in zip(titles, items, strict=True):
        alike = [other for other, name in zip(items, titles, strict=True) if name == title]
        telling = [
            _brief(str(value))
            for key, value in item.items()
            if isinstance(value, str | int | float) and any(other.get(key) != value for other in alike)
        ]
        names.append(f"{title} ({', '.join(telling[:_DETAILS])})" if telling else title)
    return names


def _brief(text: str) -> str:
    line = " ".join(clean(text[: 4 * _LONGEST]).split())
    return f"{line[:_LONGEST]}…" if len(line) > _LONGEST else line
