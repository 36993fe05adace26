"""The words that stand beside texts, such as tags: which rows have one, and nothing of how often or in what length."""

import sys
from array import array
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

_BYTES_PER_TERM = 160  # of the dictionary and an array


class LabelIndex:
    """Rows are numbered by the caller, each added once and never removed: who asks knows which are live."""

    def __init__(self) -> None:
        self._rows: dict[str, array[int]] = {}
        self._bytes = 0

    def add(self, row: int, terms: Iterable[str]) -> None:
        for term in set(terms):
            if term not in self._rows:
                self._rows[term] = array("I")
                self._bytes += sys.getsizeof(term) + _BYTES_PER_TERM
            self._rows[term].append(row)
            self._bytes += self._rows[term].itemsize

    def rows(self, term: str) -> NDArray[np.int64]:
        return np.array(self._rows.get(term, ()), dtype=np.int64)

    def __contains__(self, term: str) -> bool:
        return term in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    @property
    def size(self) -> int:
        """Bytes held, roughly."""
        return self._bytes
