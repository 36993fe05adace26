"""Among which things a phrase counts or compares, where more is said of them: "both dublin ones", "the cheapest with parking"."""

from collections.abc import Sequence

from langmem_plugin.references.meant.by_properties import described
from langmem_plugin.references.meant.candidate_lists import newest, without
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.segments import Segment
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.words import phrases

_NARROWED = frozenset(("all", "both", "comparison", "first", "last"))
_PURPOSE = frozenset(phrases("for|to|para|on|pls|please|ל"))
_OLDER = 0.5  # words that a newer list may fit worse by


def narrowed(phrase: Phrase, segment: Segment, utterance: Utterance, ledger: Ledger) -> Ledger:
    """The ledger as if no more had been shown than what fits the words that a phrase stands with; itself where those
    tell nothing.
    """
    inside = [mark for mark in segment.marks if phrase.start <= mark.start < phrase.end]
    if phrase.kind not in _NARROWED or any(mark.has("digit", "label", "marker") for mark in inside):
        return ledger
    if phrase.kind == "comparison" and _of_those(segment, phrase) and len(ledger.together) > 1:
        return _only(ledger.together, ledger.shown_lists[-1], ledger)
    marks = _attached(phrase, segment)
    taken = [(phrase.start, phrase.end)]
    best, most = None, 0.0
    for age, listed in enumerate(newest(ledger) if marks else ()):
        found = described(marks, utterance, listed, taken)
        fitting = len(found.reading.constraints) - _OLDER * age
        if fitting > most and len(listed.entries) > 1:
            best, most = found, fitting
    if best is None or (not best.entries and best.reading.strange):
        return ledger
    entries = best.entries or best.listed.entries
    if phrase.kind == "both" and len(entries) != 2:
        entries = _of_all_lists(marks, utterance, ledger, taken)
    least = 2 if phrase.kind in ("all", "both") else 1
    if len(entries) < least or (best.listed is ledger.shown_lists[-1] and len(entries) == len(best.listed.entries)):
        return ledger
    return _only(entries, best.listed, ledger)


def _only(entries: list[ItemEntry], listed: ShownList, ledger: Ledger) -> Ledger:
    fewer = ledger.copy()
    fewer.shown_lists = [listed.of(entries)]
    return fewer


def _of_all_lists(
    marks: Sequence[Mark], utterance: Utterance, ledger: Ledger, taken: Sequence[tuple[int, int]]
) -> list[ItemEntry]:
    """As in "both brightwell quotes", one of which each list holds."""
    entries: list[ItemEntry] = []
    for listed in newest(ledger):
        entries += without(described(marks, utterance, listed, taken).entries, entries)
    return entries


def _attached(phrase: Phrase, segment: Segment) -> list[Mark]:
    """The words behind a phrase, up to what it is wanted for, and those that stand first of all: "for boxes take the
    fastest".
    """
    after = [mark for mark in segment.marks if mark.start >= phrase.end]
    grouped = phrase.kind in ("all", "both")  # "both on the 6th" says which, "the cheapest for the 6th" what for
    purpose = next((place for place, mark in enumerate(after) if mark.text in _PURPOSE and not grouped), len(after))
    opening = list(segment.marks[1:3]) if segment.marks[0].text in _PURPOSE else []
    owner = [mark for mark in segment.marks if mark.end <= phrase.start][-1:]
    owned = [
        mark for mark in owner if mark.text.endswith("s") and mark.text[:1].isalpha() and not mark.kinds
    ]  # "petes newer one"
    return [mark for mark in opening if mark.end <= phrase.start and mark not in owned] + owned + after[:purpose]


def _of_those(segment: Segment, phrase: Phrase) -> bool:
    """As in "the slower of those two"."""
    behind = [mark for mark in segment.marks if mark.start >= phrase.end]
    return len(behind) > 1 and behind[0].has("of") and behind[1].has("these", "them")
