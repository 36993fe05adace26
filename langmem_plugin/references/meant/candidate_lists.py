"""Which of the lists shown an utterance can be about."""

from collections.abc import Sequence

from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import atoms
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words.type_nouns import GROUPS

_NEWEST = 5
"""Lists that people still speak of."""


def newest(ledger: Ledger) -> list[ShownList]:
    """The lists that people still speak of, the newest first; no parts of one item."""
    return [listed for listed in ledger.shown_lists[: -_NEWEST - 1 : -1] if listed.kind != "parts"]


def candidate_lists(utterance: Utterance, ledger: Ledger, nouns: Sequence[str] = ()) -> list[ShownList]:
    """Lists to count in, best first: those of several items before single ones, those of the named type before
    others; only an older one where the utterance says so.
    """
    wanted = type_words(nouns)
    every = [listed for listed in reversed(ledger.shown_lists) if listed.kind != "parts" or listed.numbered]
    typed = [listed for listed in every if wanted and any(wanted & entry.kind_words for entry in listed.entries)]
    pool = typed or every
    several = [listed for listed in pool if len(listed.entries) > 1 or listed.numbered] or pool
    if utterance.has("oldest"):
        return several[-1:]
    if utterance.has("older") and not typed:
        return [listed for listed in several if listed.turn < several[0].turn][:1]
    if utterance.has("older"):
        return [listed for listed in several if listed.turn < ledger.shown_lists[-1].turn][:1] or several[:1]
    return several


def best_list(utterance: Utterance, ledger: Ledger, nouns: Sequence[str] = ()) -> ShownList | None:
    """The first of the candidate lists."""
    return next(iter(candidate_lists(utterance, ledger, nouns)), None)


def of_type(listed: ShownList, nouns: Sequence[str]) -> ShownList:
    """The items of a list that the nouns name, when it holds others too: "the second movie" of a mixed list."""
    wanted = type_words(nouns)
    kept = [place for place, entry in enumerate(listed.entries) if wanted & entry.kind_words]
    kept = kept or [
        place for place, entry in enumerate(listed.entries) if any(wanted & words for words in entry.name_words)
    ]
    if not kept and not wanted & GROUPS.keys():
        kept = [place for place in range(len(listed.entries)) if wanted & listed.atoms_of(place)]
    if not kept or len(kept) == len(listed.entries):
        return listed
    entries = [listed.entries[place] for place in kept]
    return ShownList(
        entries, [None] * len(entries), listed.turn, listed.kind, listed.nouns, listed.tool, sources=listed.sources
    )


def list_with(entry: ItemEntry, ledger: Ledger) -> ShownList | None:
    """The newest list that shows an entry."""
    return next(
        (listed for listed in reversed(ledger.shown_lists) if any(entry is other for other in listed.entries)), None
    )


def type_words(nouns: Sequence[str]) -> frozenset[str]:
    """The nouns as type words, in English too when the language tables know them."""
    return frozenset(stem(word) for noun in nouns for word in (noun, *atoms(noun)) if ":" not in word)


def without(entries: Sequence[ItemEntry], left_out: Sequence[ItemEntry]) -> list[ItemEntry]:
    """The entries that are not among those left out."""
    left = set(map(id, left_out))
    return [entry for entry in entries if id(entry) not in left]


def same_entries(entries: Sequence[ItemEntry], others: Sequence[ItemEntry]) -> bool:
    """Whether both are the same, in whatever order."""
    return set(map(id, entries)) == set(map(id, others))
