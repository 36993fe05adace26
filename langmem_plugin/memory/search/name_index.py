"""The words of one owner's memories that may be names, to be found by how they sound."""

import re
import sys
from collections.abc import Iterator

from langmem_plugin.memory.search.name_matching import same_name, skeleton, unprefixed
from langmem_plugin.memory.search.stop_words import STOP_WORDS
from langmem_plugin.memory.search.transliteration import is_hebrew

_WORD = re.compile(r"[^\W\d_]+(?:(?<=[א-ת])['\"׳״](?=[א-ת])[^\W\d_]+)*")
_SHORTEST, _LONGEST = 2, 24
_SHORTEST_IN_SMALL_LETTERS = 4
_MOST_IN_A_TEXT = 200
_NO_NAMES = frozenset().union(*(STOP_WORDS[language] for language in ("english", "spanish", "hebrew")))
_BYTES_PER_NAME, _BYTES_PER_ROW = 250, 60


def possible_names(text: str) -> list[str]:
    """In small letters, each once: words with a capital, any where the text has no capitals, and Hebrew ones."""
    has_capitals = text != text.lower()
    found: dict[str, None] = {}
    for word in _WORD.findall(text):
        name = word.casefold()
        shortest = _SHORTEST if has_capitals or is_hebrew(word) else _SHORTEST_IN_SMALL_LETTERS
        if not shortest <= len(name) <= _LONGEST or name in _NO_NAMES:
            continue
        if is_hebrew(word) or not has_capitals or word[0].isupper():
            found[name] = None
        if len(found) >= _MOST_IN_A_TEXT:
            break
    return list(found)


class NameIndex:
    """Rows are numbered by the caller, each added once."""

    def __init__(self) -> None:
        self._names_of: list[tuple[str, ...]] = []
        self._rows: dict[str, int] = {}  # how many rows have the name
        self._by_skeleton: dict[str, set[str]] = {}
        self._bytes = 0

    def add(self, row: int, text: str) -> None:
        while len(self._names_of) <= row:
            self._names_of.append(())
        self._names_of[row] = tuple(map(self._one, possible_names(text)))

    def remove(self, row: int) -> None:
        for name in self._names_of[row]:
            self._rows[name] -= 1
            if not self._rows[name]:
                del self._rows[name]
                for key in set(_keys(name)):
                    self._by_skeleton[key].discard(name)
        self._names_of[row] = ()

    def alike(self, word: str) -> list[str]:
        """Names that are another spelling of the word, in small letters; not the word itself."""
        near = {name for key in _keys(word) for name in self._by_skeleton.get(key, ())}
        return sorted(name for name in near if name != word and same_name(word, name))

    @property
    def size(self) -> int:
        """Bytes held, roughly."""
        return self._bytes + len(self._rows) * _BYTES_PER_NAME + len(self._names_of) * _BYTES_PER_ROW

    def _one(self, name: str) -> str:
        name = sys.intern(name)
        if name not in self._rows:
            for key in _keys(name):
                self._by_skeleton.setdefault(key, set()).add(name)
            self._rows[name] = 0
        self._rows[name] += 1
        self._bytes += 8
        return name


def _keys(word: str) -> Iterator[str]:
    forms = unprefixed(word) if is_hebrew(word) else [word]
    return (skeleton(form) for form in forms)
