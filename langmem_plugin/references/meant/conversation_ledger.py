"""The ledger of the last exchanges of a conversation: new messages are read into the one that is kept of those before."""

from bisect import bisect_right
from collections.abc import Sequence
from hashlib import sha256

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmem_plugin.lru_cache import LruCache
from langmem_plugin.references.meant.meaning_decision import decide
from langmem_plugin.references.said.utterance_words import forget_read
from langmem_plugin.references.shown.lists_in_tool_results import ResultList
from langmem_plugin.references.shown.shown_items import ItemEntry
from langmem_plugin.references.shown.shown_ledger import Ledger, text_of
from langmem_plugin.references.shown.tool_data import packed, plain

_KEPT_BYTES = 64_000_000
_MESSAGE_BYTES, _BYTES_PER_BYTE = 1_000, 12  # bytes kept for a message, and for each byte of its content
_AN_END = 2_000  # letters: reading them takes at most a tenth of a second
_EXCHANGES, _MORE = 20, 20
"""The exchanges of a long conversation that are read: the last 20 to 40. Their beginning moves by 20 at once, so that
what was read stays the beginning of what is read next.
"""

_Meant = dict[str, Sequence[ItemEntry]]
"""The references of the utterance that was last asked about with a ledger: the next step of a turn asks the same."""

_kept: LruCache[bytes, tuple[Ledger, _Meant]] = LruCache(_KEPT_BYTES)
"""The ledgers, by all that was said. Conversations can share them: all in them is their own, and results are copies."""


def ledger_of(messages: Sequence[BaseMessage]) -> Ledger:
    """Return the settled ledger of the last exchanges of a conversation."""
    return settled_ledger(messages, None)[0]


def settled_ledger(messages: Sequence[BaseMessage], quoted: int | None) -> tuple[Ledger, _Meant]:
    """Return the settled ledger of the last exchanges of a conversation, and of the exchange with the message at the
    place `quoted`. What was read before is continued, not read again.
    """
    places = _read_places(messages, quoted)
    keys, sizes = _prefixes(messages, places)
    ledger, meant, done = Ledger(), _Meant(), 0
    for count in range(len(keys), 0, -1):
        if (kept := _kept.get(keys[count - 1])) is not None:
            (ledger, meant), done = kept, count
            break
    if done < len(places) or not places:
        ledger = ledger.copy()
        for place in places[done:]:
            message, ledger.place = messages[place], place - 1
            if isinstance(message, HumanMessage):
                ledger.settle()
                said = pointing_part(text_of(message))
                ledger.hear(said, decide(said, ledger).entries if (known := meant.get(said)) is None else known)
            else:
                ledger.read(_own(message))
            meant = {}
        if places and len(keys) == len(places):
            if done:
                _kept.drop(keys[done - 1])
            _kept.put(keys[-1], (ledger, meant), sum(sizes))
    settled = ledger.copy()
    settled.settle()
    return settled, meant


def results_of(messages: Sequence[BaseMessage]) -> list[ResultList]:
    """Return all results that tools gave in a conversation, the oldest first."""
    ledger = Ledger()
    for message in messages:
        if isinstance(message, ToolMessage) or (isinstance(message, AIMessage) and message.tool_calls):
            ledger.read(_own(message))
    return ledger.result_lists


def _read_places(messages: Sequence[BaseMessage], quoted: int | None) -> Sequence[int]:
    """Return the places of the messages that are read."""
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
    """Return a key for what is read up to each message, and about how many bytes each adds to the ledger.

    They end before a message that holds something of an unknown kind: such messages could not be told apart.
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
    forget_read()


def pointing_part(utterance: str) -> str:
    """Return the part of an utterance to read: of a very long one only its ends, where people say what they want."""
    return utterance if len(utterance) <= 2 * _AN_END else f"{utterance[:_AN_END]}\n{utterance[-_AN_END:]}"


def _content(message: BaseMessage) -> bytes | None:
    """Return all of a message on which reading it depends; None if it cannot be told."""
    if isinstance(message, ToolMessage):
        parts = (message.name, message.tool_call_id, message.artifact, message.status)
        return packed(["tool", message.content, *parts])
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    if isinstance(message.content, str) and not calls:
        return f"{message.type}\0{message.content}".encode("utf-8", "surrogatepass")  # half an emoji too
    return packed([message.type, message.content, calls])


def _own(message: BaseMessage) -> BaseMessage:
    """Return a message whose data nobody else can change."""
    if isinstance(message, ToolMessage):
        data = {"content": plain(message.content), "artifact": plain(message.artifact)}
    elif isinstance(message, AIMessage):
        data = {"tool_calls": plain(message.tool_calls)}
    else:
        return message
    return message.model_copy(update=data)
