"""Questions as they are searched for: in other names that mean the same; "phrases" and beginnings (choc*) literally."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeVar

from langmem_plugin.memory.find.tokenizer import (
    HEBREW_FINALS,
    HEBREW_PREFIXES,
    PlacedWord,
    asked,
    placed,
    stems_of,
    words_of,
)

MOST = 6
"""The most other wordings of one question."""

Groups = tuple[tuple[str, ...], ...]
"""Names that mean the same, the full one first."""

_MOST_PLACES = 3  # names of a question that are replaced
_MOST_OTHERS = 3  # other names for one that was said
_SHORTEST = 2  # letters of a name behind a prefix
_MARKS = str.maketrans("", "", "'\"׳״")  # the marks of Hebrew abbreviations, which are typed in several ways


@dataclass(frozen=True)
class Wording:
    """The whole question in other words, and the names that were taken for each other, as "k8s = Kubernetes"."""

    text: str
    aliases: tuple[str, ...]


def by_aliases(question: str, groups: Groups) -> list[Wording]:
    """Return the other wordings of a question; `groups` are names that mean the same, the full one first."""
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
    """Return the question as its meaning is compared: with the full names behind it, where others were said."""
    return with_full_names(question, by_aliases(question, groups), groups) if groups else question


def with_full_names(question: str, wordings: Sequence[Wording], groups: Groups) -> str:
    """Return the question as in `as_meant`, with the other wordings known."""
    full = {f"{said} = {group[0]}": group[0] for group in groups for said in group[1:]}
    said = dict.fromkeys(label for each in wordings for label in each.aliases)
    names = [full[label] for label in said if label in full]
    return f"{question} ({', '.join(names)})" if names else question


def _within(one: tuple[int, int, list[str], str], other: tuple[int, int, list[str], str]) -> bool:
    """Tell whether a shorter name is only part of a longer one: "Levi" of "Dr. Levi"."""
    return other[1] > one[1] and other[0] <= one[0] and one[0] + one[1] <= other[0] + other[1]


def _found(words: Sequence[str], name: Sequence[str]) -> list[tuple[int, int]]:
    """Return (where, how many words) the name stands: whole words, a Hebrew one also behind a prefix."""
    if not name:
        return []
    words, name = [each.translate(_MARKS) for each in words], [each.translate(_MARKS) for each in name]
    return [
        (at, len(name))
        for at in range(len(words) - len(name) + 1)
        if words[at + 1 : at + len(name)] == name[1:] and (words[at] == name[0] or name[0] in _unprefixed(words[at]))
    ]


def _combined(words: Sequence[str], places: Sequence[tuple[int, int, list[str], str]]) -> list[Wording]:
    """Return a wording for each replaced name, and where there are several, first one with all of them replaced."""
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
    """Return what is left of a Hebrew word without one or two first letters that may be a prefix."""
    return [word[size:] for size in (1, 2) if len(word) - size >= _SHORTEST and HEBREW_PREFIXES.issuperset(word[:size])]


Span = tuple[int, int]

# A mark inside a word is none of a phrase: צה"ל. Nor is a star around a word: *bold*.
_WRITTEN = re.compile(
    r"(?<!\w)[\"“”„«״](?P<phrase>[^\"“”„«»״]++(?:(?<=\w)[\"״](?=\w)[^\"“”„«»״]++)*+)[\"“”»״](?!\w)"
    r"|(?<![\w*])(?P<prefix>\w++)\*(?![\w*])"
)
_MOST_PHRASES = 20  # with more it is a text, not a query
_MOST_HEBREW_PREFIXES = 3


class _Asked(NamedTuple):
    """A word of a phrase, or the beginning of one."""

    word: str
    begins: bool


@dataclass(frozen=True)
class ExactQuery:
    """A query with its marks read.

    `words` are the words to search by, with those of phrases and without beginnings of words; `text` is the query
    without its marks. Each of `phrases` must be there; the beginning of a word is a phrase of one.
    """

    text: str
    words: str
    phrases: tuple[tuple[_Asked, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.phrases)

    @property
    def beginnings(self) -> list[str]:
        return list(dict.fromkeys(each.word for phrase in self.phrases for each in phrase if each.begins))

    def holds(self, texts: Iterable[str]) -> bool:
        """Tell whether every phrase is in one of the texts."""
        found = [placed(each) for each in texts]
        return all(any(_spans(phrase, words) for words in found) for phrase in self.phrases)


NOTHING_EXACT = ExactQuery("", "")


def exact_query(query: str) -> ExactQuery:
    """Return the query with its marks read; one without quotes and stars, or with more than 20 phrases, asks for no
    phrase, and its words are all of it.
    """
    phrases: list[tuple[_Asked, ...]] = []
    text, words, last = "", "", 0
    for each in _WRITTEN.finditer(query):
        written = _asked_in(each["phrase"]) if each["phrase"] is not None else (_begun(each["prefix"]),)
        between, last = query[last : each.start()], each.end()
        inside = each["phrase"] or each["prefix"]
        text += between + inside
        words += f"{between} {' '.join(word for word, begins in written if not begins)} "
        phrases += [written] if written else []
    if len(set(phrases)) > _MOST_PHRASES:
        return ExactQuery(query, query)
    return ExactQuery(text + query[last:], words + query[last:], tuple(dict.fromkeys(phrases)))


def matched_spans(query: str, text: str) -> list[Span]:
    """Return (start, end) of each word of `text` that the query asks for, and of each phrase; in order,
    none overlapping.
    """
    exact, words = exact_query(query), placed(text)
    wanted = {stem for forms in asked(exact.words) for stem in forms}
    for phrase in exact.phrases:
        wanted -= {stem for each in phrase for stem in stems_of(each.word)}  # only where all of it stands
    found = [span for phrase in exact.phrases for span in _spans(phrase, words)]
    found += [(each.start, each.end) for each in words if each.stem in wanted]
    return _apart(found)


def terms_like(terms: Iterable[str], beginning: str) -> frozenset[str]:
    """Return the stems that a word with this beginning may have.

    A stem may have lost or changed its ending, and in Hebrew its prefixes.
    """
    bare = _bare(beginning)
    cut = len(bare) - len(bare.lstrip("".join(HEBREW_PREFIXES)))
    rests = [bare[at:] for at in range(min(cut, len(bare) - 1) + 1)]
    longer = tuple(rest[:-1] or rest for rest in rests)
    shorter = {rest[:many] for rest in rests for many in range(1, len(rest))}
    return frozenset(term for term in terms if term.startswith(longer) or (term[:-1] or term) in shorter)


def _asked_in(phrase: str) -> tuple[_Asked, ...]:
    """Return the words of a phrase; the last is the beginning of one where a star follows it."""
    words = words_of(phrase)
    begins = phrase.rstrip().endswith("*")
    return tuple(_Asked(each, begins and at == len(words)) for at, each in enumerate(words, 1))


def _begun(prefix: str) -> _Asked:
    return _Asked(next(iter(words_of(prefix)), prefix.casefold()), begins=True)


def _spans(phrase: Sequence[_Asked], words: Sequence[PlacedWord]) -> list[Span]:
    """Return the places of a phrase among the words of a text."""
    stems = [stems_of(each.word) for each in phrase]
    found = []
    for at in range(len(words) - len(phrase) + 1):
        here = words[at : at + len(phrase)]
        if all(map(_is_meant, here, phrase, stems)):
            found.append((here[0].start, here[-1].end))
    return found


def _is_meant(word: PlacedWord, wanted: _Asked, stems: frozenset[str]) -> bool:
    if not wanted.begins:
        return word.word == wanted.word or word.stem in stems
    spelled, beginning = _bare(word.word), _bare(wanted.word)
    prefixed = len(spelled) - len(spelled.lstrip("".join(HEBREW_PREFIXES)))
    return any(spelled.startswith(beginning, at) for at in range(min(prefixed, _MOST_HEBREW_PREFIXES) + 1))


def _bare(word: str) -> str:
    """Return the word without accents, and with Hebrew letters as they are within a word."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFKD", word.translate(HEBREW_FINALS))
    return "".join(each for each in letters if not unicodedata.combining(each))


def _apart(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with overlapping ones made one."""
    apart: list[Span] = []
    for start, end in sorted(spans):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


_READ_AT_ONCE = 50
_FIRST, _MORE = 200, 8


class _Found(Protocol):
    @property
    def id(self) -> str: ...


Hit = TypeVar("Hit", bound=_Found)


def exact_hits(
    exact: ExactQuery,
    limit: int,
    ranked: Callable[[int], Sequence[Hit]],
    texts: Callable[[list[str]], Mapping[str, Iterable[str]]],
) -> dict[str, Hit]:
    """Return at most `limit` hits, by id and in their order. `ranked` gives the best so many, `texts` by
    id what each says.
    """
    held: dict[str, Hit] = {}
    looked_at, most = 0, max(_FIRST, 2 * limit)
    while limit > 0:
        hits = ranked(most)
        while looked_at < len(hits):
            part = {hit.id: hit for hit in hits[looked_at:][:_READ_AT_ONCE]}
            said = texts(list(part))
            held |= {each: hit for each, hit in part.items() if each in said and exact.holds(said[each])}
            if len(held) >= limit:
                return dict(list(held.items())[:limit])
            looked_at += len(part)
        if len(hits) < most:
            break
        most *= _MORE
    return held
