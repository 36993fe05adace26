"""What is meant: the phrases of an utterance against the ledger of what was shown. Pure and deterministic."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .choosing import Closeness, best_fit, choices, turned_down
from .comparing import extreme
from .entries import Entry
from .ledger import Ledger, View
from .lexicon import Mark, marked
from .naming import common_atoms, corrected, named_in, sharing
from .phrases import Phrase, read_phrases
from .pointing import Pointed, Pointing, thing_like, timely
from .text import atoms, is_stop, stem, word_atoms, words_of
from .words.nouns import GROUPS, NO_TYPE

CONFIDENCE = {
    "number": 0.97,
    "ordinal": 0.96,
    "exclusion": 0.95,
    "group": 0.93,
    "comparison": 0.92,
    "name": 0.96,
    "part of name": 0.9,
    "value": 0.85,
    "type": 0.85,
    "pointing": 0.85,
    "part": 0.85,
    "other": 0.85,
    "asked": 0.75,
    "agreed": 0.8,
    "chosen": 0.85,
    "perhaps chosen": 0.65,
    "older": 0.7,
}


@dataclass
class Meaning:
    """Some words, the entries they mean and why."""

    entries: list[Entry]
    words: str
    reason: str
    sort: str
    view: View | None = None
    part: str | None = None

    @property
    def confidence(self) -> float:
        return CONFIDENCE[self.sort]


@dataclass
class Decision:
    """Everything an utterance was found to mean. `equal` holds entries that are equally meant, to be asked about."""

    meanings: list[Meaning] = field(default_factory=list)
    equal: list[Entry] = field(default_factory=list)
    phrases: list[Phrase] = field(default_factory=list)
    rejected: bool = False


def decide(utterance: str, ledger: Ledger, closeness: Closeness | None = None) -> Decision:
    """What the utterance points at in the ledger, which has settled all results before it."""
    if not ledger.views or not utterance.strip():
        return Decision()
    return _Resolver(utterance, ledger, closeness).decide()


class _Resolver:
    def __init__(self, utterance: str, ledger: Ledger, closeness: Closeness | None) -> None:
        self.utterance = utterance
        self.closeness = closeness
        self.ledger = ledger
        self.vocabulary = frozenset().union(*(view.vocabulary for view in ledger.views[-3:]))
        self.marks, self.language = marked(utterance, self.vocabulary)
        self.phrases = read_phrases(self.marks, self.language.name)
        self.said = atoms(utterance)
        self.pointing = Pointing(utterance, self.marks, ledger)
        self.decision = Decision(phrases=self.phrases)

    def decide(self) -> Decision:
        explicit = [phrase for phrase in self.phrases if phrase.kind in _HANDLERS]
        if any(phrase.kind == "another" for phrase in self.phrases) and not any(
            phrase.kind in ("numbers", "all_but") for phrase in explicit
        ):
            self.decision.rejected = True
            return self.decision
        for phrase in explicit:
            meaning = _HANDLERS[phrase.kind](self, phrase)
            if meaning is not None and meaning.entries:
                if phrase.negated:
                    meaning = self._turned_down(meaning)
                    if meaning is None:
                        self.decision.rejected = True
                        continue
                self.decision.meanings.append(meaning)
        if self.decision.meanings or any(phrase.kind in ("numbers", "neither", "all_but") for phrase in explicit):
            return self.decision
        choice = self._by_choice()
        if choice is not None:
            self.decision.meanings.append(choice)
            return self.decision
        if (
            any(phrase.negated and phrase.kind in ("this", "it", "these", "them") for phrase in self.phrases)
            and not self.pointing.marks
        ):
            self.decision.rejected = True
            return self.decision
        meaning = self._by_name()
        if meaning is not None and meaning.sort == "name":
            self._and_that(meaning)
        meaning = meaning or self._by_deixis()
        offered = choices(self.ledger)
        if (
            offered is not None
            and meaning is not None
            and meaning.sort != "name"
            and any(meaning.entries[0] is entry for entry in offered.entries)
        ):
            self.decision.equal = list(offered.entries)
            return self.decision
        if meaning is None and not self.decision.equal:
            meaning = self._by_description(1.0)
        if meaning is not None:
            self.decision.meanings.append(meaning)
        return self.decision

    def _words(self, phrase: Phrase) -> str:
        return self.utterance[phrase.start : phrase.end].strip()

    # -- which list

    def _lists(self, nouns: Sequence[str] = ()) -> list[View]:
        """Views to count in, best first: lists of several items before single ones, those of the named type before others."""
        wanted = self._kinds(nouns)
        views = [view for view in reversed(self.ledger.views) if view.kind != "parts" or view.numbered]
        typed = [view for view in views if wanted and any(wanted & entry.kind_words for entry in view.entries)]
        pool = typed or views
        several = [view for view in pool if len(view.entries) > 1 or view.numbered] or pool
        if any(mark.has("oldest") for mark in self.marks):
            return several[-1:]
        if any(mark.has("older") for mark in self.marks) and not typed:
            return [view for view in several if view.turn < several[0].turn][:1]
        if any(mark.has("older") for mark in self.marks):
            return [view for view in several if view.turn < self.ledger.views[-1].turn][:1] or several[:1]
        return several

    def _kinds(self, nouns: Sequence[str]) -> frozenset[str]:
        """The nouns as type words, in English too when the language tables know them."""
        return frozenset(stem(word) for noun in nouns for word in (noun, *atoms(noun)) if ":" not in word)

    def _turned_down(self, meaning: Meaning) -> Meaning | None:
        """ "Not the first one" of two means the other; of more, none."""
        view = meaning.view
        if view is None or len(view.entries) != 2 or len(meaning.entries) != 1:
            return None
        rest = [entry for entry in view.entries if entry is not meaning.entries[0]]
        return Meaning(
            rest, meaning.words, f"the other of the two, since {meaning.words!r} was turned down", "other", view
        )

    # -- kinds of phrase

    def _numbers(self, phrase: Phrase) -> Meaning | None:
        views = self._lists(phrase.nouns)
        if not views:
            return None
        view = views[0]
        if len(view.entries) == 1 and not view.numbered:
            view = self._sequence(view)
        found = []
        for number in phrase.numbers:
            if number == 0:
                entry = view.entries[len(view.entries) // 2] if len(view.entries) % 2 else None
            else:
                entry = view.at(number)
            if entry is None:
                return None
            found.append(entry)
        sort = "number" if any(mark.has("label", "digit", "marker") for mark in self.marks) else "ordinal"
        return Meaning(
            found, self._words(phrase), f"{self._words(phrase)!r} of the {len(view.entries)} last listed", sort, view
        )

    def _sequence(self, view: View) -> View:
        """Single items of one result, offered one after another, count as a list in that order."""
        entries: list[Entry] = []
        labels: list[int | None] = []
        for earlier in self.ledger.views:
            if earlier.sources == view.sources or earlier.tool == view.tool and earlier.tool:
                for entry in earlier.entries:
                    if not any(entry is other for other in entries):
                        entries.append(entry)
                        labels.append(None)
        return View(entries, labels, view.turn, "prose", view.nouns, view.tool, sources=view.sources)

    def _first(self, phrase: Phrase) -> Meaning | None:
        for view in self._lists(phrase.nouns)[:1]:
            if phrase.count <= len(view.entries):
                return Meaning(
                    view.entries[: phrase.count],
                    self._words(phrase),
                    f"the first {phrase.count} last listed",
                    "ordinal",
                    view,
                )
        return None

    def _last(self, phrase: Phrase) -> Meaning | None:
        for view in self._lists(phrase.nouns)[:1]:
            if phrase.count <= len(view.entries):
                return Meaning(
                    view.entries[-phrase.count :],
                    self._words(phrase),
                    f"the last {phrase.count} listed",
                    "ordinal",
                    view,
                )
        return None

    def _all(self, phrase: Phrase) -> Meaning | None:
        wanted = self._kinds(phrase.nouns)
        view = self._group(phrase.nouns)
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
        return Meaning(list(view.entries), self._words(phrase), f"all {len(view.entries)} last shown", "group", view)

    def _fits(self, nouns: Sequence[str], view: View) -> bool:
        return not nouns or bool(self._kinds(nouns) & self._kinds(tuple(view.nouns)))

    def _group(self, nouns: Sequence[str]) -> View | None:
        views = self._lists(nouns)
        return views[0] if views else None

    def _both(self, phrase: Phrase) -> Meaning | None:
        view = self._group(phrase.nouns)
        if view is not None and len(view.entries) == 2:
            return Meaning(list(view.entries), self._words(phrase), "the two last shown", "group", view)
        return None

    def _neither(self, phrase: Phrase) -> Meaning | None:
        self.decision.rejected = True
        return None

    def _all_but(self, phrase: Phrase) -> Meaning | None:
        view = self._group(())
        if view is None:
            return None
        out: list[Entry] = []
        for inner in phrase.inner:
            handler = _HANDLERS.get(inner.kind)
            meaning = handler(self, inner) if handler else None
            if meaning is not None:
                out.extend(meaning.entries)
        if not phrase.inner:
            out = self._described(" ".join(phrase.nouns), view)[0]
        rest = [entry for entry in view.entries if not any(entry is other for other in out)]
        if not out or len(rest) == len(view.entries):
            return None
        return Meaning(
            rest, self._words(phrase), f"the {len(view.entries)} last shown without {len(out)}", "exclusion", view
        )

    def _comparison(self, phrase: Phrase) -> Meaning | None:
        if phrase.comparison is None:
            return None
        for view in self._lists(phrase.nouns)[:3]:
            if len(view.entries) < 2:
                continue
            found = extreme(view.entries, phrase.comparison, phrase.count, phrase.numbers[0] if phrase.numbers else 0)
            if found is not None:
                entries, name = found
                return Meaning(
                    entries,
                    self._words(phrase),
                    f"by {name} among the {len(view.entries)} last shown",
                    "comparison",
                    view,
                )
        return None

    def _other(self, phrase: Phrase) -> Meaning | None:
        view = self._group(phrase.nouns)
        if view is None or len(view.entries) != 2:
            return None
        known = self._described(self.utterance, view)[0]
        spoken_of = known if len(known) == 1 else self.ledger.focus[-1:]
        rest = [entry for entry in view.entries if not any(entry is other for other in spoken_of)]
        if len(rest) == 1:
            return Meaning(rest, self._words(phrase), "the one of the two that was not just spoken of", "other", view)
        return None

    def _previous(self, phrase: Phrase) -> Meaning | None:
        focus = self.ledger.focus
        if len(focus) >= 2:
            return Meaning([focus[-2]], self._words(phrase), "the one spoken of before", "older")
        return None

    # -- names and descriptions

    def _by_name(self) -> Meaning | None:
        pool = sharing(self.said | frozenset(words_of(self.utterance)), list(reversed(self.ledger.listings[-60:])))
        latest = self.ledger.views[-1]
        pool += [entry for entry in latest.entries if not any(entry is other for other in pool)]
        mentions = named_in(self.utterance, self._by_recency(pool))
        whole = [mention.entry for mention in mentions if self._tells(mention.entry, latest)]
        if whole:
            return Meaning(whole, whole[0].title, "named in full", "name", self._view_of(whole[0]))
        return self._by_description(0.3)

    def _by_description(self, weak: float) -> Meaning | None:
        """By part of a name or a value; type nouns ("salon" in "Blue Salon") weigh `weak`."""
        for view in list(reversed(self.ledger.views[-40:]))[:4]:
            found, evidence = self._described(self.utterance, view, weak)
            if 1 < len(found) < len(view.entries) and any(
                mark.text in ("ones", "those", "los de", "las de", "todos", "all") or mark.has("all")
                for mark in self.marks
            ):
                return Meaning(
                    found, self.utterance.strip(), f"all of those shown that fit {', '.join(evidence)}", "value", view
                )
            if len(found) == 1 and self._convincing(evidence, view, found[0]):
                return Meaning(
                    found, " ".join(evidence), "the only one shown that fits these words", "part of name", view
                )
        return None

    def _and_that(self, named: Meaning) -> None:
        """ "Move 50 from that to Groceries": a pronoun after a preposition is a second item beside a named one."""
        for phrase in self.phrases:
            before = [mark for mark in self.marks if mark.end <= phrase.start][-1:]
            if (
                phrase.kind in ("this", "it")
                and not phrase.nouns
                and before
                and before[0].text in ("from", "to", "with", "than", "de", "con", "a")
            ):
                meaning = self._single(phrase)
                if meaning is not None and not any(
                    entry is other for entry in meaning.entries for other in named.entries
                ):
                    self.decision.meanings.append(meaning)
                self.decision.equal = []

    def _by_choice(self) -> Meaning | None:
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
        if turned_down(self.utterance):
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

    def _by_recency(self, entries: list[Entry]) -> list[Entry]:
        """Entries last in focus first, then those shown last."""
        rank = {id(entry): place for place, entry in enumerate(self.ledger.focus, 1)}
        return sorted(entries, key=lambda entry: -rank.get(id(entry), 0))

    def _tells(self, entry: Entry, latest: View) -> bool:
        """A name of function words or bare numbers is evidence only where it is chosen from the list just shown."""
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

    def _described(self, text: str, view: View, weak: float = 1.0) -> tuple[list[Entry], list[str]]:
        """The entries of a view that share most with a text, and the words they share."""
        shared = common_atoms(view.entries) if len(view.entries) > 1 else frozenset()
        vocabulary = {word for entry in view.entries for words in entry.name_words for word in words}
        said = corrected(frozenset(word for word in atoms(text) if not word.isdigit()), vocabulary) - shared
        scores: list[tuple[float, Entry]] = []
        for place, entry in enumerate(view.entries):
            held = view.atoms_of(place)
            names = frozenset().union(*entry.name_words) if entry.name_words else frozenset()
            score = sum(
                0.3 if word in NO_TYPE else (2.0 if word in names else 1.0) * (weak if word in GROUPS else 1.0)
                for word in said & held
            )
            scores.append((score, entry))
        best = max((score for score, _ in scores), default=0.0)
        found = [entry for score, entry in scores if score == best] if best >= 1.0 else []
        evidence = said & view.atoms_of(view.entries.index(found[0])) if found else frozenset()
        return found, sorted(evidence)

    def _convincing(self, evidence: list[str], view: View, entry: Entry) -> bool:
        """Whether the shared words are meant to pick this entry, rather than being said of something new."""
        names = frozenset().union(*entry.name_words) if entry.name_words else frozenset()
        if view.captions:
            names |= view.said[view.entries.index(entry)]
        named = [word for word in evidence if word in names and word not in NO_TYPE]
        plain = [word for word in evidence if ":" not in word]
        before = [mark for mark in self.marks if stem(mark.text) in evidence or mark.text in evidence]
        places = [self.marks.index(mark) for mark in before]
        plain_place = any(place and self.marks[place - 1].has("preposition", "of", "range") for place in places)
        anchored = any(mark.has("one") for mark in self.marks) or any(
            stem(word) in evidence or word_atoms(word) & set(evidence)
            for nouns in self.pointing.definite_nouns()
            for word in nouns
        )
        new = any(mark.has("search") for mark in self.marks) and not anchored
        if new or self.pointing.asks_slot and not named:
            return False
        most = min(map(len, entry.name_words), default=1)
        if named and (
            anchored or len(view.entries) > 1 or len(named) * 2 > most or len(named) * 2 == most and not plain_place
        ):
            return True
        if len(view.entries) == 1:
            return bool(plain) and anchored
        if any(mark.has("one") or mark.has("weekday") and mark.text.endswith("'s") for mark in self.marks):
            return True
        typed = any(stem(word) in GROUPS or word in entry.kind_words for word in plain)
        return anchored and (typed or len(self.said) <= 3) or bool(plain) and len(self.said) <= 2

    def _view_of(self, entry: Entry) -> View | None:
        return next(
            (view for view in reversed(self.ledger.views) if any(entry is other for other in view.entries)), None
        )

    # -- pointing

    def _by_deixis(self) -> Meaning | None:
        pointing = self.pointing
        singles = [
            phrase
            for phrase in self.phrases
            if phrase.kind in ("this", "it", "its", "there", "their") and not phrase.negated
        ]
        groups = [phrase for phrase in self.phrases if phrase.kind in ("these", "them") and not phrase.negated]
        for phrase in groups:
            meaning = self._plural(phrase)
            if meaning is not None:
                return meaning
        for phrase in singles:
            if phrase.kind == "there":
                place = pointing.place()
                if place is not None:
                    return self._pointed(Pointed(place, self._words(phrase), "pointing", "the place last spoken of"))
        pointed = pointing.by_part() or pointing.by_type() or pointing.by_action()
        if pointed is not None:
            return self._pointed(pointed)
        for phrase in singles:
            meaning = self._single(phrase)
            if meaning is not None or self.decision.equal:
                return meaning
        pointed = pointing.by_question() or pointing.by_agreement()
        return self._pointed(pointed) if pointed is not None else None

    def _pointed(self, pointed: Pointed) -> Meaning:
        return Meaning(
            [pointed.entry], pointed.words, pointed.reason, pointed.sort, self._view_of(pointed.entry), pointed.part
        )

    def _plural(self, phrase: Phrase) -> Meaning | None:
        if timely(phrase.nouns):
            return None
        focus = self.ledger.focus[-1] if self.ledger.focus else None
        if phrase.nouns and focus is not None:
            part = self.pointing.part_of(focus, phrase.nouns)
            if part is not None:
                return Meaning(
                    [focus],
                    self._words(phrase),
                    f"the {part} of the one last spoken of",
                    "part",
                    self._view_of(focus),
                    part,
                )
        last = self.ledger.views[-1]
        if (
            focus is not None
            and not phrase.nouns
            and not phrase.count
            and len(last.entries) == 1
            and last.entries[0] is focus
        ):
            part = next(
                (name for name, value in focus.item.items() if isinstance(value, (list, tuple)) and len(value) > 1),
                None,
            )
            if part is not None:
                return Meaning([focus], self._words(phrase), f"the {part} of the one last shown", "part", last, part)
        view = self._group(phrase.nouns)
        if view is None or (phrase.count and phrase.count != len(view.entries)):
            return None
        return Meaning(list(view.entries), self._words(phrase), "what was last shown together", "pointing", view)

    def _single(self, phrase: Phrase) -> Meaning | None:
        if timely(phrase.nouns):
            return None
        focus = list(reversed(self.ledger.focus))
        last = self.ledger.views[-1]
        if len(last.entries) > 1 and last.collective and last.turn >= self.ledger.turn - 1:
            return Meaning(
                list(last.entries), self._words(phrase), "the list last shown, as one whole", "pointing", last
            )
        if len(last.entries) > 1 and last.kind in ("list", "all"):
            if last.collective:
                return Meaning(
                    list(last.entries), self._words(phrase), "the list last shown, as one whole", "pointing", last
                )
            if not (focus and self.ledger.turn > last.turn and any(focus[0] is entry for entry in last.entries)):
                self.decision.equal = list(last.entries)
                return None
        if focus and (phrase.explicit or thing_like(phrase.nouns)):
            return Meaning(
                [focus[0]], self._words(phrase), "the one last spoken of", "pointing", self._view_of(focus[0])
            )
        return None


_HANDLERS = {
    "numbers": _Resolver._numbers,
    "first": _Resolver._first,
    "last": _Resolver._last,
    "all": _Resolver._all,
    "both": _Resolver._both,
    "neither": _Resolver._neither,
    "all_but": _Resolver._all_but,
    "comparison": _Resolver._comparison,
    "other": _Resolver._other,
    "previous": _Resolver._previous,
}


def interesting(text: str) -> list[str]:
    """Content words of a text in order."""
    return [word for word in words_of(text) if not is_stop(word)]


__all__ = ["Decision", "Mark", "Meaning", "decide"]
