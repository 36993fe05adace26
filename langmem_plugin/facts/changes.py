"""What a text says of another one by their words alone: that the same holds, that it is over, that it has moved.

For texts whose slot is not understood, or is understood otherwise in each. Every word of the one has to be found in the
other; what cannot be accounted for keeps both.
"""

import re
from typing import Final

from langmem_plugin.facts.marks import adds, marks, names
from langmem_plugin.facts.tokens import plain
from langmem_plugin.facts.values import canonical, in_one_form
from langmem_plugin.facts.words import LANGUAGES
from langmem_plugin.facts.words.language_table import words

_WORD = re.compile(r"[^\W_]++(?:['\"-][^\W_]++)*+|[^\w\s]")
_EMPTY: Final = frozenset(word for language in LANGUAGES for word in language.empty)
_BINDING: Final = frozenset(word for language in LANGUAGES for word in language.binding) - {
    "from",
    "by",
    "con",
    "עם",
    "of",
}
_PLACING: Final = words("at|in|on|en|ב")
_MONEY: Final = frozenset(
    form for language in LANGUAGES for each in language.currencies for form in (each, each.removesuffix("s"))
)
_PEOPLE: Final = frozenset(
    each for language in LANGUAGES for phrase in language.people for word in phrase for each in canonical(word)
)
_STARTING: Final = frozenset(
    word
    for language in LANGUAGES
    for word in language.selves
    | language.possessives
    | language.articles
    | frozenset(w for p in language.leads for w in p)
) | words("the|el|la|los|las|there|trabajo|vivo|pago|tomo|voy|uso|soy|estoy")
_CHANGING: Final = frozenset(
    each
    for language in LANGUAGES
    for phrase in (*language.changed, *language.endings, *language.leads, *language.ended, *language.ended_after)
    for word in phrase
    for each in (word, *canonical(word))
) | frozenset(word for language in LANGUAGES for word in language.fillers | language.weekdays.keys())
_OBJECTS: Final = words("me|us|him|her|them|le|les|nos|לי|לנו|לו|לה|להם")
_TYPED_LETTERS: Final = 4
_LONGEST_ENDED: Final = 6


def says_the_same(new: str, old: str) -> bool:
    """Whether each word of both that says anything is in the other, and the names stand in one order."""
    ours, theirs = _telling(new), _telling(old)
    if len(ours) < 2 or not (_held(ours, theirs) and _held(theirs, ours)):
        return False
    if any(word in _BINDING | _OBJECTS for text in (new, old) for word in plain(text).split()):
        return False  # who gave, and who was given
    if sum(word[:1].isdigit() for word in in_one_form(new)) > 1:
        return False
    named = [[word for word in in_one_form(text) if word in names(new) | names(old)] for text in (new, old)]
    return named[0] == named[1] and not adds(new, old) and not adds(old, new)


def ends(new: str, old: str) -> bool:
    """As in "We dropped Millbrook": what is over is said in `old`, and `old` says nothing of others beside it."""
    told = canonical(new)
    if ended(old):
        return False
    for over in ended(new):
        gone = canonical(over) - _EMPTY
        held = _telling(old)
        if gone and _held(gone, held):
            if held & _PEOPLE - told or _first_name(old) - told - gone:
                return False
            if told & _PEOPLE - held or _first_name(new) - held - _CHANGING:
                return False
            left = {word for word in names(old) | set(marks(old)) if not _held({word}, gone | told)}
            beside = _beside(old, gone)
            return left <= beside
    return False


def _first_name(text: str) -> set[str]:
    """The word that a text begins with, which may be somebody's name."""
    first = text.split()[:1]
    return {
        word
        for word in (plain(each).removesuffix("'s").strip(",") for each in first)
        if word.isalpha() and word not in _EMPTY | _STARTING
    }


def ended(text: str) -> list[str]:
    """What a text says to be over: "Millbrook" of "We dropped Millbrook, …", "the van" of "I swapped the van for …"."""
    found = []
    tokens = _WORD.findall(plain(text))
    for language in LANGUAGES:
        for at in range(len(tokens)):
            for phrase in language.endings:
                if tuple(tokens[at : at + len(phrase)]) == phrase:
                    start = at + len(phrase)
                    end = start
                    while end < len(tokens) and tokens[end] not in language.ends_at and tokens[end][0].isalnum():
                        end += 1
                    placed = next((place for place in range(start, end) if tokens[place] in _PLACING), end)
                    if phrase[0] in language.negations or phrase in language.ended:
                        placed = end  # "no longer work at …" does not end all work
                    found += [
                        " ".join(tokens[start:last]) for last in {placed, end} if start < last <= start + _LONGEST_ENDED
                    ]
    return found


def moves(new: str, old: str) -> bool:
    """As in "The training has moved to Wednesdays": the same thing at another time, price or number, said to be new."""
    said = f" {' '.join(_WORD.findall(plain(new)))} "
    if not any(f" {' '.join(phrase)} " in said for language in LANGUAGES for phrase in language.changed):
        return False
    ours, theirs = set(marks(new)), set(marks(old))
    if not (theirs - ours and ours - theirs):
        return False
    replaced = {_kind(mark) for mark in ours - theirs} & {_kind(mark) for mark in theirs - ours}
    if not replaced or ("number" in replaced and not _last_number_alone(new, old)):
        return False
    topic = {word for word in _telling(old) if not _is_amount(word)}
    beside = {word for word in _telling(new) if not _is_amount(word) and not _held({word}, topic)}
    if beside - _CHANGING:
        return False  # something else than what was said before
    return bool(topic) and _held(topic, _telling(new)) and not names(new) - {plain(w) for w in _WORD.findall(old)}


def _telling(text: str) -> set[str]:
    return {word for word in canonical(text) if word not in _EMPTY and word not in _MONEY}


def _last_number_alone(new: str, old: str) -> bool:
    """Whether of their numbers only the last differs: "room 12" is not what "room 14" has become."""
    ours, theirs = ([word for word in in_one_form(text) if word[:1].isdigit()] for text in (new, old))
    return len(ours) == len(theirs) and ours[:-1] == theirs[:-1]


def _held(ours: set[str] | frozenset[str], theirs: set[str] | frozenset[str]) -> bool:
    return all(any(_one_word(word, held) for held in theirs) for word in ours)


def _one_word(one: str, other: str) -> bool:
    """The same word, of one or of several, or with a Hebrew letter written onto it."""
    short, long = sorted((one, other), key=len)
    if one == other or (
        len(short) >= _TYPED_LETTERS and long in (f"{short}{ending}" for ending in ("s", "es", "ing", "ed"))
    ):
        return True
    return (
        len(short) >= _TYPED_LETTERS - 1 and "\u05d0" <= long[0] <= "\u05ea" and long[0] in "הבוש" and long[1:] == short
    )


def _beside(text: str, words: frozenset[str]) -> set[str]:
    """What stands right before the words: "Ford" of "Ford Transit", but not "North" of "Acme North"."""
    said = list(in_one_form(text))
    found = set()
    for at, word in enumerate(said):
        if any(_one_word(word, each) for each in words):
            found |= {*said[max(at - 1, 0) : at]}
    return found


def _kind(mark: str) -> str:
    return "number" if mark[:1].isdigit() else "time" if mark[:1] == "t" and ":" in mark else mark.split(maxsplit=1)[0]


def _is_amount(word: str) -> bool:
    return (
        word[:1].isdigit()
        or (word[:1] == "t" and ":" in word)
        or any(
            word in table or f"{word}s" in table or word[1:] in table
            for language in LANGUAGES
            for table in (language.weekdays, language.currencies)
        )
    )
