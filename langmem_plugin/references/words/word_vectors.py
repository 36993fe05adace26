"""How near words are in meaning: a vector for each common English word, and the English of Spanish and Hebrew ones."""

import lzma
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.lru import cached_if_short
from langmem_plugin.references.words import LANGUAGES

Vector = NDArray[np.float32]

DIMENSION = 64
_GLOSSED = ("es", "he")
_SHORTEST_ROOT = 5  # letters of a known word that an unknown one may begin with: "refundable"
_PREFIXES = {language.name: language.prefixes for language in LANGUAGES}
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
    glosses = _glosses(language)
    english = next((glosses[form] for form in _forms(word, language) if form in glosses), word)
    parts = [found for part in english.replace("/", " ").split() if (found := _known(part)) is not None]
    if not parts:
        return _NOTHING
    total = np.sum(parts, axis=0)
    return np.asarray(total / np.linalg.norm(total), dtype=np.float32)


def _forms(word: str, language: str) -> list[str]:
    """The word as it may stand in a dictionary: without letters written onto it, in the other gender, in singular."""
    forms = [word]
    if prefixes := _PREFIXES.get(language, ""):
        forms += [word[size:] for size in (1, 2) if len(word) > size + 1 and set(word[:size]) <= set(prefixes)]
    if language == "es":
        single = word.removesuffix("s")
        forms += [single, single.removesuffix("e"), f"{single[:-1]}o"]
    return forms


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


@cache
def _glosses(language: str) -> Mapping[str, str]:
    """By a word in normal form, its usual English: two where it has two meanings, with a stroke between them."""
    if language not in _GLOSSED:
        return {}
    file = files(__package__).joinpath(f"glosses_{language}.tsv")
    return dict(row.split("\t") for row in file.read_text("utf-8").splitlines())
