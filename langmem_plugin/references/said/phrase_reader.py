"""The referring phrases of an utterance, by grammar alone, before anyone looks at the items."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from langmem_plugin.references.said.comparison_phrases import ComparisonPhrases
from langmem_plugin.references.said.cursor import Cursor, marks_before
from langmem_plugin.references.said.group_phrases import GroupPhrases
from langmem_plugin.references.said.number_phrases import NumberPhrases
from langmem_plugin.references.said.ordinal_phrases import OrdinalPhrases
from langmem_plugin.references.said.phrase import Phrase
from langmem_plugin.references.said.pronoun_phrases import PronounPhrases
from langmem_plugin.references.said.tagger import Mark

_EVERY = ("rest", "resto", "anything", "cualquiera", "anyone", "everyone", "everybody", "todos", "todas")


def read_phrases(marks: Sequence[Mark], language: str) -> list[Phrase]:
    """Referring phrases from left to right; [] when the utterance points at nothing."""
    return _read(Cursor(marks, language), exceptions=True)


def _read(cursor: Cursor, *, exceptions: bool) -> list[Phrase]:
    """Each reader is asked at each place, the surest first; `exceptions` says whether "all but …" is read."""
    readers = [
        kind(cursor).read for kind in (NumberPhrases, OrdinalPhrases, ComparisonPhrases, GroupPhrases, PronounPhrases)
    ]
    found: list[Phrase] = []
    while cursor.index < len(cursor.marks):
        mark = cursor.marks[cursor.index]
        if mark.has("idiom", "greeting"):
            cursor.index += 1
            continue
        exception = _all_but(cursor, mark) if exceptions else None
        if exception is not None:
            of_the_group = ("all", "both", "them", "these")
            found = [phrase for phrase in found if phrase.kind not in of_the_group or phrase.end <= exception.start]
            found.append(_with_negation(exception, cursor))
            continue
        phrase = next((phrase for read in readers if (phrase := read(mark)) is not None), None)
        if phrase is not None:
            found.append(_with_negation(phrase, cursor))
        else:
            cursor.index += 1
    return found


def _with_negation(phrase: Phrase, cursor: Cursor) -> Phrase:
    before = marks_before(cursor.marks, phrase.start, 3)
    stops = [
        place
        for place, mark in enumerate(before)
        if mark.has("punctuation") or mark.text in ("but", "just", ",", "pero", "אבל")
    ]
    before = before[stops[-1] + 1 :] if stops else before
    # A leading "no" answers; it turns nothing down: "no the second one".
    negated = any(
        mark.has("not") and not (mark.text == "no" and mark is cursor.marks[0] and cursor.language == "en")
        for mark in before
    )
    following = bisect_left(cursor.marks, phrase.end, key=lambda mark: mark.start)
    trailing = cursor.language == "es" and cursor.at(following).text == "no"
    return replace(phrase, negated=negated or trailing)


def _all_but(cursor: Cursor, mark: Mark) -> Phrase | None:
    """As in "all but the first": what stands after the exception is its `inner` phrases. Reads to the end."""
    if not mark.has("except"):
        return None
    before, rest = cursor.marks[: cursor.index], cursor.marks[cursor.index + 1 :]
    group = [
        place
        for place, earlier in enumerate(before)
        if earlier.has("all", "both", "them", "these") or earlier.text in _EVERY
    ]
    if not group and any(not earlier.has("polite", "punctuation", "choose") for earlier in before):
        return None
    if not rest or (mark.text == "skip" and not any(later.text == "rest" for later in rest)):
        return None
    inner = [replace(phrase, explicit=True) for phrase in _read(Cursor(rest, cursor.language), exceptions=False)]
    left_out = [phrase for phrase in inner if phrase.kind != "it" or not phrase.nouns]
    if rest[0].has("cardinal") and not left_out:
        left_out = [Phrase("numbers", rest[0].start, rest[0].end, (rest[0].number("cardinal"),))]
    cursor.index = len(cursor.marks)
    nouns = tuple(word.text for word in rest if word.text[:1].isalpha() or word.text[:1].isdigit())
    start = before[group[0]].start if group else mark.start
    return Phrase("all_but", start, rest[-1].end, inner=tuple(left_out), nouns=nouns)
