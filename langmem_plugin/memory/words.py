"""BM25 over one owner's texts, kept up to date row by row."""

import math
from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_K1 = 1.2
_B = 0.75
_BYTES_PER_TERM = 250  # of the dictionary, the two arrays and their headers


class WordIndex:
    """Rows are numbered by the caller, each added once; a removed row no longer counts in any statistic."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._rows: list[array[int]] = []  # per term: the rows that hold it,
        self._counts: list[array[int]] = []  # how often they do,
        self._live: list[int] = []  # and how many of them were not removed
        self._terms_of: list[array[int]] = []  # per row
        self._lengths = array("I")
        self._total_length = 0
        self._documents = 0
        self._postings = 0

    def add(self, terms: Sequence[str]) -> int:
        """The number of the new row."""
        row = len(self._terms_of)
        counted = Counter(terms)
        numbers = array("I")
        for term, count in counted.items():
            number = self._number.setdefault(term, len(self._rows))
            if number == len(self._rows):
                self._rows.append(array("I"))
                self._counts.append(array("H"))
                self._live.append(0)
            self._rows[number].append(row)
            self._counts[number].append(min(count, 0xFFFF))
            self._live[number] += 1
            numbers.append(number)
        self._terms_of.append(numbers)
        self._lengths.append(len(terms))
        self._total_length += len(terms)
        self._documents += 1
        self._postings += len(numbers)
        return row

    def remove(self, row: int) -> None:
        """Its postings stay until the index is built anew; the caller leaves the row out of the results."""
        for number in self._terms_of[row]:
            self._live[number] -= 1
        self._terms_of[row] = array("I")
        self._total_length -= self._lengths[row]
        self._documents -= 1

    def scores(self, terms: Sequence[str]) -> tuple[NDArray[np.float32], float]:
        """BM25 of every row, and what a short text holding each term once would score.

        The second is what makes scores of different queries comparable: score / ceiling is how much of the
        query, weighted by rarity, a text covers. A term that occurs nowhere counts in it too.
        """
        scores = np.zeros(len(self._terms_of), dtype=np.float32)
        ceiling = 0.0
        if not self._documents:
            return scores, ceiling
        average = max(self._total_length / self._documents, 1.0)
        lengths = np.array(self._lengths, dtype=np.float32)
        short = (_K1 + 1) / (1 + _K1 * (1 - _B + _B * 0.5))
        for term in dict.fromkeys(terms):
            number = self._number.get(term)
            holding = 0 if number is None else self._live[number]
            rarity = math.log(1 + (self._documents - holding + 0.5) / (holding + 0.5))
            ceiling += rarity * short
            if number is not None and holding:
                rows = np.array(self._rows[number], dtype=np.int64)
                counts = np.array(self._counts[number], dtype=np.float32)
                norm = _K1 * (1 - _B + _B * lengths[rows] / average)
                scores[rows] += rarity * counts * (_K1 + 1) / (counts + norm)
        return scores, ceiling

    @property
    def size(self) -> int:
        """Bytes held, roughly."""
        return self._postings * 10 + len(self._rows) * _BYTES_PER_TERM + len(self._terms_of) * 80
