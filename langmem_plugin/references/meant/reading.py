"""From messages to a resolution: reads what is new into the ledger, then decides what the utterance means."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmem_plugin.lru import LruCache
from langmem_plugin.references.meant.choosing import Closeness
from langmem_plugin.references.meant.meaning import Decision, Meaning
from langmem_plugin.references.meant.resolution import PreviousCall, Reference, Resolution
from langmem_plugin.references.meant.resolver import decide, pointing_part
from langmem_plugin.references.meant.wording import ask
from langmem_plugin.references.said.followup import changes, label
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger, text_of
from langmem_plugin.references.shown.plain_data import packed, plain

_KEPT_BYTES = 64_000_000
_MESSAGE_BYTES, _BYTES_PER_BYTE = 1_000, 28  # what a message that was read takes, and each byte of its content
# By all that was said: who talks does not matter, because everything here is the ledgers' own and what is handed out
# is copied.
_kept: LruCache[bytes, Ledger] = LruCache(_KEPT_BYTES)


def resolve(utterance: str, messages: Sequence[BaseMessage], *, closeness: Closeness | None = None) -> Resolution:
    """What `utterance` points at in the conversation `messages` (newest last, without the utterance itself).

    Pure: same arguments, same answer; nothing is read or written elsewhere and no message is changed. Says none rather
    than guess, and asks (`question`) when several items are equally meant. Conversations read recently are kept in
    memory so that the next turn reads only what is new; `clear_cache` drops them.

    `closeness(text, texts)`, if given, helps to understand an indirect answer to "do you mean A or B?" ("the sad
    one"); it is called then and at no other time.
    """
    ledger = ledger_of(messages)
    utterance = pointing_part(utterance)
    decision = decide(utterance, ledger, closeness)
    followup = label(utterance, ledger, decision)
    revised = followup == "revise" or changes(utterance)
    call = ledger.calls[-1] if ledger.calls and revised else None
    items = {id(entry): plain(entry.item) for entry in (*_meant(decision), *decision.equal)}
    return Resolution(
        references=tuple(_reference(meaning, items) for meaning in decision.meanings),
        question=ask(decision.equal) if decision.equal else None,
        candidates=tuple(items[id(entry)] for entry in decision.equal),
        followup=followup,
        previous_call=PreviousCall(call.tool, plain(call.arguments)) if call else None,
    )


def ledger_of(messages: Sequence[BaseMessage]) -> Ledger:
    """The settled ledger of a conversation; a shorter conversation read before is continued, not read
    again.
    """
    keys, sizes = _prefixes(messages)
    ledger, done = Ledger(), 0
    for count in range(len(keys), 0, -1):
        if (kept := _kept.get(keys[count - 1])) is not None:
            ledger, done = kept, count
            break
    if done < len(messages) or not messages:
        ledger = ledger.copy()
        for message in messages[done:]:
            if isinstance(message, HumanMessage):
                ledger.settle()
                said = pointing_part(text_of(message))
                decision = decide(said, ledger)
                ledger.hear(said, _meant(decision))
            else:
                ledger.read(_own(message))
        if messages and len(keys) == len(messages):
            if done:
                _kept.drop(keys[done - 1])
            _kept.put(keys[-1], ledger, sum(sizes))
    settled = ledger.copy()
    settled.settle()
    return settled


def _prefixes(messages: Sequence[BaseMessage]) -> tuple[list[bytes], list[int]]:
    """A key for the conversation up to each message, and about how many bytes its ledger takes there more.

    They end before a message that holds something of a kind that is not known: it could not be told from another.
    """
    keys, sizes, key = [], [], b""
    for message in messages:
        content = _content(message)
        if content is None:
            break
        key = sha256(key + content).digest()
        keys.append(key)
        sizes.append(_MESSAGE_BYTES + _BYTES_PER_BYTE * len(content))
    return keys, sizes


def clear_cache() -> None:
    """Forget every conversation read so far; for erasing a person's data from memory."""
    _kept.clear()


def _meant(decision: Decision) -> list[ItemEntry]:
    return [entry for meaning in decision.meanings for entry in meaning.entries]


def _content(message: BaseMessage) -> bytes | None:
    """All of a message that reading it depends on; None if it cannot be told."""
    if isinstance(message, ToolMessage):
        parts = (message.name, message.tool_call_id, message.artifact, message.status)
        return packed(["tool", message.content, *parts])
    return packed([message.type, message.content, message.tool_calls if isinstance(message, AIMessage) else []])


def _own(message: BaseMessage) -> BaseMessage:
    """A message whose data nobody else can change."""
    if isinstance(message, ToolMessage):
        data = {"content": plain(message.content), "artifact": plain(message.artifact)}
    elif isinstance(message, AIMessage):
        data = {"tool_calls": plain(message.tool_calls)}
    else:
        return message
    return message.model_copy(update=data)


def _reference(meaning: Meaning, items: dict[int, dict[str, Any]]) -> Reference:
    view = meaning.view
    number_of: dict[int, int | None] = {}
    if view is not None and (view.numbered or len(view.entries) > 1):
        for place, (entry, shown) in enumerate(zip(view.entries, view.labels, strict=True), 1):
            number_of[id(entry)] = shown if view.numbered else place
    return Reference(
        items=tuple(items[id(entry)] for entry in meaning.entries),
        words=meaning.words,
        reason=meaning.reason,
        confidence=meaning.confidence,
        numbers=tuple(number_of.get(id(entry)) for entry in meaning.entries),
        part=meaning.part,
        tool=view.tool if view else "",
        sort=meaning.sort,
        kinds=frozenset().union(*(entry.kind_words for entry in meaning.entries)) if meaning.entries else frozenset(),
    )
