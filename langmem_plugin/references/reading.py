"""From messages to a resolution: reads what is new into the ledger, then decides what the utterance means."""

import json
from collections import OrderedDict
from collections.abc import Hashable, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langmem_plugin import forks

from .choosing import Closeness
from .decoding import plain
from .entries import Entry
from .followup import changes, label
from .ledger import Ledger, text_of
from .meaning import Decision, Meaning
from .resolution import PreviousCall, Reference, Resolution
from .resolver import decide
from .wording import ask

MAX_ITEMS_KEPT = 20_000
"""Items of conversations kept in memory, over all conversations; the least recently used go first."""
_kept: OrderedDict[Hashable, Ledger] = OrderedDict()
_lock = forks.Lock()


def resolve(utterance: str, messages: Sequence[BaseMessage], *, closeness: Closeness | None = None) -> Resolution:
    """What `utterance` points at in the conversation `messages` (newest last, without the utterance itself).

    Pure: same arguments, same answer; nothing is read or written elsewhere and no message is changed. Says none rather
    than guess, and asks (`question`) when several items are equally meant. Conversations read recently are kept in
    memory so that the next turn reads only what is new; `clear_cache` drops them.

    `closeness(text, texts)`, if given, helps to understand an indirect answer to "do you mean A or B?" ("the sad
    one"); it is called then and at no other time.
    """
    ledger = ledger_of(messages)
    decision = decide(utterance, ledger, closeness)
    followup = label(utterance, ledger, decision)
    revised = followup == "revise" or changes(utterance)
    call = ledger.calls[-1] if ledger.calls and revised else None
    return Resolution(
        references=tuple(_reference(meaning) for meaning in decision.meanings),
        question=ask(decision.equal) if decision.equal else None,
        candidates=tuple(entry.item for entry in decision.equal),
        followup=followup,
        previous_call=PreviousCall(call.tool, call.arguments) if call else None,
        entries=tuple(tuple(meaning.entries) for meaning in decision.meanings),
    )


def ledger_of(messages: Sequence[BaseMessage]) -> Ledger:
    """The settled ledger of a conversation; a shorter conversation read before is continued, not read
    again.
    """
    states: list[Hashable] = []
    state: Hashable = ()
    for message in messages:
        state = hash((state, _content_key(message)))
        states.append(state)
    ledger, done = Ledger(), 0
    with _lock:
        for count in range(len(states), 0, -1):
            kept = _kept.get((count, states[count - 1]))
            if kept is not None:
                _kept.move_to_end((count, states[count - 1]))
                ledger, done = kept, count
                break
    if done < len(messages) or not messages:
        ledger = ledger.copy()
        for message in messages[done:]:
            if isinstance(message, HumanMessage):
                ledger.settle()
                said = text_of(message)
                decision = decide(said, ledger)
                ledger.hear(said, _meant(decision))
            else:
                ledger.read(message)
        with _lock:
            if done:
                _kept.pop((done, states[done - 1]), None)
            _kept[len(messages), states[-1] if states else ()] = ledger
            size = sum(kept.size for kept in _kept.values())
            while size > MAX_ITEMS_KEPT and len(_kept) > 1:
                size -= _kept.popitem(last=False)[1].size
    settled = ledger.copy()
    settled.settle()
    return settled


def clear_cache() -> None:
    """Forget every conversation read so far; for erasing a person's data from memory."""
    with _lock:
        _kept.clear()


def _meant(decision: Decision) -> list[Entry]:
    return [entry for meaning in decision.meanings for entry in meaning.entries]


def _content_key(message: BaseMessage) -> Hashable:
    content = (
        message.content
        if isinstance(message.content, str)
        else json.dumps(message.content, default=str, sort_keys=True)
    )
    if isinstance(message, ToolMessage):
        artifact = None if message.artifact is None else json.dumps(plain(message.artifact), default=str)
        return "tool", content, message.name, message.tool_call_id, artifact, message.status
    if isinstance(message, AIMessage) and message.tool_calls:
        return "ai", content, json.dumps(message.tool_calls, default=str)
    return message.type, content


def _reference(meaning: Meaning) -> Reference:
    view = meaning.view
    numbers: list[int | None] = []
    for entry in meaning.entries:
        number = None
        if view is not None:
            for place, (other, shown) in enumerate(zip(view.entries, view.labels, strict=True), 1):
                if other is entry:
                    number = shown if view.numbered else place if len(view.entries) > 1 else None
        numbers.append(number)
    return Reference(
        items=tuple(entry.item for entry in meaning.entries),
        words=meaning.words,
        reason=meaning.reason,
        confidence=meaning.confidence,
        numbers=tuple(numbers),
        part=meaning.part,
        tool=view.tool if view else "",
        sort=meaning.sort,
        kinds=frozenset().union(*(entry.kind_words for entry in meaning.entries)) if meaning.entries else frozenset(),
    )
