"""How near words are in meaning: a vector for each common English word, and the English of Spanish and Hebrew ones."""

import lzma
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.languages.glosses import english_of
from langmem_plugin.lru import cached_if_short

Vector = NDArray[np.float32]

DIMENSION = 64
_SHORTEST_ROOT = 5  # letters of a known word that an unknown one may begin with: "refundable"
_NOTHING: Vector = np.zeros(DIMENSION, dtype=np.float32)


def vector(word: str, language: str) -> Vector:
    """Of unit length, shape (64,); zeros where nothing is known of the word.

    `word` is in normal form, `language` the one it is read in; what is not known there is read as English. Made by
    `python -m benchmarks.word_vectors` from what two sentence embedders say of each word alone; the English of Spanish
    and Hebrew words is our own.
    """
    return _vector(word, "he" if "\u05d0" <= word[:1] <= "\u05ea" else language)


@cached_if_short(8192)
def _vector(word: str, language: str) -> Vector:
    english = english_of(word, language) or word
    parts = [found for part in english.replace("/", " ").split() if (found := _known(part)) is not None]
    if not parts:
        return _NOTHING
    total = np.sum(parts, axis=0)
    return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


def _known(word: str) -> Vector | None:
    table, places = _table()
    for size in range(len(word), min(_SHORTEST_ROOT, len(word)) - 1, -1):
        if (place := places.get(word[:size])) is not None:
            row = table[place].astype(np.float32)
            return np.asarray(row / np.linalg.norm(row), dtype=np.float32)
    return None


@cache
def _table() -> tuple[NDArray[np.int8], Mapping[str, int]]:
    here = files(__package__)
    words = lzma.decompress(here.joinpath("word_vectors.words.xz").read_bytes()).decode().split("\n")
    rows = np.frombuffer(here.joinpath("word_vectors.int8").read_bytes(), dtype=np.int8).reshape(-1, DIMENSION)
    return rows, {word: place for place, word in enumerate(words)}
