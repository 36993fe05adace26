"""Facts that need the person's own leave: secrets, health, faith, love, politics, crime and drugs, what they earn.

A fact that is taken for one of these wrongly is only asked about, so the table errs on that side.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

from langmem_plugin.facts.secret_numbers import NumberKind, kinds_of_numbers
from langmem_plugin.languages.language_words import LANGUAGES, words
from langmem_plugin.languages.text_normalization import LONGEST_KEPT, plain
from langmem_plugin.lru_cache import cached_if_short

_KEPT: Final = 4_096  # texts: one is asked about where it is read, allowed and stored
Kind = NumberKind | Literal["health", "faith", "love", "politics", "crime", "money"]
_GIVEN_TO_BE_USED: Final = frozenset({"e-mail", "ip"})
_LEAST_BEFORE: Final = 2  # letters
_WORD = re.compile(r"[^\W_]++(?:[\"'][^\W_]++)*+")
# No sensitive word is a church that is an address ("a church street café", "Church Road"), or a medicine ball.
_HARMLESS = re.compile("|".join(each.sensitive["harmless"] for each in LANGUAGES if "harmless" in each.sensitive))
_HE_PREFIX: Final = re.compile(r"[והבלמכש]{1,2}(?=[א-ת]{3})")
_SCLEROSIS = re.compile(r"\bMS\b")
_VALUE = re.compile(r"\d{3}")


def _all(*path: str) -> frozenset[str]:
    """Return the words of one table of every language: people mix them."""
    found: set[str] = set()
    for language in LANGUAGES:
        cell: Any = language.sensitive
        for key in path:
            cell = cell.get(key, {})
        found |= words(cell or "")
    return frozenset(found)


def _by_kind(table: str) -> dict[Kind, frozenset[str]]:
    kinds = dict.fromkeys(kind for language in LANGUAGES for kind in language.sensitive.get(table, {}))
    return {kind: _all(table, kind) for kind in kinds}


_WORDS: Final = _by_kind("words")
_PHRASES: Final = _by_kind("phrases")
# They tell something only with a value beside them, and are mostly about something else.
_WITH_A_NUMBER: Final = _by_kind("with_a_number")
_OTHER_CODES: Final = _all("other_codes")
# How the names of diseases and medicines end or begin; and words that end so and are neither.
_BEGINNINGS: Final = tuple(_all("beginnings"))
_ENDINGS: Final = tuple(_all("endings"))
_NO_STEM: Final = _all("no_stem")


def is_sensitive(text: str) -> bool:
    """Tell whether a person is asked before it is remembered. An e-mail or IP address alone is not asked about: it is
    told to be used.
    """
    return not kinds_of(text) <= _GIVEN_TO_BE_USED


@cached_if_short(_KEPT, LONGEST_KEPT)
def kinds_of(text: str) -> frozenset[Kind]:
    """Return the sensitive kinds of content in a text. Only whole words count: neither "turkey" nor
    "monkey" holds a key.
    """
    bare = _HARMLESS.sub(" ", plain(text))
    found = [each.removesuffix("'s") for each in _WORD.findall(bare)]
    return frozenset([*kinds_of_numbers(text, frozenset(found)), *_kinds_of_words(found, text)])


def _kinds_of_words(found: list[str], text: str) -> Iterator[Kind]:
    said = f" {' '.join(found)} "
    forms = {form for word in found for form in _forms(word)}
    for kind, known in _WORDS.items():
        if not forms.isdisjoint(known):
            yield kind
    for kind, phrases in _PHRASES.items():
        if any(f" {phrase} " in said for phrase in phrases):
            yield kind
    if any(map(_is_medical, found)) or _SCLEROSIS.search(text):
        yield "health"
    if _VALUE.search(text):
        for kind, known in _WITH_A_NUMBER.items():
            if not forms.isdisjoint(known) and forms.isdisjoint(_OTHER_CODES):
                yield kind


def _forms(word: str) -> Iterator[str]:
    """Give the word as written, and without what Hebrew writes as one with it: "the", "in", "to", "from"."""
    yield word
    prefix = _HE_PREFIX.match(word)
    if prefix is not None:
        yield from (word[cut:] for cut in range(1, prefix.end() + 1))


def _is_medical(word: str) -> bool:
    if word.startswith(_BEGINNINGS):
        return True
    return word not in _NO_STEM and word[_LEAST_BEFORE:].endswith(_ENDINGS)
