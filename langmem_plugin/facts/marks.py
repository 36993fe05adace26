"""Marks that tell a fact from those that look like it: numbers, days, names, currencies, periods, codes, sides."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from langmem_plugin.facts.values import in_one_form, of_twelve
from langmem_plugin.languages.language import LANGUAGES
from langmem_plugin.languages.plain_text import LONGEST_KEPT, plain
from langmem_plugin.lru import cached_if_short

_ACCENTS_LEFT_OUT: Final = frozenset(
    ["esta", "ano", "anos", "cumpleanos", "manana", "espana", "espanol", "tambien", "ingles"]
)
_NARROWING: Final = frozenset(f"telling {each}" for each in ("only", "without", "almost", "more", "less"))
_KEPT: Final = 4_096
_SENTENCE_END: Final = frozenset(".!?;:\n")
_TOKEN = re.compile(r"[^\s,;!?()\"“”]++")


def adds(new: str, old: str) -> bool:
    """Tell whether `new` says a number, day, name or the like that `old` does not: then it does not merely repeat it."""
    if _other_of_a_kind(new, old):
        return True
    told, held = marks_of(new), marks_of(old)
    if any(mark not in held and not any(_one_time(mark, other) for other in held) for mark in told):
        return True
    if (told ^ held) & _NARROWING:
        return True
    return not names(new) <= _said_in(old)


@cached_if_short(_KEPT, LONGEST_KEPT)
def _said_in(text: str) -> frozenset[str]:
    """Return every word in plain form, and of "m3" also the letters."""
    return frozenset(re.findall(r"[^\W_]++", plain(text)) + re.findall(r"[^\W\d_]++", plain(text)))


@cached_if_short(_KEPT, LONGEST_KEPT)
def names(text: str) -> frozenset[str]:
    """Return the words written with a capital letter other than at the beginning of a sentence, in plain form.

    Where every word begins with one, as in a title, none of them is told from the others.
    """
    found = re.findall(r"[^\W\d_]++|[^\w\s]|\n|\d++", text)
    return frozenset(
        plain(word)
        for before, word in pairwise(found)
        if word[:1].isupper()
        and before not in _SENTENCE_END
        and plain(word) not in _COMMON
        and plain(word).removesuffix("s") not in _COMMON
    )


def accents_differ(one: str, other: str) -> bool:
    """Tell whether two words differ by what makes them others in Spanish: "trabajó" and "trabajo", "sí" and "si", "caña"."""
    ours, theirs = _stressed(one), _stressed(other)
    return any(ours[word] != theirs[word] for word in ours.keys() & theirs.keys())


@cached_if_short(_KEPT, LONGEST_KEPT)
def _stressed(text: str) -> dict[str, str]:
    """Return the words that have accents or could have them, in plain form and without those accents that many leave
    out and that tell no words apart.
    """
    found = re.findall(r"[^\W\d_]++", unicodedata.normalize("NFC", text).casefold())
    return {
        plain(word): "".join(c if c == "ñ" else plain(c) for c in word[:-1]) + word[-1]
        for word in found
        if plain(word) not in _ACCENTS_LEFT_OUT
    }


@cached_if_short(_KEPT, LONGEST_KEPT)
def marks_of(text: str) -> frozenset[str]:
    return frozenset(marks(text))


def marks(text: str) -> Iterator[str]:
    """Give the numbers, times, months, codes, weekdays and sides that a text says, each in one form."""
    timed = False  # "six in the morning" is read as one time
    for word in in_one_form(text):
        timed = timed or _is_clock(word)
        if word[:1].isdigit() or word[:1] == "=" or _is_clock(word) or (word[:1] == "m" and word[1:].isdigit()):
            yield word
    for word in _TOKEN.findall(plain(text)):
        for language in LANGUAGES:
            for form in _forms(word.strip(".:'-"), language.name):
                if form in language.weekdays:
                    yield f"weekday {language.weekdays[form]}"
                if (
                    form in language.telling
                    and not form[0].isdigit()
                    and not (timed and language.telling[form] in ("morning", "night", "half"))
                ):
                    yield f"telling {language.telling[form]}"


def _forms(word: str, language: str) -> set[str]:
    """Return a word, also without the ending or, in Hebrew, the letters that are written onto it."""
    if language != "he":
        return {word, word.removesuffix("s")} if len(word) > 4 else {word}
    found = {word}
    for _ in range(2):
        found |= {each[1:] for each in found if each[:1] in "ובלמהש" and len(each) > 3}
    return found


def _other_of_a_kind(new: str, old: str) -> bool:
    """Tell whether both say a currency or a period, and not the same: "5000 dollars" and "5000 euros"."""
    for table in ("currencies", "periods_said"):
        ours, theirs = _said_of(new, table), _said_of(old, table)
        if ours and theirs and ours != theirs:
            return True
    return False


@cached_if_short(_KEPT, LONGEST_KEPT)
def _said_of(text: str, table: str) -> frozenset[str]:
    said = plain(text)
    found = re.findall(r"[$€£₪]|[^\W\d_]++(?:\"[^\W\d_]++)?+", said)
    return frozenset(
        meant
        for language in LANGUAGES
        for word in found
        for form in _forms(word, language.name)
        if (meant := getattr(language, table).get(form)) is not None
    )


def _is_clock(word: str) -> bool:
    return word[:1] == "t" and ":" in word


def _one_time(told: str, held: str) -> bool:
    """Tell whether a time says no more than another: "6:30" is "6:30 am" or what "18:30" says again in short."""
    if not (_is_clock(told) and _is_clock(held)) or of_twelve(told) != of_twelve(held):
        return False
    return told.endswith("?") or (
        held.endswith("?") and told[1:].split(":", maxsplit=1)[0] == held[1:].split(":", maxsplit=1)[0]
    )


_COMMON: Final = frozenset(
    word
    for language in LANGUAGES
    for word in language.weekdays.keys()
    | language.months.keys()
    | language.selves
    | language.possessives
    | language.others
    | frozenset({"ok", "tv", "wifi", "pin"})
)
