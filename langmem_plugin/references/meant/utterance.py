"""One utterance beside the ledger: its marks and phrases, and the lists it can be about."""

from collections.abc import Collection, Sequence

from langmem_plugin.references.meant.choosing import Closeness
from langmem_plugin.references.meant.meaning import Decision
from langmem_plugin.references.meant.pointing import Pointing
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.phrase_reader import read_phrases
from langmem_plugin.references.said.tagger import marked
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.ledger import Ledger
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import atoms, word_atoms
from langmem_plugin.references.text.tokens import stem, words_of

NEAR = 40
"""Letters between two words that are still quoted as one stretch."""


class Said:
    """What the ways of resolving share; each adds its own methods."""

    def __init__(self, utterance: str, ledger: Ledger, closeness: Closeness | None) -> None:
        self.utterance = utterance
        self.closeness = closeness
        self.ledger = ledger
        self.vocabulary = frozenset().union(*(view.vocabulary for view in ledger.shown_lists[-3:]))
        self.marks, self.language = marked(utterance, self.vocabulary)
        self.kinds_said = frozenset().union(*(mark.kinds for mark in self.marks))
        self.phrases = read_phrases(self.marks, self.language.name)
        self.said = atoms(utterance)
        self.pointing = Pointing(utterance, self.marks, ledger)
        self.decision = Decision(phrases=self.phrases)

    def words(self, phrase: Phrase) -> str:
        return self.utterance[phrase.start : phrase.end].strip()

    def quote(self, evidence: Collection[str]) -> str:
        """The stretch of the utterance that holds the words of some evidence; all of it when none does."""
        told = [
            mark
            for mark in self.marks
            if any(word in evidence or stem(word) in evidence for word in words_of(mark.text))
            or word_atoms(mark.text) & set(evidence)
        ]
        if not told:
            return self.utterance.strip()
        last = next((mark for mark in reversed(told) if mark.start - told[0].end < NEAR), told[0])
        return self.utterance[told[0].start : last.end]

    def lists(self, nouns: Sequence[str] = ()) -> list[ShownList]:
        """Views to count in, best first: lists of several items before single ones, those of the named type
        before others.
        """
        wanted = self.kinds(nouns)
        views = [view for view in reversed(self.ledger.shown_lists) if view.kind != "parts" or view.numbered]
        typed = [view for view in views if wanted and any(wanted & entry.kind_words for entry in view.entries)]
        pool = typed or views
        several = [view for view in pool if len(view.entries) > 1 or view.numbered] or pool
        if "oldest" in self.kinds_said:
            return several[-1:]
        if "older" in self.kinds_said and not typed:
            return [view for view in several if view.turn < several[0].turn][:1]
        if "older" in self.kinds_said:
            return [view for view in several if view.turn < self.ledger.shown_lists[-1].turn][:1] or several[:1]
        return several

    def of_type(self, view: ShownList, nouns: Sequence[str]) -> ShownList:
        """The items of a view that the nouns name, when it holds others too: "the second movie" of a mixed list."""
        wanted = self.kinds(nouns)
        kept = [place for place, entry in enumerate(view.entries) if wanted & entry.kind_words]
        kept = kept or [
            place for place, entry in enumerate(view.entries) if any(wanted & words for words in entry.name_words)
        ]
        if not kept or len(kept) == len(view.entries):
            return view
        entries = [view.entries[place] for place in kept]
        return ShownList(
            entries, [None] * len(entries), view.turn, view.kind, view.nouns, view.tool, sources=view.sources
        )

    def kinds(self, nouns: Sequence[str]) -> frozenset[str]:
        """The nouns as type words, in English too when the language tables know them."""
        return frozenset(stem(word) for noun in nouns for word in (noun, *atoms(noun)) if ":" not in word)

    def group(self, nouns: Sequence[str]) -> ShownList | None:
        views = self.lists(nouns)
        return views[0] if views else None

    def view_of(self, entry: ItemEntry) -> ShownList | None:
        return next(
            (view for view in reversed(self.ledger.shown_lists) if any(entry is other for other in view.entries)), None
        )
