"""What items are numbered by, said whole or by its end: "cr-0871", "0455", "the one ending in 47"."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from langmem_plugin.references.said.number_phrases import ENDING
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.said.utterance import Utterance
from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.shown_list import ShownList

_SHORTEST, _FEWEST_DIGITS = 2, 3
_APART = frozenset(",.;:!?()")
_SIGNS = frozenset("$€£₪%+=")


def codes_said(
    marks: Sequence[Mark], utterance: Utterance, listed: ShownList, covered: AbstractSet[int]
) -> Iterator[tuple[str, tuple[float, ...], range]]:
    """The words, which items of a list they fit and their places, where they tell the items apart; none of the places
    `covered`.
    """
    measured = _measured(marks, utterance)
    place = 0
    while place < len(marks):
        start, place = place, _end_of_word(marks, place)
        places = range(start, place)
        code = "".join(letter for mark in marks[start:place] for letter in mark.text if letter.isalnum())
        if not any(map(str.isdigit, code)) or not covered.isdisjoint(places) or not measured.isdisjoint(places):
            continue
        by_end = any(mark.text in ENDING for mark in marks[max(start - 3, 0) : start]) or _tells_an_end(code)
        if not by_end and code.isdigit():
            continue
        fits = tuple(float(_is_coded(entry, code, by_end=by_end)) for entry in listed.entries)
        if 0 < sum(fits) < max(len(fits), 2):
            yield utterance.text[marks[start].start : marks[place - 1].end], fits, places


def digits_said(mark: Mark, listed: ShownList) -> tuple[float, ...]:
    """Which items end in some digits, or have them as a whole value: "the 14s", "in 33"; () where none does."""
    digits = mark.text.removesuffix("s").removesuffix("'")
    if len(digits) < _SHORTEST:
        return ()
    fits = tuple(
        float(digits in entry.digits or digits in entry.labels or any(code.endswith(digits) for code in entry.numbered))
        for entry in listed.entries
    )
    return fits if any(fits) else ()


def _end_of_word(marks: Sequence[Mark], place: int) -> int:
    """Behind the marks that are written together: "cr-0871"."""
    while place + 1 < len(marks) and marks[place].end == marks[place + 1].start and marks[place + 1].text not in _APART:
        place += 1
    return place + 1


def _is_coded(entry: ItemEntry, code: str, *, by_end: bool) -> bool:
    return any(each == code or (by_end and each.endswith(code)) for each in entry.coded)


def _tells_an_end(code: str) -> bool:
    """Whether it tells an id by its end, though nobody says that it is one: "0455", "419", "cr-08"; not "f2"."""
    digits = sum(map(str.isdigit, code))
    return digits >= _FEWEST_DIGITS or code[0] == "0" or _SHORTEST <= digits < len(code)


def _measured(marks: Sequence[Mark], utterance: Utterance) -> frozenset[int]:
    """The places of values with a unit of their own: "0.5 kg", "18:30", "$300"."""
    spans = sorted(value.span for value in utterance.values if value.unit or value.kind in ("money", "duration"))
    found = {place for place, mark in enumerate(marks) if ":" in mark.text}
    found |= {place + 1 for place, mark in enumerate(marks) if mark.text in _SIGNS} | {
        place for place, mark in enumerate(marks) if mark.text in _SIGNS
    }
    at = 0
    for place, mark in enumerate(marks):
        while at < len(spans) and spans[at][1] <= mark.start:
            at += 1
        if at < len(spans) and spans[at][0] < mark.end:
            found.add(place)
    return frozenset(found)
