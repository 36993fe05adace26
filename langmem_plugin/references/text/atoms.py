"""Everything in a text that can be compared with another text: content words, and dates, times and numbers."""

import re

from langmem_plugin.references.text.dates_and_numbers import typed_atoms
from langmem_plugin.references.text.tokens import normal, stem
from langmem_plugin.references.words import LANGUAGES

_PREFIXES = "".join(language.prefixes for language in LANGUAGES)
_STOP = frozenset().union(*(language.stop for language in LANGUAGES))
_ENGLISH_STOP = LANGUAGES[0].stop
_WORD = re.compile(r"[^\W\d_]*+\d[^\W_]*+|[^\W\d_]+(?:['’׳״\"][^\W\d_]+)*")
_HEBREW = re.compile(r"[\u05d0-\u05ea]")


def word_atoms(text: str) -> set[str]:
    """Stemmed content words; a Hebrew word is given with and without its prefix letters, and with its
    concept in English.
    """
    found: set[str] = set()
    hebrew = bool(_HEBREW.search(text))
    low = normal(text)
    for word in _WORD.findall(low):
        if word in _STOP and (hebrew or word in _ENGLISH_STOP or word not in _CONCEPTS):
            continue
        cut = stem(word)
        found.add(cut)
        found.update(_CONCEPTS.get(word, ()))
        if hebrew:
            for length in (1, 2):
                bare = word[length:]
                if len(bare) >= 2 and all(letter in _PREFIXES for letter in word[:length]):
                    found.add(bare)
                    found.update(_CONCEPTS.get(bare, ()))
    return found


_CONCEPTS = {
    form: tuple(dict.fromkeys(stem(word) for word in english))
    for language in LANGUAGES
    for form, english in language.concepts.items()
}


def atoms(text: str) -> frozenset[str]:
    """Everything in a text that can be compared with another text: words and typed values."""
    return frozenset(word_atoms(text) | typed_atoms(text))
