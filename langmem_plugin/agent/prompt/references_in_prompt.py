"""The things that a person's words refer to, told to the model with their newest message and with each older one shown.

It stays where it was told: a provider reads anew all that follows the place where something is gone.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langmem_plugin.agent.memory_state import is_of_person, newest_of_person
from langmem_plugin.conversation.own_words import own_words, quoted_of
from langmem_plugin.lru import LruCache
from langmem_plugin.references import Resolution, describe, resolve
from langmem_plugin.references.shown.plain_data import packed

_KEPT_BYTES, _BYTES_BESIDE = 4_000_000, 200


class ReferencesInPrompt:
    """Tells references from the conversation alone: so every process tells the same of an older message."""

    def __init__(self, count_tokens: Callable[[BaseMessage], int]) -> None:
        self._count_tokens = count_tokens
        self._told: LruCache[bytes, str] = LruCache(_KEPT_BYTES)

    def resolution(self, messages: Sequence[BaseMessage]) -> Resolution:
        """Resolves what the person's last message refers to in all that came before it."""
        last = newest_of_person(messages)
        if last is None:
            return Resolution()
        return _meant(messages[: last + 1])

    def of(self, conversation: Sequence[BaseMessage], shown: Sequence[BaseMessage], most: int) -> dict[int, str]:
        """The text for each message of a person, by its place in `shown`; a message without references has none.

        Of older messages only what tools were called for, as results are long and a lone reply is short; the oldest
        first, as many as fit `most` tokens, so that what is told of one stays the same as others follow.
        """
        newest, last = newest_of_person(conversation), newest_of_person(shown)
        acted = {_same(message) for message in _acted_on(conversation)}
        places = {key: at for at, message in enumerate(shown) if at != last and (key := _same(message)) in acted}
        told: dict[int, str] = {}
        for at, key in enumerate(_keys(conversation)):
            if at == newest and last is not None:
                if text := self._text(conversation[: at + 1], key):
                    told[last] = text
            elif key is not None and (place := places.get(_same(conversation[at]))) is not None:
                text = self._text(conversation[: at + 1], key)
                most -= self._count_tokens(SystemMessage(text)) if text else 0
                if text and most >= 0:
                    told[place] = text
        return told

    def _text(self, messages: Sequence[BaseMessage], key: bytes | None) -> str:
        text = None if key is None else self._told.get(key)
        if text is None:
            text = describe(_meant(messages))
            if key is not None:
                self._told.put(key, text, len(text) + _BYTES_BESIDE)
        return text


def _meant(messages: Sequence[BaseMessage]) -> Resolution:
    """Resolves what the last message refers to in the messages before it."""
    *before, last = messages
    quoted = quoted_of(last)
    by_id = quoted is not None and quoted.id is not None and any(each.id == quoted.id for each in before)
    return resolve(own_words(last), before, quoted=None if quoted is None else quoted.id if by_id else quoted.text)


def _same(message: BaseMessage) -> object:
    """The key by which a message is found again in another list."""
    return message.id or id(message)


def _acted_on(messages: Sequence[BaseMessage]) -> Iterator[BaseMessage]:
    """The messages of a person after which a tool was called."""
    said = None
    for message in messages:
        if is_of_person(message):
            said = message
        elif said is not None and isinstance(message, AIMessage) and message.tool_calls:
            yield said


def _keys(messages: Sequence[BaseMessage]) -> Iterator[bytes | None]:
    """A key for each message, made of all that was said and shown up to it; None if that has no key."""
    key: bytes | None = b""
    for message in messages:
        content = _content(message)
        key = None if key is None or content is None else sha256(key + content).digest()
        yield key


def _content(message: BaseMessage) -> bytes | None:
    own = own_words(message) if isinstance(message, HumanMessage) else None
    parts: tuple[object, ...] = (message.type, message.content, own)
    if isinstance(message, AIMessage):
        parts = (*parts, message.tool_calls)
    elif isinstance(message, ToolMessage):
        parts = (*parts, message.name, message.tool_call_id, message.artifact, message.status)
    return packed(parts)
