"""BM25 over one owner's texts, kept up to date row by row."""

import math
import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.keep.vectors import cosines

_K1 = 1.2
_B = 0.75
_SHORT = (_K1 + 1) / (1 + _K1 * (1 - _B + _B * 0.5))  # a word said once in a text of half the average length
_BYTES_PER_TERM = 200  # bytes of the dictionary, the two arrays and their headers
_BYTES_PER_POSTING, _BYTES_PER_ROW = 10, 80


Scores = NDArray[np.float32]
Rows = NDArray[np.int64]


class WordIndex:
    """The word index of one owner; the caller numbers the rows and adds each once; a removed row counts
    in no statistic.
    """

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._rows: list[array[int]] = []  # per term: the rows that hold it,
        self._counts: list[array[int]] = []  # how often they do,
        self._live: list[int] = []  # and how many of them were not removed
        self._terms_of: list[array[int]] = []  # per row
        self._lengths = array("I")
        self._total_length = 0
        self._documents = 0
        self.size = 0  # bytes held, roughly

    def add(self, terms: Sequence[str]) -> int:
        """Add a row; return its number."""
        row = len(self._terms_of)
        numbers = []
        for term, count in Counter(terms).items():
            number = self._number.setdefault(term, len(self._rows))
            if number == len(self._rows):
                self.size += sys.getsizeof(term) + _BYTES_PER_TERM
                self._rows.append(array("I"))
                self._counts.append(array("H"))
                self._live.append(0)
            self._rows[number].append(row)
            self._counts[number].append(min(count, 0xFFFF))
            self._live[number] += 1
            numbers.append(number)
        self._terms_of.append(array("I", numbers))
        self._lengths.append(len(terms))
        self._total_length += len(terms)
        self._documents += 1
        self.size += len(numbers) * _BYTES_PER_POSTING + _BYTES_PER_ROW
        return row

    def remove(self, row: int) -> None:
        """Remove a row; its postings stay until the index is built anew, and the caller leaves it
        out of the results.
        """
        for number in self._terms_of[row]:
            self._live[number] -= 1
        self._terms_of[row] = array("I")
        self._total_length -= self._lengths[row]
        self._documents -= 1

    def scores(self, terms: Sequence[str]) -> tuple[Scores, float]:
        """Return the BM25 of every row, and the score of a short text that holds each term once.

        The second makes scores of different queries comparable: score / ceiling is how much of the query, weighted by
        rarity, a text covers. A term that occurs nowhere counts in it too.
        """
        lengths = self.lengths()
        average = max(self._total_length / max(self._documents, 1), 1.0)
        scores, ceiling = np.zeros(len(self._terms_of), dtype=np.float32), 0.0
        for term in dict.fromkeys(terms):
            rows, counts = self._postings_of(term)
            rarity = _rarity(self._documents, self._live[self._number[term]] if term in self._number else 0)
            ceiling += rarity * _SHORT
            scores[rows] += rarity * _saturated(counts, lengths[rows] / average)
        return scores, ceiling

    def known(self, asked: Sequence[Sequence[str]]) -> list[str]:
        """Return the first form of each word that occurs, else its first form."""
        return [next((form for form in forms if form in self._number), forms[0]) for forms in asked]

    def rows(self, term: str) -> Rows:
        """Return the rows that hold the term; some may have been removed."""
        return self._postings_of(term)[0]

    def lengths(self) -> Scores:
        """Return the number of terms in each row."""
        return np.array(self._lengths, dtype=np.float32)

    def grouped_scores(
        self, terms: Sequence[str], groups: NDArray[np.int32], live: NDArray[np.bool_]
    ) -> tuple[Scores, float]:
        """Return one score per group, with all live rows of a group taken as one text; and the ceiling.

        `groups` holds the number of each row's group, counted from 0 without gaps.
        """
        size = int(groups.max(initial=-1)) + 1
        lengths = np.bincount(groups[live], self.lengths()[live], size)
        documents = int(np.count_nonzero(np.bincount(groups[live], minlength=size)))
        average = max(float(lengths.sum()) / max(documents, 1), 1.0)
        scores = np.zeros(size, dtype=np.float32)
        ceiling = 0.0
        for term in dict.fromkeys(terms):
            rows, counts = self._postings_of(term)
            held = np.bincount(groups[rows], counts * live[rows], size)
            rarity = _rarity(documents, int(np.count_nonzero(held)))
            ceiling += rarity * _SHORT
            scores += rarity * _saturated(held, lengths / average)
        return scores, ceiling

    def likeness(self, texts: Sequence[Rows]) -> Scores:
        """Return how much alike texts are, each the rows that make it: their cosines, shape (texts, texts).

        A word weighs by its rarity, and by the logarithm of how many rows of the text have it.
        """
        held = [np.concatenate([np.array(self._terms_of[row], np.int64) for row in rows]) for rows in texts]
        numbers, columns = np.unique(np.concatenate(held), return_inverse=True)
        of_text = np.repeat(np.arange(len(texts)), [len(each) for each in held])
        counts = np.bincount(of_text * len(numbers) + columns, minlength=len(texts) * len(numbers))
        holding = np.fromiter((self._live[number] for number in numbers), np.float64, len(numbers))
        rarity = np.log(1 + (self._documents - holding + 0.5) / (holding + 0.5))
        weighed = (np.log1p(counts).reshape(len(texts), -1) * rarity).astype(np.float32)
        weighed /= np.maximum(np.linalg.norm(weighed, axis=1, keepdims=True), 1e-6)
        return np.stack([cosines(weighed, each) for each in weighed])

    def _postings_of(self, term: str) -> tuple[NDArray[np.int64], Scores]:
        number = self._number.get(term)
        if number is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        return np.array(self._rows[number], dtype=np.int64), np.array(self._counts[number], dtype=np.float32)


def _rarity(documents: int, holding: int) -> float:
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def _saturated(counts: NDArray[Any], relative_lengths: NDArray[Any]) -> NDArray[Any]:
    """Return the gain from the count of a word, in texts of these lengths as shares of the average."""
    saturated: NDArray[Any] = counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * relative_lengths))
    return saturated
