"""What the signals of a search mean: cosines and shared words as relevance, a memory's life as a tie-breaker."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.calibration import MOST_ODDS, Calibration

Scores = NDArray[np.float32]  # one per row

LIKELY = 0.5
"""The relevance of what is as likely about a question as not."""
POINT = 20.0
"""In the logarithm of the odds: what sixty facts differ by in their nearness to a question."""

_COVERED_MIDPOINT = 0.25  # of the query, where a text is as likely about it as not
_COVERED_SLOPE = 12.0
_BEHIND = 4.2  # what a memory may be behind the nearest in the logarithm of its odds before that counts against it
_RECENCY, _RECENT_DAYS = 0.06, 30.0
_USE, _OFTEN_USED = 0.05, 20.0
_CONFIDENCE = 0.04
_GAINS_ALL_FROM = 0.7  # of the similarity
_MICROSECONDS_A_DAY = 86_400e6


def semantic(cosines: Scores, calibration: Calibration, fits: NDArray[np.bool_]) -> Scores:
    """The relevance of each row by its calibrated cosine.

    What is far behind the nearest of the rows that fit is less relevant than its cosine says: the question is about
    something else.
    """
    odds = calibration.slope * (cosines - calibration.midpoint)  # logarithms
    if fits.any():
        odds = odds - np.maximum(calibration.slope * (cosines[fits].max() - cosines) - _BEHIND, 0.0)
    relevance: Scores = (1.0 / (1.0 + np.exp(np.clip(-odds, -MOST_ODDS, MOST_ODDS)))).astype(np.float32)
    return relevance


def similarity_of(relevance: Scores | None, coverage: Scores | None, rows: int) -> Scores:
    """How surely a row is about the query, in [0, 1]. A signal that did not run is None.

    With both, either may suffice, but few shared words say little. Words alone are read as the cosine is,
    by a curve: a text that covers a third of the query, weighted by rarity, is at 0.7.
    """
    if coverage is None:
        return np.zeros(rows, dtype=np.float32) if relevance is None else relevance
    if relevance is None:
        curve = 1.0 / (1.0 + np.exp(-_COVERED_SLOPE * (coverage - _COVERED_MIDPOINT)))
        return np.where(coverage > 0, curve, 0.0).astype(np.float32)
    doubt = (1.0 - relevance) * (1.0 - np.clip(coverage, 0.0, 1.0) ** 2)
    return (1.0 - doubt).astype(np.float32)


@dataclass(frozen=True)
class Lived:
    """What each row gains by its life so far, in points of the score: at most 0.15 together."""

    recency: Scores
    use: Scores
    confidence: Scores

    @property
    def total(self) -> Scores:
        return self.recency + self.use + self.confidence

    def where_relevant(self, similarity: Scores) -> "Lived":
        """What is as likely not about the question gains nothing: no irrelevant row is lifted over a relevant one."""
        gate = np.clip((similarity - LIKELY) / (_GAINS_ALL_FROM - LIKELY), 0.0, 1.0)
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
