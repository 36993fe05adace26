"""What a person said, read once: its words with their grammatical kinds, its phrases, its words and values."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from langmem_plugin.cached_property import cached_property
from langmem_plugin.references.said.amounts import limited
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.phrase_reader import read_phrases
from langmem_plugin.references.said.pointing_words import pointing
from langmem_plugin.references.said.requests import asks_of_the_world
from langmem_plugin.references.said.tagger import Mark, marked
from langmem_plugin.references.text.atoms import atoms, word_atoms
from langmem_plugin.references.text.said_values import said_values
from langmem_plugin.references.text.tokens import is_stop, normal, stem, words_of
from langmem_plugin.references.text.values import Value
from langmem_plugin.references.words import word_set
from langmem_plugin.references.words.time_and_money import MEASURES

NEAR = 40
"""Letters between two words that are still quoted as one stretch."""


_BETWEEN = word_set("between|from|entre|desde|de|del|בין|מ")
_AND = word_set("and|n|&|to|thru|through|until|till|-|–|y|e|a|al|hasta|y el|y las|a las|עד|ל|ו|and the|to the")
_SIGNS = " $€£₪"
_UNITS = {unit for _, unit in MEASURES.values()} | {"percent"}
_UP_TO = word_set("to|thru|through|hasta|עד")
_FIGURE = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
_OR_LESS, _OR_MORE = (
    re.compile(rf"\s{{0,3}}(?:{words})(?!\w)", re.IGNORECASE)
    for words in (
        "or less|or under|or fewer|or below|or cheaper|or before|or earlier|or sooner|or shorter|or quicker|or faster|or smaller|or closer|max|tops|at most|o menos|como mucho|או פחות|מקסימום",
        "or more|or over|or above|or after|or later|or longer|or bigger|or larger|or up|and up|and over|at least|o mas|o más|como minimo|או יותר|ומעלה|לפחות",
    )
)


@dataclass(frozen=True)
class Stretch:
    """Where a value is said, in all its readings; `side` is 1 where it is the least, -1 the most, `upto` the other end;
    what is `strict` is itself too little or too much.
    """

    span: tuple[int, int]
    values: list[Value]
    side: int = 0
    upto: Value | None = None
    strict: bool = False


class Utterance:
    """`known` are words of the items shown, which are never taken for typos; `lettered` says that letters stand beside
    them.
    """

    def __init__(self, text: str, known: frozenset[str] = frozenset(), *, lettered: bool = False) -> None:
        self.text = text
        self.known = known
        self.marks, self.language = marked(text, known)
        phrases = read_phrases(self.marks, self.language.name, lettered=lettered)
        self.phrases = [
            part
            for phrase in phrases
            if not self._describes(phrase, known) and not self._limits(phrase)
            for part in self._parts(phrase)
        ]

    def _describes(self, phrase: Phrase, known: frozenset[str]) -> bool:
        """As "small" does where one is called so, and "menos" in "las doce menos cuarto": it compares nothing."""
        if phrase.kind not in ("comparison", "all_but"):
            return False
        timed = (stretch.span for stretch in self.stretches if any(value.kind == "time" for value in stretch.values))
        inside = any(start < phrase.start < end for start, end in timed)
        return inside or stem(normal(self.words(phrase))) in known

    def _limits(self, phrase: Phrase) -> bool:
        """As "40 to 50 euros" and "before the tenth" do: no places of a list, but for "the one before the tenth"."""
        return phrase.kind == "numbers" and any(
            (stretch.side or stretch.upto)
            and stretch.span[0] < phrase.end
            and phrase.start < stretch.span[1]
            and any(value.unit in _UNITS or value.kind in ("money", "duration", "date") for value in stretch.values)
            and not any(mark.has("one") for mark in self.before(phrase.start, 3))
            for stretch in self.stretches
        )

    def _parts(self, phrase: Phrase) -> list[Phrase]:
        """As in "not 2, 3": the first number is turned down, the others are meant instead."""
        cut = self.text.find(",", phrase.start, phrase.end)
        if phrase.kind != "numbers" or not phrase.negated or len(phrase.numbers) < 2 or cut < 0:
            return [phrase]
        first = replace(phrase, end=cut, numbers=phrase.numbers[:1])
        return [first, replace(phrase, start=cut + 1, numbers=phrase.numbers[1:])]

    def has(self, *kinds: str) -> bool:
        """Whether a word of one of these kinds was said."""
        return any(mark.has(*kinds) for mark in self.marks)

    def words(self, phrase: Phrase) -> str:
        return self.text[phrase.start : phrase.end].strip()

    def before(self, place: int, count: int) -> list[Mark]:
        """The last few marks that end at or before a place in the text."""
        return [mark for mark in self.marks if mark.end <= place][-count:]

    def quote(self, evidence: Collection[str]) -> str:
        """The stretch that holds the words of some evidence; the whole utterance when none does."""
        told = [
            mark
            for mark in self.marks
            if any(word in evidence or stem(word) in evidence for word in words_of(mark.text))
            or word_atoms(mark.text) & set(evidence)
        ]
        if not told:
            return self.text.strip()
        last = next((mark for mark in reversed(told) if mark.start - told[0].end < NEAR), told[0])
        return self.text[told[0].start : last.end]

    @cached_property
    def atoms(self) -> frozenset[str]:
        return atoms(self.text)

    @cached_property
    def values(self) -> list[Value]:
        """The times, dates, durations, amounts and quantities said, with where."""
        return said_values(self.text)

    @cached_property
    def stretches(self) -> list["Stretch"]:
        """Where values are said, in order, with what they limit; "between 3 and 5" is one stretch."""
        readings: dict[tuple[int, int], list[Value]] = {}
        for value in self.values:
            readings.setdefault(value.span, []).append(value)
        spans = sorted(readings)
        found: list[Stretch] = []
        place = 0
        while place < len(spans):
            span, after = spans[place], spans[place + 1] if place + 1 < len(spans) else None
            ranged = self._range(readings[span], readings[after]) if after is not None else None
            if ranged is not None:
                found.append(ranged)
                place += 2
                continue
            values = readings[span]
            if (both := _both_ends(values)) is not None:
                found.append(both)
                place += 1
                continue
            clocked = any(value.kind in ("time", "date") for value in values)
            starts = [span[0], *(mark.start for mark in self.marks if span[0] < mark.start < span[1])]  # "before two"
            limits = (limited(self.before(start, 3), clocked=clocked) for start in starts)
            side, strict = next((limit for limit in limits if limit[0]), (0, False))
            behind = _OR_LESS.match(self.text, span[1]) or _OR_MORE.match(self.text, span[1])
            if behind is not None:
                side, strict = -1 if behind.re is _OR_LESS else 1, False
            found.append(Stretch((span[0], behind.end() if behind else span[1]), values, side, strict=strict))
            place += 1
        return found

    def _range(self, first: Sequence[Value], last: Sequence[Value]) -> "Stretch | None":
        """As in "between monday and friday"."""
        opened = self.before(first[0].span[0], 1)
        figure = _FIGURE.search(self.text, *last[0].span)  # of "ל 100" too
        joint = self.text[first[0].span[1] : figure.start() if figure else last[0].span[0]].strip(_SIGNS).lower()
        if joint not in _AND or not ((opened and opened[0].text in _BETWEEN) or joint in _UP_TO):
            return None
        for value in (*first, *_as_measured(first, last, self.text)):
            upto = next((other for other in last if (other.kind, other.unit) == (value.kind, value.unit)), None)
            if upto is not None and upto.amount >= value.amount:
                return Stretch((value.span[0], upto.span[1]), [value], 1, upto)
        return None

    @cached_property
    def pointing(self) -> float:
        """Log odds, by the words alone, that something shown is meant."""
        return pointing(self.marks, self.language.name, self.known)

    @cached_property
    def of_the_world(self) -> bool:
        """Whether it asks of the world, whatever is called so: "who was noether"."""
        return asks_of_the_world(self.text)

    @cached_property
    def wanted_marks(self) -> list[Mark]:
        """The words of the clauses that ask for something, without those of "no, don't …"."""
        return _wanted(self.marks)

    @cached_property
    def definite_nouns(self) -> list[tuple[str, ...]]:
        """Noun groups that a definite word introduces: "the rental car from before", "that place"."""
        found = []
        marks = self.wanted_marks
        for index, mark in enumerate(marks):
            if mark.has("the", "this", "these") or mark.definite or mark.text in ("your", "our"):
                words = [mark.text] if mark.definite else []
                for following in marks[index + 1 : index + 5]:
                    if (
                        following.has("punctuation", "not", "preposition")
                        or not following.text[:1].isalpha()
                        or is_stop(following.text)
                    ):
                        break
                    words.append(following.text)
                if words:
                    found.append(tuple(words))
        return found


def _both_ends(values: Sequence[Value]) -> Stretch | None:
    """As "40 to 50 euros" is, one phrase of two amounts."""
    first, *others = values
    last = next((each for each in others if (each.kind, each.unit) == (first.kind, first.unit)), None)
    if last is None or last.amount <= first.amount or first.kind not in ("money", "quantity", "duration"):
        return None
    return Stretch(first.span, [first], 1, last)


def _as_measured(first: Sequence[Value], last: Sequence[Value], text: str) -> list[Value]:
    """As "85" in "85 to 100 minutes": in the measure of the other end."""
    bare = next((value for value in first if value.kind == "quantity" and not value.unit), None)
    if bare is None:
        return []
    figure = _FIGURE.search(text, *last[0].span)
    measured = [value for value in last if value.unit or value.kind in ("duration", "money")]
    if figure is not None and float(figure[0]):
        return [
            replace(value, amount=bare.amount * value.amount / float(figure[0]), span=bare.span) for value in measured
        ]
    whole = (value for value in measured if value.kind != "duration" and value.amount >= bare.amount)
    return [replace(value, amount=bare.amount, span=bare.span) for value in whole]


def _wanted(marks: Sequence[Mark]) -> list[Mark]:
    clauses: list[list[Mark]] = [[]]
    for mark in marks:
        if mark.text in (",", ".", ";", "!", "?", "but", "just", "pero", "אבל"):
            clauses.append([])
        clauses[-1].append(mark)
    answer = marks[0] if marks and marks[0].text == "no" else None
    kept = [clause for clause in clauses if not any(mark.has("not") and mark is not answer for mark in clause)]
    flat = [mark for clause in kept for mark in clause if mark is not answer]
    return flat if any(mark.text[:1].isalpha() for mark in flat) else []
