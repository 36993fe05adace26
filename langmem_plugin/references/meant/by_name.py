"""Items named in full, or by an id: "save the Lemon Chicken", "order A-1042"."""

from langmem_plugin.references.meant.by_description import by_description
from langmem_plugin.references.meant.candidate_lists import list_with, without
from langmem_plugin.references.meant.finding import Finding, Unclear
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import RECENT, Ledger
from langmem_plugin.references.shown.name_matching import named_in, sharing
from langmem_plugin.references.text.tokens import is_stop, stem, words_of
from langmem_plugin.references.words.type_nouns import GROUPS, NO_TYPE

_TYPE_NOUN = 0.3
"""What a type noun ("salon" in "Blue Salon") weighs, where other ways are still to be tried."""


def by_name(utterance: Utterance, ledger: Ledger) -> Finding | Unclear | None:
    """Every item named in full, with one named in part beside them; else the one named in part."""
    latest = ledger.shown_lists[-1].entries
    words = utterance.atoms | frozenset(words_of(utterance.text))
    pool = sharing(words, list(reversed(ledger.result_lists[-RECENT:])))
    pool += without(latest, pool)
    whole = [
        mention.entry
        for mention in named_in(utterance.text, _by_recency(pool, ledger))
        if _tells(mention.entry, utterance, latest) and not _sought(mention.entry, utterance)
    ]
    if not whole:
        return by_description(utterance, ledger, type_noun=_TYPE_NOUN)
    first = whole[0]
    quote = utterance.quote(first.name_text[0].split() if first.name_text else ())
    found = [*whole, *_named_in_part(whole, utterance, ledger)]
    return Finding(found, quote, "named in full", "name", list_with(first, ledger))


def _by_recency(entries: list[ItemEntry], ledger: Ledger) -> list[ItemEntry]:
    """Entries last in focus first, then those shown last."""
    rank = {id(entry): place for place, entry in enumerate(ledger.focus, 1)}
    return sorted(entries, key=lambda entry: -rank.get(id(entry), 0))


def _tells(entry: ItemEntry, utterance: Utterance, latest: list[ItemEntry]) -> bool:
    """A name of function words or bare numbers is evidence only where it is chosen from the list just shown."""
    if any(not is_stop(word) and not word.isdigit() for name in entry.name_text for word in name.split()):
        return True
    if not any(entry is other for other in latest):
        return False
    spoken = f" {' '.join(words_of(utterance.text))} "
    names = [f" {name} " for name in entry.name_text if not name.isdigit()]
    return len(spoken.split()) > 1 and any(spoken.startswith(name) or spoken.endswith(name) for name in names)


def _sought(entry: ItemEntry, utterance: Utterance) -> bool:
    """Whether a name of one word stands behind "a": "a dentist appointment" is a new one."""
    return any(
        before.has("indefinite") and " ".join(words_of(mark.text)) in entry.name_text
        for before, mark in zip(utterance.marks, utterance.marks[1:], strict=False)
    )


def _named_in_part(whole: list[ItemEntry], utterance: Utterance, ledger: Ledger) -> list[ItemEntry]:
    """An item of the same list named in part beside one named in full: "the tortilla and the gazpacho"."""
    listed = list_with(whole[0], ledger)
    if listed is None or not any(mark.has("and") or mark.text in ("y el", "y la") for mark in utterance.marks):
        return []
    taken = frozenset().union(*(entry.atoms for entry in whole))
    definite = {stem(word) for nouns in utterance.definite_nouns for word in nouns[:2]}
    found = [
        entry
        for entry in without(listed.entries, whole)
        if (frozenset().union(*entry.name_words) - taken - GROUPS.keys() - NO_TYPE) & utterance.atoms & definite
    ]
    return found if len(found) == 1 else []
