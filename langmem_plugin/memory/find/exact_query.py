"""The parts of a query that are meant literally: "a phrase" in quotes, the beginning of a word with a star (choc*)."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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

Span = tuple[int, int]

# A mark inside a word is none of a phrase: צה"ל. Nor is a star around a word: *bold*.
_WRITTEN = re.compile(
    r"(?<!\w)[\"“”„«״](?P<phrase>[^\"“”„«»״]++(?:(?<=\w)[\"״](?=\w)[^\"“”„«»״]++)*+)[\"“”»״](?!\w)"
    r"|(?<![\w*])(?P<prefix>\w++)\*(?![\w*])"
)
_MOST_PHRASES = 20  # with more it is a text, and no query that somebody wrote
_MOST_HEBREW_PREFIXES = 3


class _Asked(NamedTuple):
    """A word of a phrase, or the beginning of one."""

    word: str
    begins: bool


@dataclass(frozen=True)
class ExactQuery:
    """`words` is what is left to search by, with the words of phrases and without beginnings of words; `text` is the
    query without its marks. Each of `phrases` must be there; the beginning of a word is a phrase of one.
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
        """True where every phrase is in one of the texts."""
        found = [placed(each) for each in texts]
        return all(any(_spans(phrase, words) for words in found) for phrase in self.phrases)


NOTHING_EXACT = ExactQuery("", "")


def exact_query(query: str) -> ExactQuery:
    """A query without quotes and stars asks for no phrase, and its words are all of it; so is one with more than 20."""
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
    """(start, end) of each word of `text` that the query asks for, and of each phrase; in order, none overlapping."""
    exact, words = exact_query(query), placed(text)
    wanted = {stem for forms in asked(exact.words) for stem in forms}
    for phrase in exact.phrases:
        wanted -= {stem for each in phrase for stem in stems_of(each.word)}  # only where all of it is
    found = [span for phrase in exact.phrases for span in _spans(phrase, words)]
    found += [(each.start, each.end) for each in words if each.stem in wanted]
    return _apart(found)


def terms_like(terms: Iterable[str], beginning: str) -> frozenset[str]:
    """Those of the stems that a word which begins so may have: a stem may have lost or changed its ending, and in
    Hebrew its prefixes.
    """
    bare = _bare(beginning)
    cut = len(bare) - len(bare.lstrip("".join(HEBREW_PREFIXES)))
    rests = [bare[at:] for at in range(min(cut, len(bare) - 1) + 1)]
    longer = tuple(rest[:-1] or rest for rest in rests)
    shorter = {rest[:many] for rest in rests for many in range(1, len(rest))}
    return frozenset(term for term in terms if term.startswith(longer) or (term[:-1] or term) in shorter)


def _asked_in(phrase: str) -> tuple[_Asked, ...]:
    """Its words; the last is the beginning of one where a star follows it."""
    words = words_of(phrase)
    begins = phrase.rstrip().endswith("*")
    return tuple(_Asked(each, begins and at == len(words)) for at, each in enumerate(words, 1))


def _begun(prefix: str) -> _Asked:
    return _Asked(next(iter(words_of(prefix)), prefix.casefold()), begins=True)


def _spans(phrase: Sequence[_Asked], words: Sequence[PlacedWord]) -> list[Span]:
    """Where it is among the words of a text."""
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
    """Without accents, and with Hebrew letters as they are within a word."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFKD", word.translate(HEBREW_FINALS))
    return "".join(each for each in letters if not unicodedata.combining(each))


def _apart(spans: Iterable[Span]) -> list[Span]:
    """In order, with those that overlap made one."""
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
    """At most `limit`, by id and in their order. `ranked` gives the best so many, `texts` by id what each says."""
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
