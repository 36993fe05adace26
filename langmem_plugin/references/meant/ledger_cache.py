"""The ledger of a conversation, and those of conversations read recently, which are read on from where they ended."""

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import sha256

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmem_plugin.lru import LruCache
from langmem_plugin.references.meant.decision import decide
from langmem_plugin.references.said import utterance
from langmem_plugin.references.shown.ledger import Ledger, text_of
from langmem_plugin.references.shown.plain_data import packed, plain
from langmem_plugin.references.shown.tool_results import ResultList

_KEPT_BYTES = 64_000_000
_MESSAGE_BYTES, _BYTES_PER_BYTE = 1_000, 12  # what a message that was read takes, and about each byte of its content
_AN_END = 2_000  # letters; reading them takes a tenth of a second at the very most
_EXCHANGES, _MORE = 20, 10
"""Of a long conversation the last 20 to 30 exchanges are read. Where they begin moves by ten at once, so that what was
read stays the beginning of what is read next.
"""
_kept: LruCache[bytes, Ledger] = LruCache(_KEPT_BYTES)
"""By all that was said: who talks does not matter, because everything here is the ledgers' own and what is handed out
is copied."""


def ledger_of(messages: Sequence[BaseMessage], quoted: int | None = None) -> Ledger:
    """The settled ledger of the last exchanges of a conversation, and of that in which the message at the place
    `quoted` stands; what was read before is continued, not read again.
    """
    places = _read_places(messages, quoted)
    keys, sizes = _prefixes(messages, places)
    ledger, done = Ledger(), 0
    for count in range(len(keys), 0, -1):
        if (kept := _kept.get(keys[count - 1])) is not None:
            ledger, done = kept, count
            break
    if done < len(places) or not places:
        ledger = ledger.copy()
        for place in places[done:]:
            message, ledger.place = messages[place], place - 1
            if isinstance(message, HumanMessage):
                ledger.settle()
                said = pointing_part(text_of(message))
                ledger.hear(said, decide(said, ledger).entries)
            else:
                ledger.read(_own(message))
        if places and len(keys) == len(places):
            if done:
                _kept.drop(keys[done - 1])
            _kept.put(keys[-1], ledger, sum(sizes))
    settled = ledger.copy()
    settled.settle()
    return settled


def results_of(messages: Sequence[BaseMessage]) -> list[ResultList]:
    """All results that tools gave in a conversation, the oldest first."""
    ledger = Ledger()
    for message in messages:
        if isinstance(message, ToolMessage) or (isinstance(message, AIMessage) and message.tool_calls):
            ledger.read(_own(message))
    return ledger.result_lists


def _read_places(messages: Sequence[BaseMessage], quoted: int | None) -> Sequence[int]:
    """The places of the messages that are read."""
    begins = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
    left_out = (len(begins) - _EXCHANGES) // _MORE * _MORE
    first = begins[left_out] if left_out > 0 else 0
    recent = range(first, len(messages))
    if quoted is None or quoted >= first:
        return recent
    begin = bisect_right(begins, quoted)
    exchange = range(begins[begin - 1] if begin else 0, begins[begin])
    return [*exchange, *recent]


def _prefixes(messages: Sequence[BaseMessage], places: Sequence[int]) -> tuple[list[bytes], list[int]]:
    """A key for what is read up to each message, and about how many bytes its ledger takes there more.

    They end before a message that holds something of a kind that is not known: it could not be told from another.
    """
    keys, sizes, key = [], [], b""
    for place in places:
        content = _content(messages[place])
        if content is None:
            break
        key = sha256(key + place.to_bytes(8) + content).digest()
        keys.append(key)
        sizes.append(_MESSAGE_BYTES + _BYTES_PER_BYTE * len(content))
    return keys, sizes


def clear_cache() -> None:
    """Forget every conversation read so far; for erasing a person's data from memory."""
    _kept.clear()
    utterance.clear_cache()


def pointing_part(utterance: str) -> str:
    """The part of an utterance that is read: of a very long one only its two ends, where people say what they want."""
    return utterance if len(utterance) <= 2 * _AN_END else f"{utterance[:_AN_END]}\n{utterance[-_AN_END:]}"


def _content(message: BaseMessage) -> bytes | None:
    """All of a message that reading it depends on; None if it cannot be told."""
    if isinstance(message, ToolMessage):
        parts = (message.name, message.tool_call_id, message.artifact, message.status)
        return packed(["tool", message.content, *parts])
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    if isinstance(message.content, str) and not calls:
        return f"{message.type}\0{message.content}".encode("utf-8", "surrogatepass")  # half an emoji too
    return packed([message.type, message.content, calls])


def _own(message: BaseMessage) -> BaseMessage:
    """A message whose data nobody else can change."""
    if isinstance(message, ToolMessage):
        data = {"content": plain(message.content), "artifact": plain(message.artifact)}
    elif isinstance(message, AIMessage):
        data = {"tool_calls": plain(message.tool_calls)}
    else:
        return message
    return message.model_copy(update=data)
