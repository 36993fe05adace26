"""Items picked out of a list shown: by number, order, group, exception, comparison."""

from collections.abc import Callable, Sequence

from langmem_plugin.references.meant.comparing import extreme
from langmem_plugin.references.meant.describing import Describing
from langmem_plugin.references.meant.meaning import Meaning
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.shown.items import ItemEntry, long_part
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words import phrases
from langmem_plugin.references.words.type_nouns import GROUPS

SELECTING = frozenset(phrases("numbers|first|last|all|both|neither|all_but|comparison|other|previous"))
"""Kinds of phrase that pick from a list by themselves."""
_PRINTED = frozenset(("label", "digit", "marker"))
"""Kinds of words that stand for a number as it was printed."""


class Selecting(Describing):
    """A method per kind of phrase; each gives a Meaning, or None when the list does not hold what was asked
    for.
    """

    def selected(self, phrase: Phrase) -> Meaning | None:
        """What a phrase of one of the SELECTING kinds picks."""
        select: Callable[[Phrase], Meaning | None] | None = getattr(self, f"_{phrase.kind}", None)
        return select(phrase) if select is not None and phrase.kind in SELECTING else None

    def turned_down(self, meaning: Meaning) -> Meaning | None:
        """As in "Not the first one" of two means the other; of more, none."""
        view = meaning.view
        if view is None or len(view.entries) != 2 or len(meaning.entries) != 1:
            return None
        rest = [entry for entry in view.entries if entry is not meaning.entries[0]]
        return Meaning(
            rest, meaning.words, f"the other of the two, since {meaning.words!r} was turned down", "other", view
        )

    def _numbers(self, phrase: Phrase) -> Meaning | None:
        views = self.lists(phrase.nouns)
        if not views or self._foreign(phrase.nouns):
            return None
        printed = not self.kinds_said.isdisjoint(_PRINTED)
        view = next((view for view in views if not printed or view.starts_by(min(phrase.numbers))), views[0])
        view = view if printed else self.of_type(view, phrase.nouns)
        if len(view.entries) == 1 and not view.numbered:
            view = self._sequence(view)
        found = []
        for number in phrase.numbers:
            if number == 0:
                entry = view.entries[len(view.entries) // 2] if len(view.entries) % 2 else None
            else:
                entry = view.at(number) or self._identified(number, view)
            if entry is None:
                return None
            found.append(entry)
        sort = "number" if printed else "ordinal"
        return Meaning(
            found, self.words(phrase), f"{self.words(phrase)!r} of the {len(view.entries)} last listed", sort, view
        )

    def _sequence(self, view: ShownList) -> ShownList:
        """Single items of one result, offered one after another, count as a list in that order."""
        entries: list[ItemEntry] = []
        labels: list[int | None] = []
        for earlier in self.ledger.shown_lists:
            if earlier.sources == view.sources or (earlier.tool == view.tool and earlier.tool):
                for entry in earlier.entries:
                    if not any(entry is other for other in entries):
                        entries.append(entry)
                        labels.append(None)
        return ShownList(entries, labels, view.turn, "prose", view.nouns, view.tool, sources=view.sources)

    def _identified(self, number: int, view: ShownList) -> ItemEntry | None:
        """The item whose id a number too large to count is: "order 1042"."""
        if number <= len(view.entries) or number < 100:
            return None
        pool = [entry for earlier in reversed(self.ledger.shown_lists) for entry in earlier.entries]
        return next((entry for entry in pool if str(number) in entry.identity), None)

    def _foreign(self, nouns: Sequence[str]) -> bool:
        """Whether the noun counted is a type that nothing shown has, where the types of what was shown are known."""
        loose = GROUPS.get(stem(nouns[0])) if nouns else None
        if not loose:
            return False
        known = frozenset().union(*(entry.kind_words for view in self.ledger.shown_lists[-8:] for entry in view.entries))
        return not loose & known and any(word in GROUPS for word in known)

    def _first(self, phrase: Phrase) -> Meaning | None:
        for view in self.lists(phrase.nouns)[:1]:
            if phrase.count <= len(view.entries):
                return Meaning(
                    view.entries[: phrase.count],
                    self.words(phrase),
                    f"the first {phrase.count} last listed",
                    "ordinal",
                    view,
                )
        return None

    def _last(self, phrase: Phrase) -> Meaning | None:
        for view in self.lists(phrase.nouns)[:1]:
            if phrase.count <= len(view.entries):
                return Meaning(
                    view.entries[-phrase.count :],
                    self.words(phrase),
                    f"the last {phrase.count} listed",
                    "ordinal",
                    view,
                )
        return None

    def _all(self, phrase: Phrase) -> Meaning | None:
        wanted = self.kinds(phrase.nouns)
        last = self.ledger.shown_lists[-1]
        part = long_part(last.entries[0]) if len(last.entries) == 1 else None
        if part is not None and self.words(phrase).lower() in ("everything", "todo", "הכל", "הכול"):
            return Meaning(
                [last.entries[0]], self.words(phrase), f"the {part} of the one last shown", "part", last, part
            )
        view = self.group(phrase.nouns)
        if view is None:
            return None
        if (
            wanted
            and not any(wanted & entry.kind_words for entry in view.entries)
            and not self._fits(phrase.nouns, view)
        ):
            return None
        if phrase.count and phrase.count != len(view.entries):
            return None
        return Meaning(list(view.entries), self.words(phrase), f"all {len(view.entries)} last shown", "group", view)

    def _fits(self, nouns: Sequence[str], view: ShownList) -> bool:
        return not nouns or bool(self.kinds(nouns) & self.kinds(tuple(view.nouns)))

    def _both(self, phrase: Phrase) -> Meaning | None:
        view = self.group(phrase.nouns)
        view = self.of_type(view, phrase.nouns) if view is not None else None
        if view is not None and len(view.entries) == 2:
            return Meaning(list(view.entries), self.words(phrase), "the two last shown", "group", view)
        if len(self.ledger.chosen) == 2:
            return Meaning(list(self.ledger.chosen), self.words(phrase), "the two spoken of", "group", view)
        return None

    def _neither(self, _phrase: Phrase) -> Meaning | None:
        self.decision.rejected = True
        return None

    def _all_but(self, phrase: Phrase) -> Meaning | None:
        view = self.group(())
        if view is None:
            return None
        out: list[ItemEntry] = []
        for inner in phrase.inner:
            meaning = self.selected(inner)
            if meaning is not None:
                out.extend(meaning.entries)
        if not phrase.inner:
            out = self.described(" ".join(phrase.nouns), view)[0]
        rest = [entry for entry in view.entries if not any(entry is other for other in out)]
        if not out or len(rest) == len(view.entries):
            return None
        return Meaning(
            rest, self.words(phrase), f"the {len(view.entries)} last shown without {len(out)}", "exclusion", view
        )

    def _comparison(self, phrase: Phrase) -> Meaning | None:
        if phrase.comparison is None:
            return None
        for listed in self.lists(phrase.nouns)[:3]:
            view = self.of_type(listed, phrase.nouns)
            if len(view.entries) < 2:
                continue
            found = extreme(view.entries, phrase.comparison, phrase.count, phrase.numbers[0] if phrase.numbers else 0)
            if found is not None:
                entries, name = found
                return Meaning(
                    entries,
                    self.words(phrase),
                    f"by {name} among the {len(view.entries)} last shown",
                    "comparison",
                    view,
                )
        return None

    def _other(self, phrase: Phrase) -> Meaning | None:
        view = self.group(phrase.nouns)
        if view is None or len(view.entries) != 2:
            return None
        known = self.described(self.utterance, view)[0]
        spoken_of = known if len(known) == 1 else self.ledger.focus[-1:]
        rest = [entry for entry in view.entries if not any(entry is other for other in spoken_of)]
        if len(rest) == 1:
            return Meaning(rest, self.words(phrase), "the one of the two that was not just spoken of", "other", view)
        return None

    def _previous(self, phrase: Phrase) -> Meaning | None:
        focus = self.ledger.focus
        if len(focus) >= 2:
            return Meaning([focus[-2]], self.words(phrase), "the one spoken of before", "older")
        return None
