"""Takes inline data out of messages: content blocks, data URLs in any text, unlabelled base64, bytes.

Pure functions. Whatever is found is replaced by a text that the caller gives for it; all the rest stays what it was.
"""

import copy
import dataclasses
import re
from collections.abc import Callable
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.types import Send
from pydantic import BaseModel

from langmem_plugin.conversation.media.content_blocks import Inline, decoded, inline_of, is_data_url, type_of
from langmem_plugin.errors import NotSerializable

_SHORTEST = 40
"""No picture, sound or document fits into a shorter text."""

# How those begin in base64: looked for first, because finding a word in a text is nearly free.
_BEGINNINGS = ("iVBORw0KG", "/9j", "R0lGOD", "UklGR", "GZ0eX", "GkXfo", "SUQz", "T2dnU", "ZkxhQ", "JVBERi")
_DATA_URL = re.compile(  # inside JSON a slash and a line break may be escaped
    r"data:(?:[\w.+-]++\\?/[\w.+-]++)?(?:;[\w.+-]++=(?:(?!data:)[^;,\"'\s])*+)*+;base64,"
    r"(?=[\w+/%=\\-]{16})(?:[\w+/%=-]++|\\[/n])*+",
    re.IGNORECASE | re.ASCII,
)
_UNLABELLED = re.compile(
    r"(?<![\w+/-])(?:iVBORw0KG|\\?/9j\\?/|R0lGOD|UklGR|AAAA[\w+/-]GZ0eX|GkXfo|SUQz|T2dnU|ZkxhQ|JVBERi)"
    r"(?=[\w+/\\-]{32})(?:[\w+/-]++|\\[/n])*+={0,2}",
    re.ASCII,
)
_WITHOUT_PARTS = {str, bytes, int, float, bool, type(None)}

Describe = Callable[[Inline], str]

# Whatever is stored passes here first, and deeper than here nothing else goes.
_TOO_DEEP = "the state holds lists or dicts nested too deep to be stored: keep them out of the state"


def refuse_too_deep(value: Any) -> None:
    """For what is stored as it is. Raises NotSerializable, as everything here does, if it is nested without end."""
    try:
        _walked(value)
    except RecursionError as error:
        raise NotSerializable(_TOO_DEEP) from error


def content_without_inline(blocks: list[Any], describe: Describe) -> list[Any]:
    """Content blocks without the inline data and the data URLs in them; the very same list if there are none."""
    try:
        reduced: list[Any] = _Replacement(describe).of(blocks)
    except RecursionError as error:
        raise NotSerializable(_TOO_DEEP) from error
    return reduced


def message_without_inline(message: BaseMessage, describe: Describe) -> BaseMessage:
    """The message without inline data in any of its fields; the very same object if there is none.

    A tool's artifact stays what it is: it is the program's own, and no model is shown it.
    """
    refuse_too_deep(getattr(message, "artifact", None))
    within = _Replacement(describe, unlabelled=True)
    fields = {**message.__dict__, **(message.__pydantic_extra__ or {})}
    try:
        changed = {
            name: new for name, part in fields.items() if name != "artifact" and (new := within.of(part)) is not part
        }
    except RecursionError as error:
        raise NotSerializable(_TOO_DEEP) from error
    return message.model_copy(update=changed) if changed else message


def state_without_inline(value: Any, describe: Describe) -> Any:
    """Reduce the messages in a channel or a write that are written as data (a dict, a pair, under
    `messages` a text); all else, whatever it looks like, is the graph's own. Gives the same value if nothing changes.

    Messages that are objects are left as they are: `message_without_inline` is for those.
    """
    try:
        return _MessagesAsData(describe).of(value)
    except RecursionError as error:
        raise NotSerializable(_TOO_DEEP) from error


def _rebuilt(value: Any, of: Callable[[Any], Any]) -> Any:  # noqa: PLR0911 - one return per kind of container
    """A container with each part as `of` gives it; the very same object if none of them is another."""
    match value:
        case dict():
            entries = {key: of(part) for key, part in value.items()}
            return value if all(entries[key] is part for key, part in value.items()) else entries
        case list() | tuple():
            parts = [of(part) for part in value]
            if all(new is old for new, old in zip(parts, value, strict=True)):
                return value
            if isinstance(value, list):
                return parts
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        case Send():
            argument = of(value.arg)
            return value if argument is value.arg else Send(value.node, argument, timeout=value.timeout)
        case BaseModel():
            changed = {name: new for name, part in value.__dict__.items() if (new := of(part)) is not part}
            return value.model_copy(update=changed) if changed else value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        changed = {name: new for name in names if (new := of(part := getattr(value, name))) is not part}
        return _changed(value, changed) if changed else value
    return value


