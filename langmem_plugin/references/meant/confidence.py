"""How sure each finding is: boosted trees over its evidence, fitted by `benchmarks/fit_references.py`, stored as data."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.references.words.language_table import by_form

SURE = 0.975
"""From this confidence on, a finding is acted on without asking."""
DOUBTED = 0.94
"""The most where other words may turn what is meant: a condition, an alternative, an amount."""
CLAIMED, CLAIMED_OF_PRONOUNS = 0.7, 0.5
"""From which confidence on a finding is said to be meant; who says "it" means something, so that less is enough."""
ASKED = 0.45
"""From which confidence on the person is asked."""
OF_MODEL = 0.8
"""Of a model's choice alone: about 8 of 10 are right, as far as it was tried."""
GROUPS = by_form(
    {
        "counted": "number|ordinal|exclusion|group|neighbour|other",
        "compared": "comparison",
        "described": "name|part of name|description",
        "pointed": "type|pointing|part|asked|older|agreed",
        "chosen": "chosen|perhaps chosen",
        **{alone: alone for alone in ("together", "offered", "model", "nearest")},
    }
)
"""Which findings are alike, by their sort."""


def claimed(sort: str, confidence: float) -> bool:
    return confidence >= (CLAIMED_OF_PRONOUNS if GROUPS[sort] == "pointed" else CLAIMED)


@dataclass(frozen=True)
class Trees:
    """Binary trees over features by name; a feature that is not given counts as 0.

    Every node has a feature, a threshold and two nodes to go on to, left where the feature is at most the threshold; a
    leaf goes on to itself. `roots` are the nodes to begin at, `steps` how many lead to a leaf, `values` the log odds
    that a leaf adds to `bias`.
    """

    names: Sequence[str]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float32]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    values: NDArray[np.float32]
    roots: NDArray[np.intp]
    steps: int
    bias: float

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        kinds = {"feature": np.intp, "left": np.intp, "right": np.intp, "roots": np.intp}
        arrays: dict[str, Any] = {name: np.array(stored[name], dtype=kind) for name, kind in kinds.items()}
        arrays |= {name: np.array(stored[name], dtype=np.float32) for name in ("threshold", "values")}
        return cls(names=stored["names"], steps=stored["steps"], bias=stored["bias"], **arrays)

    def chances(self, rows: Sequence[Mapping[str, float]]) -> list[float]:
        given = np.array([[row.get(name, 0.0) for name in self.names] for row in rows], dtype=np.float32)
        place = np.arange(len(rows))[:, None]
        node = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        for _ in range(self.steps):
            node = np.where(given[place, self.feature[node]] <= self.threshold[node], self.left[node], self.right[node])
        odds = self.bias + self.values[node].sum(axis=1)
        return [float(chance) for chance in 1 / (1 + np.exp(-odds))]


_trees = Trees.read(json.loads(files(__package__).joinpath("confidence.json").read_text("utf-8")))


def use(trees: Trees) -> None:
    """Weigh by others: for judging them before they are stored."""
    global _trees  # noqa: PLW0603
    _trees = trees


def confidences(rows: Sequence[Mapping[str, float]]) -> list[float]:
    """The chance that each finding is right, in [0, 1], by its evidence."""
    return _trees.chances(rows) if rows else []
