"""Items counted in a list: "number 2", "the first and the last", "the last two", "the previous one"."""

from collections.abc import Sequence

from langmem_plugin.references.meant.candidate_lists import best_list, candidate_lists, of_type, type_words
from langmem_plugin.references.meant.finding import Finding
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words.type_nouns import GROUPS

_SMALLEST_ID = 100
"""Numbers below are counted, never taken for an id."""


def by_numbers(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """Every number must be in the list; a number printed beside an item counts before its place."""
    lists = candidate_lists(utterance, ledger, phrase.nouns)
    if not lists or _foreign(phrase.nouns, ledger) or _last_time(phrase, utterance, lists[0]):
        return None
    if phrase.lettered:
        lists = [listed for listed in lists if listed.lettered] or lists
    printed = utterance.has("label", "digit", "marker")
    listed = next((listed for listed in lists if not printed or listed.starts_by(min(phrase.numbers))), lists[0])
    among = listed if printed else of_type(listed, phrase.nouns)
    alone = among is not listed and len(among.entries) == 1 and not type_words(phrase.nouns) & GROUPS.keys()
    if alone and phrase.numbers[0] not in (1, -1):
        return None  # "the second jacket" of one
    listed = among
    if len(listed.entries) == 1 and not listed.numbered and not alone:
        listed = _sequence(listed, ledger)
    if _past_another(listed, ledger):
        return None
    found = []
    for number in phrase.numbers:
        if number == 0:
            entry = listed.entries[len(listed.entries) // 2] if len(listed.entries) % 2 else None
        else:
            placed = None if printed else listed.in_order(number)
            entry = placed or listed.at(number) or _identified(number, listed, ledger)
        if entry is None:
            return None
        found.append(entry)
    words = utterance.words(phrase)
    reason = f"{words!r} of the {len(listed.entries)} last listed"
    return Finding(found, words, reason, "number" if printed else "ordinal", listed)


def by_end(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "the first two", "the last two"."""
    listed, count = best_list(utterance, ledger, phrase.nouns), phrase.count
    if listed is None or count > len(listed.entries):
        return None
    if phrase.kind == "first":
        return Finding(
            listed.entries[:count], utterance.words(phrase), f"the first {count} last listed", "ordinal", listed
        )
    return Finding(listed.entries[-count:], utterance.words(phrase), f"the last {count} listed", "ordinal", listed)


def by_previous(phrase: Phrase, utterance: Utterance, ledger: Ledger) -> Finding | None:
    """As in "the previous one": what was spoken of before the item in focus."""
    if len(ledger.focus) < 2:
        return None
    return Finding([ledger.focus[-2]], utterance.words(phrase), "the one spoken of before", "older")


def _past_another(listed: ShownList, ledger: Ledger) -> bool:
    """Whether one thing of another kind was shown since: "the second one" does not reach past it."""
    newest = ledger.shown_lists[-1]
    since = len(newest.entries) == 1 and newest.turn == ledger.turn > listed.turn and newest.kind in ("list", "all")
    kinds = frozenset().union(*(entry.kind_words for entry in listed.entries))
    return since and not kinds & newest.entries[0].kind_words


def _sequence(last: ShownList, ledger: Ledger) -> ShownList:
    """Single items of one result, offered one after another, count as a list in that order."""
    entries: list[ItemEntry] = []
    for earlier in ledger.shown_lists:
        if earlier.sources == last.sources or (earlier.tool == last.tool and earlier.tool):
            entries += [entry for entry in earlier.entries if not any(entry is other for other in entries)]
    return ShownList(entries, [None] * len(entries), last.turn, "prose", last.nouns, last.tool, sources=last.sources)


def _identified(number: int, listed: ShownList, ledger: Ledger) -> ItemEntry | None:
    """The item whose id a number too large to count is: "order 1042"."""
    if number <= len(listed.entries) or number < _SMALLEST_ID:
        return None
    pool = [entry for earlier in reversed(ledger.shown_lists) for entry in earlier.entries]
    return next((entry for entry in pool if str(number) in entry.identity), None)


def _last_time(phrase: Phrase, utterance: Utterance, listed: ShownList) -> bool:
    """As in "I lost last round", "how long does it last once open": no place in a list."""
    if utterance.words(phrase).lower() != "last" or not phrase.nouns:
        return False
    before = utterance.before(phrase.start, 1)
    opened = bool(before) and not before[0].has(
        "the", "this", "its", "choose", "and", "punctuation", "confirm", "not", "except"
    )
    return opened and not type_words(phrase.nouns[:1]) & listed.known_words


def _foreign(nouns: Sequence[str], ledger: Ledger) -> bool:
    """Whether the noun counted is a type that nothing shown has, where the types of what was shown are known."""
    loose = GROUPS.get(stem(nouns[0])) if nouns else None
    if not loose:
        return False
    known = frozenset().union(*(entry.kind_words for listed in ledger.shown_lists[-8:] for entry in listed.entries))
    return not loose & known and any(word in GROUPS for word in known)
