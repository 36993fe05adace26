"""A question in other words: with the names that mean the same in place of those that were said."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from langmem_plugin.memory.find.tokenizer import HEBREW_PREFIXES, words_of

MOST = 6
"""Other wordings of one question."""

Groups = tuple[tuple[str, ...], ...]
"""Names that mean the same, the full one first."""

_MOST_PLACES = 3  # of a question in which names are looked at
_MOST_OTHERS = 3  # names for one that was said
_SHORTEST = 2  # letters of a name behind a prefix
_MARKS = str.maketrans("", "", "'\"׳״")  # of Hebrew abbreviations, which are typed in several ways


@dataclass(frozen=True)
class Wording:
    """The whole question, and which names were taken for each other, as "k8s = Kubernetes"."""

    text: str
    aliases: tuple[str, ...]


def by_aliases(question: str, groups: Groups) -> list[Wording]:
    """`groups` are names that mean the same, the full one first."""
    words = words_of(question)
    places: list[tuple[int, int, list[str], str]] = []
    for group in groups:
        for said in group:
            for at, length in _found(words, words_of(said)):
                others = [each for each in group if each != said][:_MOST_OTHERS]
                places.append((at, length, others, said))
    places.sort(key=lambda place: (place[0], -place[1]))
    apart = [one for one in places if not any(other is not one and _within(one, other) for other in places)]
    return _combined(words, apart[:_MOST_PLACES])


def as_meant(question: str, groups: Groups) -> str:
    """The question as its meaning is compared: with the full names behind it, where others were said."""
    return with_full_names(question, by_aliases(question, groups), groups) if groups else question


def with_full_names(question: str, wordings: Sequence[Wording], groups: Groups) -> str:
    """`as_meant`, with the other wordings known."""
    full = {f"{said} = {group[0]}": group[0] for group in groups for said in group[1:]}
    said = dict.fromkeys(label for each in wordings for label in each.aliases)
    names = [full[label] for label in said if label in full]
    return f"{question} ({', '.join(names)})" if names else question


def _within(one: tuple[int, int, list[str], str], other: tuple[int, int, list[str], str]) -> bool:
    """True where a shorter name is only part of a longer one: "Levi" of "Dr. Levi"."""
    return other[1] > one[1] and other[0] <= one[0] and one[0] + one[1] <= other[0] + other[1]


def _found(words: Sequence[str], name: Sequence[str]) -> list[tuple[int, int]]:
    """(where, how many words) the name stands: whole words, a Hebrew one also behind a prefix."""
    if not name:
        return []
    words, name = [each.translate(_MARKS) for each in words], [each.translate(_MARKS) for each in name]
    return [
        (at, len(name))
        for at in range(len(words) - len(name) + 1)
        if words[at + 1 : at + len(name)] == name[1:] and (words[at] == name[0] or name[0] in _unprefixed(words[at]))
    ]


def _combined(words: Sequence[str], places: Sequence[tuple[int, int, list[str], str]]) -> list[Wording]:
    """Each name by itself, and where there are several, the first for all of them together."""
    made: dict[str, Wording] = {}
    together = []
    for place in places:
        for other in place[2]:
            one = _replaced(words, [(place, other)])
            made.setdefault(one.text, one)
        together.append((place, place[2][0]))
    overlaps = any(left[0] + left[1] > right[0] for left, right in pairwise(places))
    if len(together) > 1 and not overlaps:
        both = _replaced(words, together)
        made = {both.text: both, **made}
    return list(made.values())[:MOST]


def _replaced(words: Sequence[str], chosen: Sequence[tuple[tuple[int, int, list[str], str], str]]) -> Wording:
    text, labels = list(words), []
    for (at, length, _, said), other in sorted(chosen, key=lambda each: -each[0][0]):
        text[at : at + length] = [other]
        labels.append(f"{said} = {other}")
    return Wording(" ".join(text), tuple(reversed(labels)))


def _unprefixed(word: str) -> list[str]:
    """The rests of a Hebrew word without one or two first letters that may be a prefix."""
    return [word[size:] for size in (1, 2) if len(word) - size >= _SHORTEST and HEBREW_PREFIXES.issuperset(word[:size])]
