"""Whether two spellings are of one name: in two scripts, or spelled as it sounds. Sure or silent: Dan is not Dana."""

import re
import unicodedata
from functools import lru_cache

from rapidfuzz.distance import OSA

from langmem_plugin.memory.search.transliteration import is_hebrew, is_one_name

_SHORTEST = 3
_MISSPELLED_FROM = 6  # letters, for two that changed places
_VOWEL_FROM = 7  # for one vowel that stands for another
_ALIKE = (frozenset("ae"), frozenset("ou"), frozenset("ao"))  # vowels that are heard as each other where unstressed
_PREFIXES = "ובהלכמש"
_MOST_PREFIXES = 2
_SOFT_C = re.compile(r"c(?=[eiy])")
_DOUBLE = re.compile(r"([a-z])\1")
_Y_AS_I = re.compile(r"(?<=[bcdfghjklmnpqrstvwxz])y")
_SILENT_H = re.compile(r"(?<=[bcdfgjklmnpqrtvwxz]a)h\Z|(?<=[lmnrt])h|(?<=o)h(?=n)")


def same_name(one: str, other: str) -> bool:
    """Of two words in small letters. A Hebrew one may have up to two prefix letters, as in "to Dana"."""
    if one == other:
        return True
    if is_hebrew(one) is not is_hebrew(other):
        hebrew, latin = (one, other) if is_hebrew(one) else (other, one)
        return any(is_one_name(form, plain_letters(latin)) for form in unprefixed(hebrew))
    return not is_hebrew(one) and _sounds_the_same(plain_letters(one), plain_letters(other))


def unprefixed(hebrew: str) -> list[str]:
    """The word, and what is left of it without the letters that may be a prefix."""
    forms = [hebrew]
    while len(forms) <= _MOST_PREFIXES and len(forms[-1]) > _SHORTEST and forms[-1][0] in _PREFIXES:
        forms.append(forms[-1][1:])
    return forms


def skeleton(word: str) -> str:
    """What two spellings of one name have in common in any case, to look for them by; the same in both scripts."""
    word = word.translate(_SKELETON) if is_hebrew(word) else _latin_skeleton(plain_letters(word))
    return _collapsed(word)


@lru_cache(8_192)
def plain_letters(word: str) -> str:
    """Without accents."""
    return "".join(each for each in unicodedata.normalize("NFKD", word) if not unicodedata.combining(each))


def _sounds_the_same(one: str, other: str) -> bool:
    if min(len(one), len(other)) < _SHORTEST:
        return False
    mine, yours = _heard(one), _heard(other)
    if mine == yours:
        return True
    if len(mine) != len(yours) or mine[0] != yours[0] or mine[-1] != yours[-1]:
        return False
    if len(mine) < _MISSPELLED_FROM or OSA.distance(mine, yours, score_cutoff=1) != 1:
        return False
    changed = [{left, right} for left, right in zip(mine, yours, strict=True) if left != right]
    if len(changed) > 1:  # two that changed places
        return True
    return len(mine) >= _VOWEL_FROM and changed[0] in _ALIKE


@lru_cache(8_192)
def _heard(word: str) -> str:
    """A name as it sounds, in one spelling."""
    heard = word.replace("ph", "f").replace("th", "t").replace("ck", "k")
    heard = _SILENT_H.sub("", heard)
    heard = _SOFT_C.sub("s", heard)
    heard = re.sub(r"c(?!h)", "k", heard).replace("q", "k")
    heard = _Y_AS_I.sub("i", _collapsed(heard))
    return heard.replace("z", "s") if len(heard) >= _MISSPELLED_FROM else heard


def _collapsed(word: str) -> str:
    return _DOUBLE.sub(r"\1", word)


def _latin_skeleton(word: str) -> str:
    word = word.replace("ph", "p").replace("sch", "s").replace("sh", "s").replace("tz", "z").replace("ts", "z")
    word = word.replace("x", "s").replace("th", "t").replace("tch", "").replace("ch", "")
    return _SOFT_C.sub("s", word).translate(_SKELETON)


_DROPPED = "aeiouyhjkcqgvwb" + "אהויעחכךקגב" + "'׳\"״.-"
_SKELETON = str.maketrans(
    "fzd" + "דזטלמםנןספףצץרשת",
    "psd" + "dstlmmnnsppssrst",
    _DROPPED,
)