def _changed(instance: Any, fields: dict[str, Any]) -> Any:
    """A copy, also of what is frozen. `dataclasses.replace` would initialise it anew, and may not know with what."""
    made = copy.copy(instance)
    for name, new in fields.items():
        object.__setattr__(made, name, new)
    return made


def _walked(value: Any) -> Any:
    is_plain = type(value) in _WITHOUT_PARTS
    is_row_of_plain = isinstance(value, list | tuple) and set(map(type, value)) <= _WITHOUT_PARTS
    return value if is_plain or is_row_of_plain else _rebuilt(value, _walked)


@dataclasses.dataclass(frozen=True, slots=True)
class _MessagesAsData:
    describe: Describe

    def of(self, value: Any) -> Any:
        if type(value) in _WITHOUT_PARTS or isinstance(value, BaseMessage):  # most of what a state is made of
            return value
        match value:
            case {"content": str() | list(), "role": str(kind)} | {"content": str() | list(), "type": str(kind)} if (
                kind in _WRITERS
            ):
                return _Replacement(self.describe).of(value)
            case (str(kind), str() | list()) if kind in _WRITERS:
                return _Replacement(self.describe).of(value)
            case {"messages": str(said)}:
                return _rebuilt(
                    value, lambda part: _Replacement(self.describe).of(part) if part is said else self.of(part)
                )
        if (
            isinstance(value, list | tuple)
            and value
            and all(kind in _WITHOUT_PARTS or issubclass(kind, BaseMessage) for kind in set(map(type, value)))
        ):
            return value
        return _rebuilt(value, self.of)


_WRITERS = frozenset({"user", "human", "assistant", "ai", "system", "developer", "tool", "function"})
"""Who a message written as data is by: what LangChain makes a message of."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Replacement:
    describe: Describe
    unlabelled: bool = False  # in a message: base64 and bytes that nothing but their beginning tells to be media

    def of(self, value: Any) -> Any:
        match value:
            case str():
                return self._text(value) if len(value) >= _SHORTEST else value
            case bytes():
                return self._bytes(value)
            case dict():
                return self._mapping(value)
        return _rebuilt(value, self.of)

    def _mapping(self, value: dict[Any, Any]) -> dict[Any, Any]:
        match value:
            case {"data": str(data), "transcript": _} if not data.startswith("["):
                # What an OpenAI model says aloud: its id is sent back, so all but the sound must stay.
                return {**value, "data": self.describe(Inline(data, kind="audio"))}
        found = inline_of(value)
        if found is not None:
            return {"type": "text", "text": self.describe(found)}
        rebuilt: dict[Any, Any] = _rebuilt(value, self.of)
        return rebuilt

    def _text(self, text: str) -> str:
        if "\n" in text and self._is_wrapped(text):
            return self.describe(Inline(text))
        cut = text
        if "base64," in text:
            cut = _DATA_URL.sub(lambda found: self.describe(Inline(found[0])), cut)
        if self.unlabelled and any(beginning in text for beginning in _BEGINNINGS):
            cut = _UNLABELLED.sub(self._media, cut)
        return text if cut == text else cut

    def _is_wrapped(self, text: str) -> bool:
        """True where the text is base64 in short lines, and nothing else."""
        if not (is_data_url(text) or (self.unlabelled and text.startswith(_BEGINNINGS))):
            return False
        found = decoded(Inline(text))
        return found is not None and (is_data_url(text) or type_of(found[0]) is not None)

    def _media(self, found: re.Match[str]) -> str:
        """Only what truly is media: an ordinary word may begin like it."""
        inline = Inline(found[0])
        data = decoded(inline)
        return self.describe(inline) if data and type_of(data[0]) else found[0]

    def _bytes(self, data: bytes) -> bytes | str:
        known = self.unlabelled and len(data) >= _SHORTEST // 2 and type_of(data)
        return self.describe(Inline(data)) if known else data
