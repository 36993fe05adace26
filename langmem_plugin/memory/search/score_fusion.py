"""How the signals of a search become one score: meaning and words; near_equals.py has what orders the rest."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.embedding.calibration import MOST_ODDS, Calibration

Scores = NDArray[np.float32]  # one per row

_COVERED_MIDPOINT = 0.25  # of the query, where a text is as likely about it as not
_COVERED_SLOPE = 12.0
_BEHIND = 4.2  # what a memory may be behind the nearest in the logarithm of its odds before that counts against it
_FIELD = (10, 25)  # of the nearest, counted from 0


def semantic(cosines: Scores, calibration: Calibration, fits: NDArray[np.bool_]) -> tuple[Scores, Scores]:
    """(relevance, spread) of each row: the calibrated cosine, and the cosine between the lowest and the highest
    of the rows that fit.

    What is far behind the nearest is less relevant than its cosine says: the question is about something else.
    """
    odds = calibration.slope * (cosines - calibration.midpoint)  # logarithms
    chosen = cosines[fits]
    if not len(chosen):
        return _logistic(odds), np.zeros_like(cosines)
    low, high = float(chosen.min()), float(chosen.max())
    behind = calibration.slope * (high - cosines)
    return _logistic(odds - np.maximum(behind - _BEHIND, 0.0)), (cosines - low) / max(high - low, 1e-6)


def against_field(cosines: Scores, calibration: Calibration) -> Calibration:
    """The curve for one question, from its cosines with everything that may answer it.

    Where a question has an answer, the nearest fact is ahead of the field: of what comes eleventh to twenty-fifth, so
    that ten facts about one subject do not hold each other back. What its lead is short of the usual one counts against
    all; a longer one says nothing for the others. Below ten facts there is no field.
    """
    missing = max(_FIELD[1] - len(cosines), 0)
    size = _FIELD[1] - _FIELD[0]
    if calibration.lead is None or missing >= size:
        return calibration
    best = np.sort(np.partition(cosines, missing - _FIELD[1])[missing - _FIELD[1] :])[::-1]
    lead = float(best[0] - best[_FIELD[0] :].mean())
    short = max(calibration.lead - lead, 0.0)
    return replace(calibration, midpoint=calibration.midpoint + (1 - missing / size) * short)


def _logistic(odds: Scores) -> Scores:
    relevance: Scores = (1.0 / (1.0 + np.exp(np.clip(-odds, -MOST_ODDS, MOST_ODDS)))).astype(np.float32)
    return relevance


def similarity(relevance: Scores | None, coverage: Scores | None, rows: int) -> Scores:
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


def by_words(coverage: Scores) -> Scores:
    """What the words of the query add to the score.

    Coverage counts by its cube: the words that a question and a fact share by chance then hardly count, and
    a name or number that is most of the question counts as much as all of meaning.
    """
    counted: Scores = coverage**3
    return counted
