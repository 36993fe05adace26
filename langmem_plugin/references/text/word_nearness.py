"""How near words that were said come in meaning to what something is called."""

from collections.abc import Iterable

from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words.word_vectors import vector

NEAR = 0.35
"""From which nearness on a word may speak of a field."""


def nearness(said: Iterable[str], called: Iterable[str], language: str) -> float:
    """Of the nearest two words: 1 for the same, else their cosine; 0 where none are near."""
    names = list(called)
    stems = set(map(stem, names))
    best = 0.0
    for word in said:
        if stem(word) in stems:
            return 1.0
        mine = vector(word, language)
        best = max(best, *(float(mine @ vector(name, language)) for name in names), 0.0)
    return best
