"""A phrase: a stretch of an utterance that refers to something, of which kind; and where phrases are cut out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.words import Comparison


@dataclass(frozen=True)
class Phrase:
    """A stretch of the utterance that refers, from letter `start` to `end`.

    Kinds: numbers, first, last, all, both, neither, all_but, comparison, other, another, previous, this, these, it,
    them, its, their, there. `numbers` are 1-based, negative from the end; `nouns` the words it governs.
    """

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
    lettered: bool = False


_FARTHEST_NOUN, _LONGEST_JOINT = 6, 6
"""Marks that are looked through, so that a long text of one word takes no longer than another."""
_END = Mark("", 0, 0, {"end": 0})
_BREAKS = frozenset((",", "but", "just", "pero", "אבל"))
_NO_NOUN = ("not", "and", "preposition", "polite", "idiom", "this", "these", "it", "the", "question")
_LETTERS = {letter: number for alphabet in ("abcdefghij", "אבגדהוזחטי") for number, letter in enumerate(alphabet, 1)}


class Cursor:
    """The marks of one utterance and the place `index` where they are being read; shared by the readers of phrases."""

    def __init__(self, marks: Sequence[Mark], language: str, *, lettered: bool = False) -> None:
        self.marks = marks
        self.language = language
        self.lettered = lettered
        """Whether what was shown has letters beside it."""
        self.index = 0

    def at(self, place: int) -> Mark:
        return self.marks[place] if 0 <= place < len(self.marks) else _END

    def near(self, offset: int) -> Mark:
        """The mark some places after the one being read, or before it."""
        return self.at(self.index + offset)

    def skip_punctuation(self, place: int, step: int = 1) -> Mark:
        while self.at(place).has("punctuation") and self.at(place).text not in "-–":
            place += step
        return self.at(place)

    def past_joint(self, place: int) -> int:
        """Where a list goes on, behind "and the"; the same place where it ends."""
        goes_on, farthest = place, place + _LONGEST_JOINT
        while goes_on < farthest and (
            self.at(goes_on).joins or self.at(goes_on).text == "/" or (goes_on > place and self.at(goes_on).text == "-")
        ):
            goes_on += 1
        while place < goes_on < farthest and (self.at(goes_on).has("the") or self.at(goes_on).text == "את"):
            goes_on += 1
        return goes_on

    def nouns(self, place: int) -> tuple[str, ...]:
        """Content words that follow a determiner, up to three."""
        words: list[str] = []
        for mark in self.marks[place : place + _FARTHEST_NOUN]:
            if mark.has("one"):
                continue
            if len(words) == 3 or not mark.text[:1].isalpha() or mark.has(*_NO_NOUN):
                break
            words.append(mark.text)
        return tuple(words)

    def take(self, kind: str, size: int, **details: Any) -> Phrase:
        """The phrase of the next few marks, with the nouns that it governs; reading goes on behind it."""
        return self.cut(kind, self.index, self.index + size, **details)

    def cut(self, kind: str, first: int, last: int, **details: Any) -> Phrase:
        """The phrase from a mark up to another, exclusive; reading goes on behind it."""
        self.index = last
        start, end = self.marks[first].start, self.marks[last - 1].end
        return Phrase(kind, start, end, negated=self._negated(first, last), **{"nouns": self.nouns(last), **details})

    def _negated(self, first: int, last: int) -> bool:
        if self.language == "es" and self.at(last).text == "no":
            return True
        for place in range(first - 1, max(first - 4, -1), -1):
            mark = self.marks[place]
            if mark.has("punctuation") or mark.text in _BREAKS:
                return False
            # A leading "no" answers; it turns nothing down: "no the second one".
            if mark.has("not") and not (mark.text == "no" and place == 0 and self.language == "en"):
                return True
        return False

    @cached_property
    def first_question(self) -> int:
        """The place of the first word that asks; past the end where none does."""
        return next((place for place, mark in enumerate(self.marks) if mark.has("question")), len(self.marks))


def letter_number(mark: Mark) -> int | None:
    """1 of "a" or "א", up to 10; None where it is no such letter."""
    return _LETTERS.get(mark.text.rstrip("'"))
