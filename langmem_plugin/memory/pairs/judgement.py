"""What a new text does to known ones where the rules are not sure: by weights that were fitted to pairs of texts.

`benchmarks/fit_pairs.py` fits them, on stories other than those it judges them by, and stores them in judgement.json.
By words alone: what the default model's cosine adds to them is less than what another fold of the stories does.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.facts import Relation, Statement
from langmem_plugin.facts.codes import codes
from langmem_plugin.memory.pairs.pair_features import Features, compare_candidates, features

TIMES: Final = " * "
"""Between two features in the name of their product."""

Question = Literal["duplicate", "supersedes"]
QUESTIONS: Final[tuple[Question, Question]] = ("duplicate", "supersedes")
Table: TypeAlias = Mapping[str, Mapping[str, float]]
Weights: TypeAlias = tuple[list[str], NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]
SAME_WORDS: Final = Relation("duplicate", "says the same in the same words")
_SURE_ODDS: Final = 30.0
_HALF: Final = 0.5
_OF_ITS_OWN: Final = ("roles new", "name new", "left new day", "left new time", "swap number")


@dataclass(frozen=True)
class Known:
    """A text that a new one may concern; `rule` is what the rules say of the two."""

    statement: Statement
    rule: Relation


@dataclass(frozen=True)
class Chances:
    """That the new text says nothing that the known one does not, and that the known one is no longer so."""

    duplicate: float
    supersedes: float


@dataclass(frozen=True)
class Bounds:
    """From which chance on something is decided. What the rules know again or would replace is kept beside the new text
    where the chance of it is below `doubted`.
    """

    duplicate: float
    supersedes: float
    doubted_duplicate: float
    doubted: float


def judged(new: Statement, known: Sequence[Known]) -> list[Relation]:
    """What is to be done with each; at most one is decided on beside the rules."""
    if not known or any(each.rule == SAME_WORDS for each in known):
        return [each.rule for each in known]
    return decided(new, known, chances(new, known), stored_bounds())


def decided(new: Statement, known: Sequence[Known], found: Sequence[Chances], bounds: Bounds) -> list[Relation]:
    """The same, for chances and bounds that are given."""
    rules = [_doubted(each.rule, chance, bounds) for each, chance in zip(known, found, strict=True)]
    if any(rule.kind in ("duplicate", "supersedes") for rule in rules):
        return rules
    same = max(range(len(known)), key=lambda at: found[at].duplicate)
    over = max(range(len(known)), key=lambda at: found[at].supersedes)
    if found[same].duplicate >= max(bounds.duplicate, found[over].supersedes):
        if _codes(new.text) <= _codes(known[same].statement.text):
            rules[same] = Relation("duplicate", "seems to say the same")
    elif found[over].supersedes >= bounds.supersedes:
        rules[over] = Relation("supersedes", "seems to say that it has changed")
    return rules


def _doubted(rule: Relation, chance: Chances, bounds: Bounds) -> Relation:
    doubtful = (rule.kind == "duplicate" and chance.duplicate < bounds.doubted_duplicate) or (
        rule.kind == "supersedes" and chance.supersedes < bounds.doubted
    )
    return Relation("keeps_both", "both can be so") if doubtful else rule


def chances(new: Statement, known: Sequence[Known]) -> list[Chances]:
    """Of each, among all that the new text may concern."""
    return [chances_of(row, _stored_weights()) for row in compared(new, known)]


def compared(new: Statement, known: Sequence[Known]) -> list[Features]:
    """The features of each pair."""
    rows = [features(new.text, each.statement.text, new, each.statement, each.rule) for each in known]
    compare_candidates(rows)
    return rows


def stored_bounds() -> Bounds:
    return Bounds(**_stored()["bounds"])


def chances_of(row: Features, weights: Weights) -> Chances:
    names, products, of_questions, bias = weights
    single = np.array([row.get(name, 0.0) for name in names])
    odds = of_questions @ np.concatenate([single, single[products[0]] * single[products[1]]]) + bias
    duplicate, supersedes = 1 / (1 + np.exp(-np.clip(odds, -_SURE_ODDS, _SURE_ODDS)))
    return Chances(0.0 if _says_another(row) else float(duplicate), float(supersedes))


def _says_another(row: Features) -> bool:
    """Whether the new text names a person, name, day or time of its own, or a number where the old one has another."""
    return any(row.get(name, 0.0) > _HALF for name in _OF_ITS_OWN)


def weights_of(table: Table) -> Weights:
    """The features; the places of the two of each product; the weights of both, a row for each question; their bias."""
    stored = [table[question] for question in QUESTIONS]
    names = sorted({part for each in stored for name in each for part in name.split(TIMES)} - {"bias"})
    products = sorted({name for each in stored for name in each if TIMES in name})
    places = np.array([[names.index(part) for part in name.split(TIMES)] for name in products], dtype=np.intp)
    weights = np.array([[each.get(name, 0.0) for name in (*names, *products)] for each in stored])
    return names, places.reshape(-1, 2).T, weights, np.array([each["bias"] for each in stored])


@cache
def _stored_weights() -> Weights:
    return weights_of(_stored())


@cache
def _stored() -> Mapping[str, Mapping[str, float]]:
    found: Mapping[str, Mapping[str, float]] = json.loads(
        files(__package__).joinpath("judgement.json").read_text("utf-8")
    )
    return found


def _codes(text: str) -> frozenset[str]:
    return frozenset(code for _, _, code in codes(text))
