"""What orders memories that are about equally relevant: how new, how much used and how sure they are.

A point of the score is all of the question's words, or what lies between the nearest memory and the farthest: about
20 in the logarithm of the odds of being about the question. So much can each term move a memory against another, at
most:

    recency     0.06   1.2 of those 20   used or told just now, against long ago; 90 days: 0.0525
    use         0.05   1.0               used 20 times or more, against never
    confidence  0.04   0.8               sure, against not at all
    all         0.15   3.0               as odds of 9 to 1 are from odds of 1 to 2

What is more than that ahead, by meaning or by words, is never passed. What is as likely not about the question gains
nothing, and from a similarity of 0.7 on a memory gains all: no irrelevant one is lifted over a relevant one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.calibration import Calibration
from langmem_plugin.memory.search.score_fusion import Scores

MOST = 0.15
"""What all terms can move a memory against another, where both are relevant."""

_POINT = 20.0  # in the logarithm of the odds: what sixty facts differ by in their nearness to a question
_FEW = 10  # memories do not show how far apart memories can be
_RECENCY = 0.06
_RECENT_DAYS = 30.0
_USE = 0.05
_OFTEN_USED = 20.0
_CONFIDENCE = 0.04
_GAINS_FROM, _GAINS_ALL_FROM = 0.5, 0.7  # of the similarity
_MICROSECONDS_A_DAY = 86_400e6


@dataclass(frozen=True)
class Nearness:
    """How near each row is to the question, 1 for the nearest. `unit` is what a term counts, where a point is more."""

    score: Scores
    unit: float


def nearness(cosines: Scores, calibration: Calibration, fits: NDArray[np.bool_]) -> Nearness:
    """Between the lowest and the highest of the rows that fit; of few rows, in a window that is wider than they are.

    Of two memories that differ by little, alone in a memory, the nearer would else be all and the other nothing.
    """
    chosen = cosines[fits]
    if not len(chosen):
        return Nearness(np.zeros_like(cosines), 1.0)
    high, point = float(chosen.max()), _POINT / max(calibration.slope, 1e-6)
    apart = max(high - float(chosen.min()), 1e-6)
    width = max(apart, point * min(1.0, _FEW / len(chosen)))
    return Nearness(1.0 + (cosines - high) / width, min(1.0, point / width))


@dataclass(frozen=True)
class Lived:
    """What each row gains by its life so far."""

    recency: Scores
    use: Scores
    confidence: Scores

    @property
    def total(self) -> Scores:
        return self.recency + self.use + self.confidence

    def among_near_equals(self, similarity: Scores, unit: float) -> "Lived":
        """For rows that are as surely about a question, in the score's points as `unit` has them."""
        gate = np.clip((similarity - _GAINS_FROM) / (_GAINS_ALL_FROM - _GAINS_FROM), 0.0, 1.0) * unit
        return Lived(*((each * gate).astype(np.float32) for each in (self.recency, self.use, self.confidence)))


def lived(used: NDArray[np.int64], uses: NDArray[np.int32], confidence: Scores, now: int) -> Lived:
    """Recency halves every 30 days since the last use (or the creation); use grows with its logarithm and is full at
    20 uses. `used` and `now` are microseconds since 1970.
    """
    recency = _RECENCY * np.exp2(-days(used, now) / _RECENT_DAYS)
    use = _USE * np.minimum(np.log1p(uses) / np.log1p(_OFTEN_USED), 1.0)
    return Lived(*(each.astype(np.float32) for each in (recency, use, _CONFIDENCE * confidence)))


def days(used: NDArray[np.int64], now: int) -> NDArray[np.float64]:
    """Since a row was used or told last; 0 for what lies ahead."""
    since: NDArray[np.float64] = np.maximum(now - used, 0) / _MICROSECONDS_A_DAY
    return since
