"""The calibration of a model: the meaning of its cosines, known for measured models and fitted for others."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from langmem_plugin.memory.keep.vectors import Vector

MOST_ODDS = 60.0  # a logarithm; without a bound, a model that tells nothing apart gets a very steep curve


@dataclass(frozen=True)
class Calibration:
    """The logistic curve that turns a model's cosine into a relevance in [0, 1].

    Every model spreads its cosines differently, so a bound such as 0.7 only means the same for all of them after this:
    fitted to pairs of a question and a fact, 0.7 keeps most relevant facts and few others.
    """

    midpoint: float  # the cosine that is relevant as often as not
    slope: float

    def relevance(self, cosine: float) -> float:
        odds = self.slope * (cosine - self.midpoint)
        return 1.0 / (1.0 + math.exp(-max(-MOST_ODDS, min(MOST_ODDS, odds))))


_STORED = json.loads(files(__package__).joinpath("calibrations.json").read_text("utf-8"))
KNOWN = {model: Calibration(*curve) for model, curve in _STORED["texts"].items()}
"""The calibrations of known models, for any two texts."""
OF_QUESTIONS = {
    model: {language: Calibration(*curve) for language, curve in curves.items()}
    for model, curves in _STORED["questions"].items()
}
"""The calibrations by the language of the question, for a question and the facts of one owner.

At 0.7 less than half of what asks nothing of a memory is near one.
"""
PAIRS: list[tuple[str, str]] = [(fact, question) for fact, question in _STORED["pairs"]]
"""Pairs of a fact and its question, as a person would text it: each fact answers its question and no other."""


def fitted(facts: Sequence[Vector], questions: Sequence[Vector]) -> Calibration:
    """Return the logistic curve that best tells pairs from non-pairs, both weighing the same.

    `facts` and `questions` are the vectors of PAIRS, in order. Newton's method; a slight pull towards a flat
    curve keeps it finite where the two do not overlap.
    """
    cosines = np.stack(questions).astype(np.float64) @ np.stack(facts).astype(np.float64).T
    paired = np.eye(len(facts), dtype=bool)
    values = np.concatenate([cosines[paired], cosines[~paired]])
    wanted = np.concatenate([np.ones(len(facts)), np.zeros(values.size - len(facts))])
    weights = np.where(wanted == 1.0, 0.5 / len(facts), 0.5 / (values.size - len(facts)))
    center, spread = float(values.mean()), max(float(values.std()), 1e-6)
    inputs = np.stack([(values - center) / spread, np.ones_like(values)], axis=1)
    pull = np.diag([1e-3, 0.0])
    curve = np.zeros(2)
    for _ in range(25):
        believed = 1.0 / (1.0 + np.exp(-np.clip(inputs @ curve, -30.0, 30.0)))
        gradient = inputs.T @ (weights * (believed - wanted)) + pull @ curve
        bend = (inputs * (weights * believed * (1.0 - believed))[:, None]).T @ inputs + pull + 1e-9 * np.eye(2)
        curve -= np.linalg.solve(bend, gradient)
    steepness, offset = float(curve[0]), float(curve[1])
    if steepness <= 0.0:  # the model does not tell pairs from others: nothing is near enough
        return Calibration(1.0, 1.0 / spread)
    return Calibration(center - spread * offset / steepness, steepness / spread)
