"""From messages to a resolution: what is new is read into the ledger, then it is decided what the utterance means."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from langmem_plugin.references.meant.by_choice import Closeness
from langmem_plugin.references.meant.decision import decide
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.meant.ledger_cache import ledger_of, pointing_part
from langmem_plugin.references.meant.question import ask
from langmem_plugin.references.meant.resolution import Reference, Resolution
from langmem_plugin.references.meant.revised_call import previous_call
from langmem_plugin.references.shown.plain_data import plain


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
    items = {id(entry): plain(entry.item) for entry in (*decision.entries, *decision.unclear)}
    return Resolution(
        references=tuple(_reference(finding, items) for finding in decision.findings),
        question=ask(decision.unclear, decision.unresolved),
        candidates=tuple(items[id(entry)] for entry in decision.unclear),
        unresolved=tuple(decision.unresolved),
        previous_call=previous_call(utterance, ledger, decision),
    )


def _reference(finding: Finding, items: dict[int, dict[str, Any]]) -> Reference:
    listed = finding.listed
    number_of: dict[int, int | None] = {}
    if listed is not None and (listed.numbered or len(listed.entries) > 1):
        for place, (entry, shown) in enumerate(zip(listed.entries, listed.labels, strict=True), 1):
            number_of[id(entry)] = shown if listed.numbered else place
    return Reference(
        items=tuple(items[id(entry)] for entry in finding.entries),
        words=finding.words,
        reason=finding.reason,
        confidence=finding.confidence,
        numbers=tuple(number_of.get(id(entry)) for entry in finding.entries),
        part=finding.part,
        tool=listed.tool if listed else "",
        sort=finding.sort,
        kinds=frozenset().union(*(entry.kind_words for entry in finding.entries)) if finding.entries else frozenset(),
    )
