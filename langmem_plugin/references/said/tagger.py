"""An utterance with every word marked by its grammatical kinds, from the language tables."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import cast

from langmem_plugin.references.said.lexicon import (
    Kinds,
    Value,
    corrected_form,
    has_enclitic,
    language_of,
    lexicon,
    look_up,
)
from langmem_plugin.references.text.tokens import Token, normal, stem, tokens
from langmem_plugin.references.words import Comparison, Language, word_set
from langmem_plugin.references.words.time_and_money import NUMBERS
from langmem_plugin.references.words.type_nouns import GROUPS, THING

_MOST_DIGITS = 100
_ORDINAL = re.compile(r"(\d{1,3})(?:st|nd|rd|th|1?[ºª°]|er|[rdtnvm][oa]|[ao])")


@dataclass
class Mark:
    """A word, or several read as one. `values` maps its kinds to the number, comparison or field names of each."""

    text: str
    start: int
    end: int
    values: Mapping[str, Value]
    definite: bool = False

    @property
    def kinds(self) -> AbstractSet[str]:
        return self.values.keys()

    def has(self, *kinds: str) -> bool:
        return bool(self.values) and not self.values.keys().isdisjoint(kinds)

    def number(self, kind: str) -> int:
        return cast("int", self.values[kind])

    @property
    def count(self) -> int:
        """What it counts, as "three" does; 0 where it counts nothing or is "one"."""
        return self.number("cardinal") if self.has("cardinal") and not self.has("one", "indefinite") else 0

    @property
    def comparison(self) -> Comparison:
        return cast("Comparison", self.values["comparison"])

    @property
    def joins(self) -> bool:
        """Whether it joins two items of a list, as "and" does."""
        return self.has("and") or self.text in ("y el", "y la")


def marked(text: str, known: frozenset[str] = frozenset()) -> tuple[list[Mark], Language]:
    """The utterance as marks, longest phrases first. Words in `known` (those of the items shown) are never
    taken for typos.
    """
    found = tokens(text)
    language = language_of(text, found)
    words = [token.text for token in found]
    if language.name == "es":
        words = ["de" if _is_de(words, place) else word for place, word in enumerate(words)]
    marks: list[Mark] = []
    index = 0
    while index < len(found):
        first = found[index]
        kinds, size, definite = look_up(words, index, language) or (None, 1, False)
        last = found[index + size - 1]
        written = text[first.start : last.end]
        if kinds is None:
            before_one = index + 1 < len(found) and words[index + 1] in ("one", "ones")
            kinds = _kinds(first, written, language, typos=first.text not in known, before_one=before_one)
            definite = not kinds and first.word and len(first.text) > 3 and first.text[:1] == language.articles[:1]
        elif language.name == "es" and "á" in written.lower():
            kinds = {kind: value for kind, value in kinds.items() if kind != "this"}  # "está" is a verb
        marks.append(Mark(first.text if size == 1 else normal(written), first.start, last.end, kinds, definite))
        index += size
    if language.name == "en":
        for place, mark in enumerate(marks):
            said = "one" if _is_one(marks, place) else "for" if _is_for(marks, place) else ""
            if said:
                marks[place] = Mark(said, mark.start, mark.end, lexicon(language).forms[(said,)])
    return marks, language


_POINTING = ("that", "this", "which", "another")
_POINTS, _REACH = ("the", "this", "these", "other"), 4
_NUMBERED = (
    "marker", "labelled", "unit", "month", "weekday", "cardinal", "ordinal", "and", "range", "punctuation", "letter",
    "choose", "question", "not", "confirm", "the", "this", "preposition", "of", "last", "revise",
)  # fmt: skip
"""Kinds of words behind which a 1 is a number."""


def _is_one(marks: Sequence[Mark], place: int) -> bool:
    """As the 1 is in "sell the elon 1", "the sold out 1", "any1"; not in "room 1", "the class 1", "the classes 1 and 2"."""
    if marks[place].text != "1" or place == 0:
        return False
    before = marks[place - 1]
    if before.end == marks[place].start:
        return before.text == "any"
    following = next((mark for mark in marks[place + 1 : place + 3] if mark.text != ","), None)
    if following is not None and following.has("and", "range", "cardinal", "digit"):
        return False  # "the classes 1 and 2"
    figure = before.has("digit") and len(before.text) > 1 and place > 1 and marks[place - 2].has("the")
    if before.text in _POINTING or figure:  # "the 180 1"
        return True
    if before.text.endswith("s") or stem(before.text) in GROUPS or stem(before.text) in THING:
        return False
    if before.has("comparison"):
        return True  # "tiniest 1"
    if before.has(*_NUMBERED) and before.text not in ("out", "up", "off"):
        return False
    return any(mark.has(*_POINTS) for mark in marks[max(place - _REACH, 0) : place])


_WHOM = word_set("the|which|me|my|us|our|him|her|his|them|these|those|this|that|who|a")


def _is_for(marks: Sequence[Mark], place: int) -> bool:
    """As the 4 is in "pay 4 the finished one", "need a pin 4 which"; not in "option 4 that we saw", "take 4 this time"."""
    before = marks[place - 1] if place else None
    numbered = before is None or before.has("marker", "labelled", "the", "and", "cardinal", "punctuation", "choose")
    return (
        marks[place].text == "4" and not numbered and any(mark.text in _WHOM for mark in marks[place + 1 : place + 2])
    )


def _is_de(words: Sequence[str], place: int) -> bool:
    """As "d" is in "menos d 20", "la d marta"; not in "la d", "la d y la e"."""
    following = words[place + 1] if place + 1 < len(words) else ""
    return words[place] == "d" and place > 0 and following[:1].isalnum() and len(following) > 1


def _kinds(token: Token, written: str, language: Language, *, typos: bool, before_one: bool) -> Kinds:
    """Those of a word that is in no table."""
    word = token.text
    if token.word:
        if len(word) == 1 and word.isascii():
            return {"letter": 0}
        if language.name == "es" and has_enclitic(written, word):
            return {"them" if word.endswith("s") else "it": 0, "enclitic": 0}
        typos = typos and word not in NUMBERS
        form = corrected_form(word, language, before_one=before_one) if typos else None
        return {} if form is None else lexicon(language).forms[(form,)]
    if _is_number(word.removeprefix("#")):
        return {"label": int(word[1:])} if word[0] == "#" else {"cardinal": int(word), "digit": 0}
    counted = _ORDINAL.fullmatch(word)
    if counted is not None:
        return {"ordinal": int(counted[1])}
    return {"value" if word[0].isdigit() else "punctuation": 0}


def _is_number(text: str) -> bool:
    """Whether all are digits, and no more of them than anybody counts or numbers with."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS
