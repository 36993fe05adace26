"""The properties of one list with the vectors of their words: how near a description comes to each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from langmem_plugin.references.shown.items import ItemEntry
from langmem_plugin.references.shown.list_properties import KINDS, properties_of
from langmem_plugin.references.text.tokens import stem
from langmem_plugin.references.words.word_vectors import vector

Values = NDArray[np.float32]
_Places = NDArray[np.intp]

_FUZZY, _BEGUN, _SLIP = 4, 0.75, 0.8
"""Letters of a word that may be mistyped, the likeness of a word to one that it begins, and the least of a slip."""


@dataclass(frozen=True, eq=False)
class Likeness:
    """How like the words said are to those of each property, 0 to 1.

    `own` and `field` are of shape (words said, properties): to the nearest of what a property says, and of what its
    field is called. `covered` and `covered_field`, of shape (properties,), say how much of it the weighty words said
    come near to.
    """

    own: Values
    field: Values
    covered: Values
    covered_field: Values


class PropertyTable:
    """Of the `entries` of one list, and the `lines` that showed them.

    Of each property: `of_kind`, 1 in the column of its kind, `sides`, 1 for the most and -1 for the least of something,
    `sizes`, how many items have it, `lengths`, how long its text is, 0 to 1, and `sets`, the same number for all that
    the same items have.
    """

    def __init__(self, entries: Sequence[ItemEntry], lines: Sequence[str]) -> None:
        self.properties = properties_of(entries, lines)
        kinds = np.array([KINDS.index(each.kind) for each in self.properties], dtype=np.intp)
        self.of_kind = (kinds[:, None] == np.arange(len(KINDS))).astype(np.float32)
        self.sides = 1.0 * (kinds == KINDS.index("most")) - 1.0 * (kinds == KINDS.index("least"))
        self.sizes = np.array([len(each.places) for each in self.properties])
        texts = [min(len(each.words), 10) / 10 * (each.kind in ("text", "line")) for each in self.properties]
        self.lengths = np.array(texts)
        numbers: dict[frozenset[int], int] = {}
        self.sets = np.array([numbers.setdefault(each.places, len(numbers)) for each in self.properties], dtype=np.intp)
        self._words = sorted({word for each in self.properties for word in (*each.field, *each.words)})
        self._stems: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            self._stems.setdefault(stem(word), []).append(place)
        self._vectors: dict[str, NDArray[np.float16]] = {}
        self._own = self._places([each.words for each in self.properties])
        self._field = self._places([each.field for each in self.properties])

    def likeness(self, said: Sequence[tuple[str, float]], vectors: Values, language: str) -> Likeness:
        """Of words with their weights, of which 1 is the highest, and their vectors, shape (words, 64)."""
        alike = np.maximum(vectors @ self._vectors_in(language).T.astype(np.float32), 0)
        for row, (word, weight) in enumerate(said):
            if same := self._stems.get(stem(word)):
                alike[row, same] = 1
            elif weight == 1 and len(word) >= _FUZZY and word.isalpha():
                self._find_slips(word, alike[row])
        told = alike[[weight == 1 for _, weight in said]].max(axis=0)
        parts = (
            (np.maximum.reduceat(alike[:, places], starts, axis=1), _means(told, places, starts))
            for places, starts in (self._own, self._field)
        )
        (own, covered), (field, covered_field) = parts
        return Likeness(own, field, covered, covered_field)

    def _vectors_in(self, language: str) -> NDArray[np.float16]:
        """Of all words, and of none, as they are read in a language."""
        if language not in self._vectors:
            rows = [vector(word, language) for word in (*self._words, "")]
            self._vectors[language] = np.array(rows, dtype=np.float16)
        return self._vectors[language]

    def _find_slips(self, word: str, alike: Values) -> None:
        for place, other in enumerate(self._words):
            if other[0] == word[0] and len(other) >= _FUZZY:
                slip = fuzz.ratio(word, other) / 100
                near = slip if slip >= _SLIP else _BEGUN if other.startswith(word) else 0.0
                alike[place] = max(alike[place], near)

    def _places(self, rows: Sequence[Sequence[str]]) -> tuple[_Places, _Places]:
        """The places of all words, row behind row, and where each row begins; an empty one holds the place of no word."""
        number = {word: place for place, word in enumerate(self._words)}
        full = [[number[word] for word in row] or [len(number)] for row in rows]
        starts = np.cumsum([0, *map(len, full)])[:-1]
        return np.array([place for row in full for place in row], dtype=np.intp), starts.astype(np.intp)


def _means(values: Values, places: _Places, starts: _Places) -> Values:
    sizes = np.diff(starts, append=len(places))
    return np.asarray(np.add.reduceat(values[places], starts) / sizes, dtype=np.float32)
