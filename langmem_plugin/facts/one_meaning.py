"""What is left of a text where two texts say one thing of somebody in other words."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from langmem_plugin.facts.meaning_phrases import ONE_MEANING

_GAP: Final = "…"
_LONGEST_GAP: Final = 5


def shared(one: tuple[str, ...], other: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Each meaning that both say, with what is left of the two when its words are taken out of them."""
    for name in ONE_MEANING:
        rest, left = without(one, name), without(other, name)
        if rest is not None and left is not None:
            yield name, rest, left


def without(said: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """The words but those that say the meaning; None where nothing says it."""
    gone: set[int] = set()
    kept = list(said)
    for phrase in _longest_first(name):
        for at in range(len(said)):
            found = _found(kept, at, phrase)
            if found and gone.isdisjoint(found):
                gone |= found
    if not gone:
        return None
    return tuple(word for place, word in enumerate(kept) if place not in gone)


def _found(said: list[str], at: int, phrase: tuple[str, ...]) -> frozenset[int]:
    """The places of the words of `phrase` from `at` on; a Hebrew letter is taken off the word it is written onto."""
    places: list[int] = []
    place = at
    for number, word in enumerate(phrase):
        if word == _GAP:
            continue
        if number and phrase[number - 1] == _GAP:
            ahead = range(place + 1, min(place + 1 + _LONGEST_GAP, len(said)))
            place = next((each for each in ahead if said[each] == word), len(said))
        if place >= len(said):
            return frozenset()
        if len(word) == 1 and "\u05d0" <= word <= "\u05ea" and number:
            if not said[place].startswith(word) or len(said[place]) < 3:
                return frozenset()
            said[place] = said[place][1:]
            continue
        if said[place] != word:
            return frozenset()
        places.append(place)
        place += 1
    return frozenset(places)


@cache
def _longest_first(name: str) -> tuple[tuple[str, ...], ...]:
    return tuple(sorted(ONE_MEANING[name], key=len, reverse=True))
