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
    for form in _forms(language):
        if form[0] != word[0] or abs(len(form) - len(word)) > 1 or OSA.distance(form, word, score_cutoff=1) != 1:
            continue
        marker = form in language.kinds["marker"]
        if form + "s" == word and not marker:
            continue
        if (
            before_one
            or len(word) >= 6
            or (len(form) >= 6 and marker)
            or len(form) == len(word) == 5
            or sorted(form) == sorted(word)
        ):
            return form
    return None


@lru_cache(maxsize=8)
def _forms(language: Language) -> tuple[str, ...]:
    """Single words worth recognising when mistyped."""
    return tuple(
        key[0]
        for key, kinds in lexicon(language)[0].items()
        if len(key) == 1
        and len(key[0]) >= 4
        and key[0].isalpha()
        and (kinds.keys() & _CORRECTED or key[0] == "everything")
    )
