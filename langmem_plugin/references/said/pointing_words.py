"""How far the words of an utterance alone are those that people point at something shown with."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Self

import numpy as np

from langmem_plugin.references.said.requests import is_verb
from langmem_plugin.references.said.tagger import Mark
from langmem_plugin.references.text.atoms import is_known
from langmem_plugin.references.text.tokens import is_stop
from langmem_plugin.references.words.word_vectors import DIMENSION, Vector, vector

_MOST = 24


@dataclass(frozen=True)
class Weights:
    """Of single terms and of the mean vector of the words; fitted by `benchmarks/fit_references.py`, stored as data."""

    bias: float
    vector: Vector
    terms: Mapping[str, float]

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        return cls(stored["bias"], np.array(stored["vector"], dtype=np.float32), stored["terms"])


_weights = Weights.read(json.loads(files(__package__).joinpath("pointing_words.json").read_text("utf-8")))


def use(weights: Weights) -> None:
    """Weigh by others: for judging them before they are stored."""
    global _weights  # noqa: PLW0603
    _weights = weights


def pointing(marks: Sequence[Mark], language: str, known: Collection[str]) -> float:
    """Log odds that something shown is meant; `known` are the words of what was shown."""
    told = sum(_weights.terms.get(term, 0.0) for term in terms(marks, known))
    return float(_weights.bias + told + mean_vector(marks, language) @ _weights.vector)


def terms(marks: Sequence[Mark], known: Collection[str]) -> list[str]:
    """Each once: the words and two neighbours; and up to three neighbours of what they are: a known word (K), a verb (V)
    or another (U), if it is not one of those that hold sentences together.
    """
    words = ["<", *("0" if mark.text[:1].isdigit() else mark.text for mark in marks[:_MOST]), ">"]
    kinds = ["<", *(_kind(mark, known) for mark in marks[:_MOST]), ">"]
    found = [*words[1:-1], *_neighbours(words, 2), *kinds[1:-1], *_neighbours(kinds, 2), *_neighbours(kinds, 3)]
    return list(dict.fromkeys(found))


def mean_vector(marks: Sequence[Mark], language: str) -> Vector:
    vectors = [vector(mark.text, language) for mark in marks[:_MOST] if mark.text[:1].isalpha()]
    return np.asarray(np.mean(vectors, axis=0) if vectors else np.zeros(DIMENSION), dtype=np.float32)


def _neighbours(words: Sequence[str], count: int) -> list[str]:
    return [" ".join(words[place : place + count]) for place in range(len(words) - count + 1)]


def _kind(mark: Mark, known: Collection[str]) -> str:
    if mark.text[:1].isdigit():
        return "0K" if mark.text in known else "0"
    if not mark.text[:1].isalpha() or mark.kinds or is_stop(mark.text):
        return mark.text
    if is_known(mark.text, known):
        return "K"
    return "V" if is_verb(mark.text) else "U"
