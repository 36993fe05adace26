"""Items named or described: by full name, by part of a name, by a value, or as the answer to a choice."""

from collections.abc import Iterable

from rapidfuzz import fuzz, process

from langmem_plugin.references.meant.choosing import best_fit, choices, turned_down
from langmem_plugin.references.meant.meaning import Meaning
from langmem_plugin.references.meant.utterance import Said
from langmem_plugin.references.shown.items import DAYPARTS, ItemEntry
from langmem_plugin.references.shown.name_matching import common_atoms, named_in, sharing
from langmem_plugin.references.shown.shown_list import ShownList
from langmem_plugin.references.text.atoms import atoms, word_atoms
from langmem_plugin.references.text.tokens import is_stop, stem, words_of
from langmem_plugin.references.words.type_nouns import GROUPS, NO_TYPE


class Describing(Said):
    """Ways to find an item by what the utterance says of it."""

    def by_name(self) -> Meaning | None:
        pool = sharing(self.said | frozenset(words_of(self.utterance)), list(reversed(self.ledger.result_lists[-60:])))
        latest = self.ledger.shown_lists[-1]
        pool += [entry for entry in latest.entries if not any(entry is other for other in pool)]
        mentions = named_in(self.utterance, self._by_recency(pool))
        whole = [
            mention.entry
            for mention in mentions
            if self._tells(mention.entry, latest) and not self._sought(mention.entry)
        ]
        if whole:
            return Meaning(
                [*whole, *self._also(whole)],
                self.quote(whole[0].name_text[0].split() if whole[0].name_text else ()),
                "named in full",
                "name",
                self.view_of(whole[0]),
            )
        return self.by_description(0.3)

    def _sought(self, entry: ItemEntry) -> bool:
        """Whether a name of one word stands behind "a": "a dentist appointment" is a new one."""
        for place, mark in enumerate(self.marks[1:], 1):
            if self.marks[place - 1].has("indefinite") and " ".join(words_of(mark.text)) in entry.name_text:
                return True
        return False

    def _also(self, whole: list[ItemEntry]) -> list[ItemEntry]:
        """Items of the same list named in part beside one named in full: "the tortilla and the gazpacho"."""
        view = self.view_of(whole[0])
        if view is None or not any(mark.has("and") or mark.text in ("y el", "y la") for mark in self.marks):
            return []
        others = [entry for entry in view.entries if not any(entry is other for other in whole)]
        taken = frozenset().union(*(entry.atoms for entry in whole))
        own = {
            id(entry): frozenset().union(*entry.name_words) - taken - GROUPS.keys() - NO_TYPE
            for entry in others
            if entry.name_words
        }
        definite = {stem(word) for nouns in self.pointing.definite_nouns() for word in nouns[:2]}
        found = [entry for entry in others if own.get(id(entry), frozenset()) & self.said & definite]
        return found if len(found) == 1 else []

    def by_description(self, weak: float) -> Meaning | None:
        """By part of a name or a value; type nouns ("salon" in "Blue Salon") weigh `weak`."""
        for view in list(reversed(self.ledger.shown_lists[-40:]))[:4]:
            found, evidence = self.described(self.utterance, view, weak)
            if 1 < len(found) < len(view.entries) and self._apart(found, view):
                return Meaning(found, self.utterance.strip(), "each of them named in part", "part of name", view)
            if 1 < len(found) < len(view.entries) and any(
                mark.text in ("ones", "those", "los", "las", "los de", "las de", "todos", "all") or mark.has("all")
                for mark in self.marks
            ):
                return Meaning(
                    found, self.utterance.strip(), f"all of those shown that fit {', '.join(evidence)}", "value", view
                )
            if 1 < len(found) < len(view.entries) and self._alike(found, evidence, view):
                self.decision.equal = found
                return None
            if len(found) == 1 and self._convincing(evidence, view, found[0]):
                return Meaning(
                    found, self.quote(evidence), "the only one shown that fits these words", "part of name", view
                )
        return None

    def _alike(self, found: list[ItemEntry], evidence: list[str], view: ShownList) -> bool:
        """Whether a definite name fits several items of different names: "the soup" of two soups."""
        names = [frozenset().union(*entry.name_words) for entry in found if entry.name_words]
        shared = frozenset.intersection(*names) & set(evidence) if len(names) == len(found) else frozenset()
        definite = any(stem(word) in shared for nouns in self.pointing.definite_nouns() for word in nouns)
        return definite and len(set(names)) == len(found) and self._convincing(sorted(shared), view, found[0])

    def _apart(self, found: list[ItemEntry], view: ShownList) -> bool:
        """Whether several entries are each named by words of their own: "Miso or Olive"."""
        if not any(mark.has("and") for mark in self.marks):
            return False
        own = [view.atoms_of(view.entries.index(entry)) & self.said for entry in found]
        return all(words.difference(*(other for other in own if other is not words)) for words in own)

    def by_choice(self) -> Meaning | None:
        """The answer to a question that named two or three to choose from."""
        view = choices(self.ledger)
        if view is None or any(mark.has("search") for mark in self.marks):
            return None
        named = [mention.entry for mention in named_in(self.utterance, view.entries)]
        fit = best_fit(self.utterance, view, self.marks, self.closeness)
        entry, how, words = (named[0], 1.0, [named[0].title]) if len(named) == 1 else fit or (None, 0.0, [])
        if entry is None:
            return None
        sort = "chosen" if how > 0.5 else "perhaps chosen"
        wanted = {stem(word) for mark in self.pointing.marks for word in words_of(mark.text)}
        named_wanted = len(named) == 1 and any(words & wanted for words in entry.name_words)
        if turned_down(self.utterance) and not named_wanted:
            rest = [other for other in view.entries if other is not entry]
            if len(rest) != 1:
                return None
            return Meaning(
                rest,
                self.utterance.strip(),
                f"the other of the two; {', '.join(words)} tells of the one turned down",
                sort,
                view,
            )
        return Meaning(
            [entry], self.utterance.strip(), f"of those offered, the one that fits {', '.join(words)}", sort, view
        )

    def _by_recency(self, entries: list[ItemEntry]) -> list[ItemEntry]:
        """Entries last in focus first, then those shown last."""
        rank = {id(entry): place for place, entry in enumerate(self.ledger.focus, 1)}
        return sorted(entries, key=lambda entry: -rank.get(id(entry), 0))

    def _tells(self, entry: ItemEntry, latest: ShownList) -> bool:
        """A name of function words or bare numbers is evidence only where it is chosen from the list just
        shown.
        """
        if any(not is_stop(word) and not word.isdigit() for name in entry.name_text for word in name.split()):
            return True
        if not any(entry is other for other in latest.entries):
            return False
        spoken = f" {' '.join(words_of(self.utterance))} "
        return (
            any(
                spoken.startswith(f" {name} ") or spoken.endswith(f" {name} ")
                for name in entry.name_text
                if not name.isdigit()
            )
            and len(spoken.split()) > 1
        )

    def described(self, text: str, view: ShownList, weak: float = 1.0) -> tuple[list[ItemEntry], list[str]]:
        """The entries of a view that share most with a text, and the words they share."""
        shared = common_atoms(view.entries) if len(view.entries) > 1 else frozenset()
        vocabulary = {word for entry in view.entries for words in entry.name_words for word in words}
        said = corrected(frozenset(word for word in atoms(text) if not word.isdigit()), vocabulary) - shared
        scores: list[tuple[float, ItemEntry]] = []
        for place, entry in enumerate(view.entries):
            held = view.atoms_of(place)
            names = frozenset().union(*entry.name_words) if entry.name_words else frozenset()
            score = sum(
                0.3
                if word in NO_TYPE and word not in DAYPARTS
                else (2.0 if word in names else 1.0) * (weak if word in GROUPS else 1.0)
                for word in said & held
            )
            scores.append((score, entry))
        best = max((score for score, _ in scores), default=0.0)
        found = [entry for score, entry in scores if score == best] if best >= (0.6 if weak == 1.0 else 1.0) else []
        evidence = said & view.atoms_of(view.entries.index(found[0])) if found else frozenset()
        return found, sorted(evidence)

    def _convincing(self, evidence: list[str], view: ShownList, entry: ItemEntry) -> bool:
        """Whether the shared words are meant to pick this entry, rather than being said of something new."""
        names = frozenset().union(*entry.name_words) if entry.name_words else frozenset()
        if view.captions:
            names |= view.caption_atoms[view.entries.index(entry)]
        named = [word for word in evidence if word in names and word not in NO_TYPE and ":" not in word]
        plain = [word for word in evidence if ":" not in word and word not in DAYPARTS]
        before = [mark for mark in self.marks if stem(mark.text) in evidence or mark.text in evidence]
        places = [self.marks.index(mark) for mark in before]
        plain_place = any(place and self.marks[place - 1].has("preposition", "of", "range") for place in places)
        anchored = any(mark.has("one") for mark in self.marks) or any(
            stem(word) in evidence or word_atoms(word) & set(evidence)
            for nouns in self.pointing.definite_nouns()
            for word in nouns
        )
        if any(
            place and self.marks[place - 1].has("cardinal") and not self.marks[place - 1].has("indefinite")
            for place in places
        ):
            return False  # "three lemons"
        plural = [self.marks[place + 1].text for place in places if place + 1 < len(self.marks)]
        kind_sought = any(stem(word) != word and stem(word) in GROUPS for word in plural)  # "chicken recipes"
        new = (kind_sought or any(mark.has("search") for mark in self.marks)) and not anchored
        if new or (self.pointing.asks_slot and not named):
            return False
        most = min(map(len, entry.name_words), default=1)
        short = len(words_of(self.utterance)) <= 4
        if named and (anchored or len(named) * 2 > most or (len(named) * 2 == most and not plain_place)):
            return True
        if (
            named
            and len(view.entries) > 1
            and (len(named) * 2 >= most or short or any(len(word) > 4 for word in named))
        ):
            return True
        if len(view.entries) == 1:
            return bool(plain) and anchored
        if any(mark.has("one") or (mark.has("weekday") and mark.text.endswith("'s")) for mark in self.marks):
            return True
        typed = any(stem(word) in GROUPS or word in entry.kind_words for word in plain)
        valued = any(
            mark.has("value") and place and self.marks[place - 1].has("the") for place, mark in enumerate(self.marks)
        )
        of_type = any(self.kinds(nouns) & entry.kind_words for nouns in self.pointing.definite_nouns())
        if valued or of_type:
            return True  # "the 12:30", "the flight for 75"
        return (anchored and (typed or len(self.said) <= 3)) or (bool(plain) and len(self.said) <= 2)


def corrected(said: frozenset[str], vocabulary: Iterable[str]) -> frozenset[str]:
    """The words said plus, for each unknown word of five letters or more, the known word it is a slip of."""
    known = [word for word in vocabulary if len(word) >= 4 and word[0].isalpha()]
    lookup = set(known)
    extra = set()
    for word in said:
        if len(word) >= 5 and word.isalpha() and word not in lookup:
            match = process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=84)
            if match is not None:
                extra.add(match[0])
    return said | extra
