"""Sessions about one thing hold each other up: a part of what each scores is what sessions much like it score.

A question that goes on with something seldom says its name, and then finds one session of it and strangers beside. Of
what is searched together the alike answers alike (van Rijsbergen, 1979; as here, in one step: Diaz, 2005).
"""

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.search.bm25 import WordIndex
from langmem_plugin.memory.search.score_fusion import Scores

_MOST_SESSIONS = 40  # those that score best,
_MOST_MESSAGES = 8  # and of each the messages that do: long talks are about much
_TEMPERATURE = 0.5  # of a score: how soon what is behind the best counts for nothing
_OWN_SHARE = 0.5
_FURTHEST = -60.0  # behind the best, in temperatures
_NOTHING = 1e-9


def spreading(words: WordIndex, score: Scores, group_of: NDArray[np.intp], fits: NDArray[np.bool_]) -> Scores:
    """What every message gains by what sessions like its own score, or loses without such; one number a session.

    `group_of` holds the number of each message's session; what does not fit is not looked at, and gains nothing.
    """
    rows = np.flatnonzero(fits)
    top = best_scores(score, group_of, fits)
    best = np.argsort(-top, kind="stable")[:_MOST_SESSIONS]
    best = best[np.isfinite(top[best])]
    if len(best) <= 1:
        return np.zeros_like(score)
    alike = words.likeness([_best_messages(rows[group_of[rows] == session], score) for session in best]) ** 2
    np.fill_diagonal(alike, 0.0)
    alike /= np.maximum(alike.sum(axis=1, keepdims=True), _NOTHING)
    own = np.exp(np.maximum((top[best] - top.max()) / _TEMPERATURE, _FURTHEST))
    lent = np.vecdot(alike.T, own)
    gained = np.full(len(top), np.log(_OWN_SHARE), dtype=np.float32)
    gained[best] = np.log(_OWN_SHARE + (1 - _OWN_SHARE) * lent / own)
    return _TEMPERATURE * gained[group_of] * fits


def best_scores(score: Scores, group_of: NDArray[np.intp], fits: NDArray[np.bool_]) -> NDArray[np.float64]:
    """By its number, the best score of each session's messages that fit; minus infinity where none does."""
    top = np.full(int(group_of.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(top, group_of[fits], score[fits])
    return top


def _best_messages(rows: NDArray[np.intp], score: Scores) -> NDArray[np.intp]:
    return rows[np.argsort(-score[rows], kind="stable")[:_MOST_MESSAGES]]
