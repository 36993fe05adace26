"""Judge how a new text relates to known ones where rules are not sure: by weights fitted to pairs of texts.

`benchmarks/fit_pairs.py` fits them, on stories other than those it judges them by, and stores them in judgement.json.
By words alone: the default model's cosine added nothing to them.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import mul
from typing import Final, Literal, TypeAlias

from langmem_plugin.facts import Relation, Statement
from langmem_plugin.facts.new_against_old import SAME_WORDS
from langmem_plugin.facts.values import codes
from langmem_plugin.languages.plain_text import plain
from langmem_plugin.memory.pairs.pair_features import Features, compare_candidates, features, nearness

Question = Literal["duplicate", "supersedes"]
QUESTIONS: Final[tuple[Question, Question]] = ("duplicate", "supersedes")
Weights: TypeAlias = Mapping[str, Mapping[str, float]]
BIAS: Final = "bias"
_SURE_ODDS: Final = 30.0
_FIGURES: Final = re.compile(r"\d++")
_HALF: Final = 0.5
_LEAST_SAID: Final = 0.4
_MOST: Final = 8  # texts that a new one is held against
_OF_ITS_OWN: Final = (
    "roles new",
    "name new",
    "left new day",
    "left new time",
    "swap number",
    "swap period",
    "turned round",
    "turned about",
    "another in its place",
)


@dataclass(frozen=True)
class Known:
    """A text that a new one may concern; `rule` is what the rules say of the two."""

    statement: Statement
    rule: Relation


@dataclass(frozen=True)
class Chances:
    """The chances that the new text only repeats the known one, and that the known one is no longer so.

    `of_its_own`: it names a person, name, day or time that the known one does not, or a number in another's place,
    or begins what the known one ends.
    """

    duplicate: float
    supersedes: float
    of_its_own: bool = False


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
    """Decide the relation to each known text; at most one is decided on beside the rules."""
    places = weighed(new, known)
    return settled(new, known, places, chances(new, [known[at] for at in places]), stored_bounds())


def settled(
    new: Statement, known: Sequence[Known], places: Sequence[int], found: Sequence[Chances], bounds: Bounds
) -> list[Relation]:
    """The same, for given chances of the known ones at `places`, and given bounds."""
    rules = [each.rule for each in known]
    for at, rule in zip(places, _decided(new, [known[at] for at in places], found, bounds), strict=True):
        rules[at] = rule
    return rules


def weighed(new: Statement, known: Sequence[Known]) -> list[int]:
    """The places of those that the new text is held against: the likeliest few, and none where one has its words."""
    if any(each.rule == SAME_WORDS for each in known):
        return []
    # "Paid 40 for lamps" and "Paid 50 for lamps" are two of a row, where no rule says that only one holds.
    others = [at for at, each in enumerate(known) if _in_figures(new.text) != _in_figures(each.statement.text)]
    return sorted(sorted(others, key=lambda at: _likeliness(new, known[at]), reverse=True)[:_MOST])


def _in_figures(text: str) -> str:
    return _FIGURES.sub("0", plain(text))


def _likeliness(new: Statement, known: Known) -> tuple[bool, float]:
    return known.rule.kind in QUESTIONS, nearness(new.text, known.statement.text)


def _decided(new: Statement, known: Sequence[Known], found: Sequence[Chances], bounds: Bounds) -> list[Relation]:
    rules = [_doubted(each, chance, bounds) for each, chance in zip(known, found, strict=True)]
    if any(rule.kind in ("duplicate", "supersedes") for rule in rules):
        return rules
    if not known:
        return rules
    repeats = [0.0 if each.of_its_own else each.duplicate for each in found]
    same = max(range(len(known)), key=repeats.__getitem__)
    over = max(range(len(known)), key=lambda at: found[at].supersedes)
    if repeats[same] >= max(bounds.duplicate, found[over].supersedes):
        if _codes(new.text) <= _codes(known[same].statement.text):
            rules[same] = Relation("duplicate", "seems to say the same")
    elif found[over].supersedes >= bounds.supersedes:
        rules[over] = Relation("supersedes", "seems to say that it has changed")
    return rules


def _doubted(known: Known, chance: Chances, bounds: Bounds) -> Relation:
    """The relation by the rules, or "keeps_both" where that relation is unlikely by the weights."""
    rule = known.rule
    doubtful = (rule.kind == "duplicate" and chance.duplicate < bounds.doubted_duplicate) or (
        rule.kind == "supersedes" and rule.by_place and chance.supersedes < bounds.doubted
    )
    return Relation("keeps_both", "both can be so") if doubtful else rule


def chances(new: Statement, known: Sequence[Known]) -> list[Chances]:
    """The chances of each, among all that the new text may concern."""
    return [chances_of(row, _stored()) for row in compared(new, known)]


def compared(new: Statement, known: Sequence[Known]) -> list[Features]:
    """The features of each pair."""
    rows = [features(new, each.statement, each.rule) for each in known]
    compare_candidates(rows)
    return rows


@cache
def stored_bounds() -> Bounds:
    return Bounds(**_stored()["bounds"])


def chances_of(row: Features, weights: Weights) -> Chances:
    values = row | {BIAS: 0.0}
    duplicate, supersedes = (_chance(values, weights[question]) for question in QUESTIONS)
    if row["of one alone"] or row["turned about"]:
        supersedes = 0.0  # something else of the same person; what is begun ends nothing else
    if row["no things"]:
        duplicate = supersedes = 0.0  # a number alone, or a day, makes no two texts speak of one thing
    elif row["cov new"] < _LEAST_SAID:
        duplicate = 0.0
    return Chances(duplicate, supersedes, any(row[name] > _HALF for name in _OF_ITS_OWN))


def _chance(row: Features, weights: Mapping[str, float]) -> float:
    odds = weights[BIAS] + sum(map(mul, weights.values(), map(row.__getitem__, weights)))
    return 1 / (1 + math.exp(-max(-_SURE_ODDS, min(_SURE_ODDS, odds))))


@cache
def _stored() -> Weights:
    found: Weights = json.loads(files(__package__).joinpath("judgement.json").read_text("utf-8"))
    return found


def _codes(text: str) -> frozenset[str]:
    return frozenset(code for _, _, code in codes(text))
