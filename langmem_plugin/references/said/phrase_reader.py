"""What was said: the referring phrases of an utterance, by grammar alone, before anyone looks at the items.

Kinds of a mark (from the language tables) are words such as `ordinal`, `marker`, `this`; kinds of a Phrase are what
the resolver acts on: numbers, first, last, all, both, neither, all_but, comparison, other, another, previous, this,
these, it, them, its, their, there.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from langmem_plugin.references.said.cursor import Phrase, is_superlative, marks_before
from langmem_plugin.references.said.number_phrases import Counting
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import Comparison

_STATES = frozenset(("is", "was", "were", "are", "isn't", "es", "era", "fue"))


def read_phrases(marks: Sequence[Mark], language: str) -> list[Phrase]:
    """Referring phrases from left to right; [] when the utterance points at nothing."""
    return _Reader(marks, language).read()


class _Reader(Counting):
    def __init__(self, marks: Sequence[Mark], language: str, *, within_exception: bool = False) -> None:
        super().__init__(marks, language)
        self.within_exception = within_exception

    @cached_property
    def _first_question(self) -> int:
        return self.first(lambda mark: mark.has("question"))

    def read(self) -> list[Phrase]:
        while self.index < len(self.marks):
            mark = self.marks[self.index]
            if mark.has("idiom", "greeting"):
                self.index += 1
                continue
            for reader in (self._all_but, self.numbers, self.ordinals, self._comparison, self._groups, self._deictic):
                phrase = reader(mark)
                if phrase is not None:
                    self.found.append(self._negated(phrase))
                    break
            else:
                self.index += 1
        return self.found

    def _negated(self, phrase: Phrase) -> Phrase:
        before = marks_before(self.marks, phrase.start, 3)
        stops = [
            place
            for place, mark in enumerate(before)
            if mark.has("punctuation") or mark.text in ("but", "just", ",", "pero", "אבל")
        ]
        before = before[stops[-1] + 1 :] if stops else before
        # A leading "no" answers; it turns nothing down: "no the second one".
        negated = any(
            mark.has("not") and not (mark.text == "no" and mark is self.marks[0] and self.language == "en")
            for mark in before
        )
        following = bisect_left(self.marks, phrase.end, key=lambda mark: mark.start)
        trailing = self.language == "es" and self.at(following).text == "no"
        return replace(phrase, negated=negated or trailing)

    # -- all but …

    def _all_but(self, mark: Mark) -> Phrase | None:
        if self.within_exception or not mark.has("except"):
            return None
        before = self.marks[: self.index]
        group = [
            place
            for place, earlier in enumerate(before)
            if earlier.has("all", "both", "them", "these")
            or earlier.text in ("rest", "resto", "anything", "cualquiera", "anyone")
        ]
        if not group and any(not earlier.has("polite", "punctuation", "choose") for earlier in before):
            return None
        rest = _Reader(self.marks[self.index + 1 :], self.language, within_exception=True)
        inner = [replace(phrase, explicit=True) for phrase in rest.read()] if rest.marks else []
        numbers = [phrase for phrase in inner if phrase.kind != "it" or not phrase.nouns]
        bare = rest.marks and rest.marks[0].has("cardinal") and not numbers
        if bare:
            first = rest.marks[0]
            numbers = [Phrase("numbers", first.start, first.end, (first.number("cardinal"),))]
        if not rest.marks or (mark.text == "skip" and not any(later.text == "rest" for later in rest.marks)):
            return None
        start = before[group[0]].start if group else mark.start
        end = rest.marks[-1].end
        self.found = [
            phrase
            for phrase in self.found
            if phrase.kind not in ("all", "both", "them", "these") or phrase.end <= start
        ]
        self.index = len(self.marks)
        nouns = tuple(word.text for word in rest.marks if word.text[:1].isalpha() or word.text[:1].isdigit())
        return Phrase("all_but", start, end, inner=tuple(numbers), nouns=nouns)

    # -- comparisons

    def _comparison(self, mark: Mark) -> Phrase | None:
        start = self.index
        field = self.nouns(start + 1)[:1]
        if mark.has("most", "least") and not mark.has("comparison") and field:
            # "the most spots": the noun names the field.
            self.index += 2
            compared = Comparison(field, 1 if mark.has("most") else -1)
            return Phrase("comparison", *self.span(start, self.index), comparison=compared, count=1)
        if not mark.has("comparison"):
            return None
        before, earlier = self.at(start - 1), self.at(start - 2)
        value = mark.values["comparison"]
        if not isinstance(value, Comparison):
            return None
        after = self.at(start + 1)
        if (
            before.has("indefinite", "another")
            or earlier.has("indefinite", "another")
            or before.text in ("something", "anything", "algo", "any", "משהו", "more", "even")
        ):
            return None
        if (
            mark.text in ("mejor", "peor", "better", "worse", "later", "earlier", "sooner")
            and not before.has("the", "this")
            and not after.has("one")
        ):
            return None
        superlative = is_superlative(mark.text, self.language)
        pointed = (
            before.has("the", "one", "this", "this", "these", "its", "cardinal")
            or after.has("one")
            or mark.definite
            or earlier.has("the")
        )
        asked = start > self._first_question
        if not superlative and not pointed and not asked:
            return None
        if not superlative and not pointed and self.language == "es":
            return None
        count = before.number("cardinal") if before.has("cardinal") and not before.has("one") else 1
        if after.has("cardinal") and not after.has("one") and not after.has("indefinite"):
            count = after.number("cardinal")
        self.index += 1
        return Phrase(
            "comparison",
            *self.span(start, self.index),
            comparison=value,
            count=count,
            nouns=self.nouns(self.index),
            one=True,
        )

    # -- all, both, neither, other, another

    def _groups(self, mark: Mark) -> Phrase | None:
        start = self.index
        for kind in ("neither", "both", "all"):
            if mark.has(kind):
                if kind == "both" and self.at(start + 1).has("cardinal", "ordinal", "label", "marker", "the"):
                    return None
                self.index += 1
                while self.at(self.index).has("of", "the", "these", "them") and not self.at(self.index).has("idiom"):
                    self.index += 1
                count = 0
                if self.at(self.index).has("cardinal") and not self.at(self.index).has("one"):
                    count = self.at(self.index).number("cardinal")
                    self.index += 1
                if self.at(self.index).has("one"):
                    self.index += 1
                return Phrase(kind, *self.span(start, self.index), count=count, nouns=self.nouns(self.index))
        if mark.has("another", "other"):
            definite = self.at(start - 1).has("the", "this", "its") or mark.text.startswith("the ") or mark.definite
            self.index += 1
            one = self.at(self.index).has("one")
            if one:
                self.index += 1
            kind = "other" if definite else "another"
            return Phrase(kind, *self.span(start, self.index), nouns=self.nouns(self.index), one=one)
        return None

    # -- this, those, it, them, its

    def _deictic(self, mark: Mark) -> Phrase | None:
        start = self.index
        counted = self.at(start - 2)
        some = counted.has("cardinal", "indefinite", "most") or counted.text in ("half", "which", "few", "many")
        if mark.has("them", "these") and self.at(start - 1).has("of") and some:
            return None  # "half of them": which half is not said
        if mark.has("these"):
            self.index += 1
            count = 0
            if self.at(self.index).has("cardinal"):
                count = self.at(self.index).number("cardinal")
                self.index += 1
            return Phrase("these", *self.span(start, self.index), count=count, nouns=self.nouns(self.index))
        if (
            (mark.has("previous") and mark.text.startswith("the "))
            or (mark.has("previous") and self.at(start - 1).has("the", "one", "this", "from"))
            or (mark.has("previous") and mark.definite)
        ):
            self.index += 1
            return Phrase("previous", *self.span(start, self.index), nouns=self.nouns(self.index))
        if mark.has("this") and self.at(start + 1).text in _STATES and self.at(start + 2).text != "one":
            return None  # "that is fine" agrees or chats; it picks nothing by itself
        if mark.text == "it's" and not self.at(start + 1).has("attribute"):
            return None
        if mark.has("there") and (self.at(start - 1).text in _STATES or self.at(start + 1).text in _STATES):
            return None  # "is there", "there are"
        if mark.has("this"):
            self.index += 1
            if self.at(self.index).has("one"):
                self.index += 1
                return Phrase("this", *self.span(start, self.index), nouns=self.nouns(self.index), one=True)
            return Phrase("this", *self.span(start, self.index), nouns=self.nouns(self.index))
        for kind in ("its", "their", "there", "them", "it"):
            if mark.has(kind):
                self.index += 1
                return Phrase(
                    kind,
                    *self.span(start, self.index),
                    nouns=self.nouns(self.index) if kind in ("its", "their") else (),
                )
        following = self.at(start + 1)
        if (
            mark.has("the")
            and following.has("cardinal")
            and not following.has("one", "unit")
            and (self.language == "en" or mark.text in ("los", "las"))
            and not self.at(start - 1).has("preposition")
        ):
            if self.at(start + 2).has("unit"):
                return None
            self.index += 2
            return Phrase(
                "these",
                *self.span(start, self.index),
                count=self.at(start + 1).number("cardinal"),
                nouns=self.nouns(self.index),
                explicit=False,
            )
        return None
