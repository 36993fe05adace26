"""What was said: the referring phrases of an utterance, by grammar alone, before anyone looks at the items.

Kinds of a mark (from the language tables) are words such as `ordinal`, `marker`, `this`; kinds of a Phrase are what
the resolver acts on: numbers, first, last, all, both, neither, all_but, comparison, other, another, previous, this,
these, it, them, its, there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .lexicon import Mark
from .words import Comparison


@dataclass(frozen=True)
class Phrase:
    """A stretch of the utterance that refers. `numbers` are 1-based, negative from the end; `nouns` the words it governs."""

    kind: str
    start: int
    end: int
    numbers: tuple[int, ...] = ()
    comparison: Comparison | None = None
    count: int = 0
    nouns: tuple[str, ...] = ()
    inner: tuple["Phrase", ...] = field(default=())
    explicit: bool = True
    negated: bool = False
    one: bool = False


_PENULTIMATE = {"last": -1, "penultimate": -2, "antepenultimate": -3}


def read_phrases(marks: Sequence[Mark], language: str) -> list[Phrase]:
    """Referring phrases from left to right; [] when the utterance points at nothing."""
    return _Reader(marks, language).read()


class _Reader:
    def __init__(self, marks: Sequence[Mark], language: str) -> None:
        self.marks = list(marks)
        self.language = language
        self.index = 0
        self.found: list[Phrase] = []

    def at(self, index: int) -> Mark:
        return self.marks[index] if 0 <= index < len(self.marks) else Mark("", 0, 0, frozenset({"end"}))

    def skip_punctuation(self, index: int, step: int = 1) -> Mark:
        while self.at(index).has("punctuation") and self.at(index).text not in "-–":
            index += step
        return self.at(index)

    def read(self) -> list[Phrase]:
        while self.index < len(self.marks):
            mark = self.marks[self.index]
            if mark.has("idiom"):
                self.index += 1
                continue
            for reader in (self._all_but, self._numbers, self._ordinals, self._comparison, self._groups, self._deictic):
                phrase = reader(mark)
                if phrase is not None:
                    self.found.append(self._negated(phrase))
                    break
            else:
                self.index += 1
        return self.found

    def _negated(self, phrase: Phrase) -> Phrase:
        before = [mark for mark in self.marks if mark.end <= phrase.start][-3:]
        stops = [
            place
            for place, mark in enumerate(before)
            if mark.has("punctuation") or mark.text in ("but", "just", ",", "pero", "אבל")
        ]
        before = before[stops[-1] + 1 :] if stops else before
        return replace(phrase, negated=any(mark.has("not") for mark in before)) if before else phrase

    def _span(self, first: int, last: int) -> tuple[int, int]:
        return self.marks[first].start, self.marks[min(last, len(self.marks)) - 1].end

    def _nouns(self, index: int) -> tuple[str, ...]:
        """Content words that follow a determiner, up to three."""
        words = []
        while index < len(self.marks) and len(words) < 3:
            mark = self.marks[index]
            if mark.has("one"):
                index += 1
                continue
            if not mark.text[:1].isalpha() or mark.has(
                "not", "and", "preposition", "polite", "idiom", "this", "these", "it", "the", "question"
            ):
                break
            words.append(mark.text)
            index += 1
        return tuple(words)

    # -- all but …

    def _all_but(self, mark: Mark) -> Phrase | None:
        if not mark.has("except"):
            return None
        before = self.marks[: self.index]
        group = [
            place
            for place, earlier in enumerate(before)
            if earlier.has("all", "both", "them", "these") or earlier.text in ("rest", "resto")
        ]
        if not group and any(not earlier.has("polite", "punctuation", "choose") for earlier in before):
            return None
        rest = _Reader(self.marks[self.index + 1 :], self.language)
        inner = [replace(phrase, explicit=True) for phrase in rest.read()] if rest.marks else []
        numbers = [phrase for phrase in inner if phrase.kind != "it" or not phrase.nouns]
        bare = rest.marks and rest.marks[0].has("cardinal") and not numbers
        if bare:
            first = rest.marks[0]
            numbers = [Phrase("numbers", first.start, first.end, (first.number("cardinal"),))]
        if not rest.marks:
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

    # -- numbers

    def _numbers(self, mark: Mark) -> Phrase | None:
        start = self.index
        if mark.has("label"):
            return self._number_list(start, start)
        if mark.has("marker"):
            following = self.at(start + 1)
            if following.text in ("#", ".", ":"):
                following, start = self.at(start + 2), start + 1
            if following.has("cardinal", "label") or (_letter(following) and self._ends(start + 2)):
                return self._number_list(start + 1, self.index)
            if following.has("ordinal") and self.language == "he":
                return self._number_list(start + 1, self.index)
            return None
        if mark.text == "no" and self.at(start + 1).has("digit") and self._ends(start + 2):
            return self._number_list(start + 1, start)
        if _letter(mark) and (
            self._letters_only() or self.at(start - 1).has("choose") and self.skip_punctuation(start + 1).has("end")
        ):
            return self._number_list(start, start)
        if mark.has("cardinal") and self._selects(start):
            return self._number_list(start, start)
        return None

    def _letters_only(self) -> bool:
        return len(self.marks) <= 4 and all(
            _letter(mark) or mark.has("and", "punctuation") or mark.text in ("please", "pls", "plz")
            for mark in self.marks
        )

    def _ends(self, index: int) -> bool:
        following = self.skip_punctuation(index)
        return following.has("end", "and", "polite", "range", "choose", "selects", "except", "question", "not", "there")

    def _selects(self, index: int) -> bool:
        """Whether a bare number picks an item: "save 2", "1 and 3", "2"; never "2 onions", "in 2 weeks", "at 3"."""
        mark, before, after = self.marks[index], self.at(index - 1), self.at(index + 1)
        if mark.number("cardinal") > 50:
            return False
        if not mark.has("digit") and (mark.has("one", "indefinite") or mark.text in ("tree", "uno", "nueve") and index):
            if not (len(self.marks) == 1 or before.has("and") and self.at(index - 2).has("cardinal")):
                last = index
                if not (after.has("and", "range") and self.at(last + 2).has("cardinal", "digit")):
                    return False
        if (
            self.language == "es"
            and not mark.has("digit")
            and before.text in ("la", "el")
            and after.has("end", "polite")
            and not mark.has("one")
            and not self.at(index - 2).has("preposition")
        ):
            return True
        if (
            before.has("labelled", "month")
            or after.has("month")
            or (after.has("of") and self.at(index + 2).has("month"))
        ):
            return False
        if after.text in ("+", "*", "=") or before.text in ("+", "*", "="):
            return False
        if after.text in ("$", "€", "₪", "%", ":", "/") or before.text in ("$", "€", "₪", "£", "/", ".", ":"):
            return False
        place = index + 1
        while (self.at(place).has("and", "range") or self.at(place).text in ",-–") and self.at(place + 1).has(
            "cardinal", "and"
        ):
            place += 1 if self.at(place + 1).has("and") and not self.at(place + 1).has("cardinal") else 2
        last = self.skip_punctuation(place)
        if last.has("unit") and not last.has("polite"):
            return False
        asked = mark.has("digit") and before.has("question") and len(self.marks) <= 6 and place == index + 1
        if (
            not asked
            and not last.has(
                "end", "polite", "not", "and", "confirm", "selects", "except", "question", "there", "choose"
            )
            and last.text not in ".,;!?)"
        ):
            return False
        earlier = self.skip_punctuation(index - 1, -1) if index else Mark("", 0, 0, frozenset({"end"}))
        if before.has("the", "these", "all", "last", "top", "both", "indefinite") and not mark.has("digit"):
            return False
        if before.has("the", "these", "all") and self.language != "es":
            return before.has("the") and after.has("end", "and")
        if earlier.has("end", "choose", "and", "confirm", "range") or before.text in ".,;!?(":
            return not (earlier.has("preposition") and not earlier.has("choose")) and not self._time_before(index)
        if mark.has("digit") and before.text in ("between", "entre", "בין") and place > index + 1:
            return True
        if mark.has("digit") and (
            before.text in ("with", "con", "what about", "how about", "on", "between", "entre")
            and last.has("end")
            or before.has("question")
            and len(self.marks) <= 6
        ):
            return True
        if before.has("preposition", "unit", "weekday"):
            return False
        if before.has("revise") or self._revises(index):
            return False
        return len(self.marks) <= 6 and mark.has("digit") and before.text not in ("it", "is", "are", "be", "of", "for")

    def _time_before(self, index: int) -> bool:
        before = self.at(index - 1)
        if before.text in ("for", "para") and not self._any_before(index, ("recipe", "details", "info", "go")):
            return True
        return before.text in ("at", "in", "by", "a", "en", "ב", "בשעה") and self.language != "xx"

    def _any_before(self, index: int, words: tuple[str, ...]) -> bool:
        return any(word in mark.text.split() for mark in self.marks[:index] for word in words)

    def _revises(self, index: int) -> bool:
        return any(mark.text in ("make it", "make", "change", "cambia", "ponlo") for mark in self.marks[:index])

    def _number_list(self, index: int, first: int) -> Phrase:
        numbers: list[int] = []
        last = index
        while True:
            mark = self.at(index)
            if mark.has("marker") and self.at(index + 1).has("cardinal", "label"):
                index += 1
                mark = self.at(index)
            value = self._value(mark)
            if value is None:
                break
            numbers.append(value)
            last = index + 1
            index += 1
            if (
                self.at(index).has("range")
                and self.at(index).text not in (",",)
                and self._value(self._past_marker(index + 1)) is not None
            ):
                end = self._value(self._past_marker(index + 1)) or value
                if value < end <= value + 50:
                    numbers.extend(range(value + 1, end + 1))
                    index += 2 if self.at(index + 1).has("cardinal", "label") else 3
                    last = index
            joined = False
            while self.at(index).has("and") or self.at(index).text in (",", "&", "/", "y el", "y la"):
                index += 1
                joined = True
            if self.at(index).has("the") and joined:
                index += 1
            if not joined and not self.at(index).has("label", "digit"):
                break
        self.index = last
        start, end = self._span(first, last)
        return Phrase("numbers", start, end, tuple(dict.fromkeys(numbers)), nouns=self._nouns(last))

    def _past_marker(self, index: int) -> Mark:
        return self.at(index + 1) if self.at(index).has("marker") else self.at(index)

    @staticmethod
    def _value(mark: Mark) -> int | None:
        for kind in ("label", "cardinal", "ordinal"):
            if mark.has(kind):
                return mark.number(kind)
        return ord(mark.text) - 96 if _letter(mark) else None

    # -- ordinals

    def _ordinals(self, mark: Mark) -> Phrase | None:
        start = self.index
        if mark.has("cardinal") and self.at(start + 1).has("last") and not self.at(start + 1).has("idiom"):
            self.index += 2
            return Phrase(
                "last", *self._span(start, self.index), count=mark.number("cardinal"), nouns=self._nouns(self.index)
            )
        if (
            mark.has("cardinal")
            and self.at(start + 1).has("ordinal")
            and self.at(start + 1).number("ordinal") == 1
            and mark.number("cardinal") < 20
            and self.language != "en"
        ):
            self.index += 2
            return Phrase(
                "first", *self._span(start, self.index), count=mark.number("cardinal"), nouns=self._nouns(self.index)
            )
        if (
            mark.has("both")
            and self.language == "es"
            and self.at(start + 1).has("last", "ordinal")
            and mark.text in ("los dos", "las dos")
        ):
            self.index += 2
            kind = "last" if self.at(start + 1).has("last") else "first"
            return Phrase(kind, *self._span(start, self.index), count=2, nouns=self._nouns(self.index))
        if mark.has("top") and self.at(start + 1).has("cardinal"):
            self.index += 2
            return Phrase(
                "first",
                *self._span(start, self.index),
                count=self.at(start + 1).number("cardinal"),
                nouns=self._nouns(self.index),
            )
        if not mark.has("ordinal", "last", "penultimate", "antepenultimate", "middle"):
            return None
        if mark.has("ordinal") and not self._is_ordinal(start):
            return None
        if mark.has("middle") and not (
            self.at(start + 1).has("one", "end", "polite")
            and self.at(start - 1).has("the", "end", "choose")
            or mark.text != "middle"
            and mark.has("middle")
        ):
            return None
        if mark.has("last") and (
            self.at(start + 1).has("unit", "weekday") or self.language == "en" and self.at(start - 1).text in ("at",)
        ):
            return None
        after = self.at(start + 1)
        if mark.has("ordinal") and after.has("comparison") and _superlative(after.text, self.language):
            value = after.values["comparison"]
            assert isinstance(value, Comparison)
            self.index += 2
            return Phrase(
                "comparison",
                *self._span(start, self.index),
                comparison=value,
                numbers=(mark.number("ordinal"),),
                nouns=self._nouns(self.index),
            )
        count_at = start + 1
        if self.at(count_at).has("cardinal") and not self.at(count_at).has("one") and not mark.has("middle"):
            count = self.at(count_at).number("cardinal")
            self.index += 2
            if mark.has("last"):
                return Phrase("last", *self._span(start, self.index), count=count, nouns=self._nouns(self.index))
            if mark.has("ordinal") and mark.number("ordinal") == 1:
                return Phrase("first", *self._span(start, self.index), count=count, nouns=self._nouns(self.index))
        numbers: list[int] = []
        index = last = start
        while True:
            current = self.at(index)
            value = self._ordinal_value(current)
            if value is None:
                break
            numbers.append(value)
            index += 1
            last = index
            if self.at(index).has("one") and not self.at(index).has("cardinal") or self.at(index).text == "one":
                index += 1
                last = index
            joined = False
            while self.at(index).has("and") or self.at(index).text in (",", "&", "y el", "y la"):
                index += 1
                joined = True
            if joined:
                while self.at(index).has("the") or self.at(index).text in ("את", "the"):
                    index += 1
            else:
                break
        self.index = last
        nouns = self._nouns(last)
        return Phrase(
            "numbers",
            *self._span(start, last),
            numbers=tuple(dict.fromkeys(numbers)),
            nouns=nouns,
            one=self.at(last - 1).has("one"),
        )

    def _ordinal_value(self, mark: Mark) -> int | None:
        if mark.has("middle"):
            return 0
        for kind, value in _PENULTIMATE.items():
            if mark.has(kind):
                return value
        return mark.number("ordinal") if mark.has("ordinal") else None

    def _is_ordinal(self, index: int) -> bool:
        mark, before, after = self.marks[index], self.at(index - 1), self.at(index + 1)
        if after.has("unit") and not after.has("polite", "preposition"):
            return False
        if after.has("of") and self.at(index + 2).has("month", "unit") or before.has("month") or after.has("month"):
            return False
        if self.language == "he":
            return mark.definite or before.has("marker") or len(self.marks) <= 2
        if mark.text[:1].isdigit():
            dated = (
                after.text in ("of", "de")
                or before.has("weekday")
                or self.at(index - 2).has("weekday")
                or self.at(index - 2).has("preposition")
                and before.has("the")
            )
            return after.has("one", "marker") or not dated and before.has("the", "end", "choose", "and", "confirm")
        if (
            self.language == "en"
            and not before.has(
                "the", "end", "choose", "and", "this", "its", "punctuation", "confirm", "range", "except", "all", "not"
            )
            and not after.has("one", "marker")
        ):
            return False
        if before.has("indefinite"):
            return False
        if (
            mark.text in ("first",)
            and not before.has("the")
            and not after.has("one", "marker", "cardinal", "and", "end")
            and index == 0
        ):
            return False
        if mark.text == "second" and before.text in ("a", "one", "this", "just a"):
            return False
        return not (
            self.language == "es"
            and not before.has(
                "the", "end", "choose", "and", "this", "range", "except", "all", "punctuation", "preposition", "of"
            )
        )

    # -- comparisons

    def _comparison(self, mark: Mark) -> Phrase | None:
        if not mark.has("comparison"):
            return None
        start = self.index
        before, earlier = self.at(start - 1), self.at(start - 2)
        value = mark.values["comparison"]
        assert isinstance(value, Comparison)
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
        superlative = _superlative(mark.text, self.language)
        pointed = (
            before.has("the", "one", "this", "this", "these", "its", "cardinal")
            or after.has("one")
            or mark.definite
            or earlier.has("the")
        )
        asked = any(word.has("question") for word in self.marks[:start])
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
            *self._span(start, self.index),
            comparison=value,
            count=count,
            nouns=self._nouns(self.index),
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
                return Phrase(kind, *self._span(start, self.index), count=count, nouns=self._nouns(self.index))
        if mark.has("another", "other"):
            definite = self.at(start - 1).has("the", "this", "its") or mark.text.startswith("the ") or mark.definite
            self.index += 1
            one = self.at(self.index).has("one")
            if one:
                self.index += 1
            kind = "other" if definite else "another"
            return Phrase(kind, *self._span(start, self.index), nouns=self._nouns(self.index), one=one)
        return None

    # -- this, those, it, them, its

    def _deictic(self, mark: Mark) -> Phrase | None:
        start = self.index
        if mark.has("these"):
            self.index += 1
            count = 0
            if self.at(self.index).has("cardinal"):
                count = self.at(self.index).number("cardinal")
                self.index += 1
            return Phrase("these", *self._span(start, self.index), count=count, nouns=self._nouns(self.index))
        if (
            mark.has("previous")
            and self.at(start - 1).has("the", "one", "this", "from")
            or mark.has("previous")
            and mark.definite
        ):
            self.index += 1
            return Phrase("previous", *self._span(start, self.index), nouns=self._nouns(self.index))
        if mark.has("this"):
            self.index += 1
            if self.at(self.index).has("one"):
                self.index += 1
                return Phrase("this", *self._span(start, self.index), nouns=self._nouns(self.index), one=True)
            return Phrase("this", *self._span(start, self.index), nouns=self._nouns(self.index))
        for kind in ("its", "their", "there", "them", "it"):
            if mark.has(kind):
                self.index += 1
                return Phrase(
                    kind,
                    *self._span(start, self.index),
                    nouns=self._nouns(self.index) if kind in ("its", "their") else (),
                )
        counted = self.at(start + 1)
        if (
            mark.has("the")
            and counted.has("cardinal")
            and not counted.has("one", "unit")
            and (self.language == "en" or mark.text in ("los", "las"))
            and not self.at(start - 1).has("preposition")
        ):
            if self.at(start + 2).has("unit"):
                return None
            self.index += 2
            return Phrase(
                "these",
                *self._span(start, self.index),
                count=self.at(start + 1).number("cardinal"),
                nouns=self._nouns(self.index),
                explicit=False,
            )
        return None


def _letter(mark: Mark) -> bool:
    return len(mark.text) == 1 and "a" <= mark.text <= "j"


def _superlative(text: str, language: str) -> bool:
    if language == "en":
        return any(
            word.endswith("est") or word in ("most", "least", "best", "worst", "fewest", "lowest", "highest")
            for word in text.split()
        )
    if language == "he":
        return text.startswith("הכי") or "ביותר" in text
    return text.startswith(("mas ", "menos ", "mejor", "peor", "mayor", "menor"))
