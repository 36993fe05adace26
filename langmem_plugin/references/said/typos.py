"""Words of reference that were mistyped: "secnd", "nubmer"."""

from functools import lru_cache

from rapidfuzz.distance import OSA

from langmem_plugin.references.said.lexicon import lexicon
from langmem_plugin.references.words import Language

# Words of other kinds ("es tarde", "the contract one") are too often words of their own, one letter away.
_CORRECTED = frozenset(("ordinal", "marker", "comparison", "last", "penultimate", "both", "except"))


def corrected_form(word: str, language: Language, *, before_one: bool) -> str | None:
    """The form of the language that a word is one slip away from; None when it is none.

    `before_one` says that "one" follows, where a shorter word is enough.
    """
    if len(word) < (3 if before_one else 4) or word in language.stop:
        return None
    for form in _forms(language).get(word[0], ()):
        if abs(len(form) - len(word)) > 1 or OSA.distance(form, word, score_cutoff=1) != 1:
            continue
        marker = form in language.kinds["marker"]
        if form + "s" == word and not marker:
            continue
        long = len(word) >= 6 or (len(form) >= 6 and marker) or len(form) == len(word) == 5
        if before_one or long or sorted(form) == sorted(word):
            return form
    return None


@lru_cache(maxsize=8)
def _forms(language: Language) -> dict[str, list[str]]:
    """Single words worth recognising when mistyped, by their first letter."""
    forms: dict[str, list[str]] = {}
    for (word, *more), kinds in lexicon(language).forms.items():
        if not more and len(word) >= 4 and word.isalpha() and (kinds.keys() & _CORRECTED or word == "everything"):
            forms.setdefault(word[0], []).append(word)
    return forms
