"""What tells which of somebody's talks with an assistant a question goes on with, beside what they say.

A word that comes up in talk after talk tells little about each: the talk that brought it up and the one that had it
last hold what was said of it. Who told much in a talk left much in it. And a later talk that answers better has what
stood in the earlier one.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from langmem_plugin.memory.find.bm25 import Group, Scores, WordIndex

_MENTIONS = 2.0
_AVERAGE_PLACE = 0.5  # what a word counts in a talk that neither begins nor ends its row of two or three
_TOLD = 0.15
_OUTDONE = 0.15
_MOST_SESSIONS = 40  # those that score best


def mentions(
    words: WordIndex, asked: Iterable[Group], group_of: NDArray[np.intp], late: Scores, fits: NDArray[np.bool_]
) -> Scores:
    """What every message gains by its session's place among those that say the words asked for, or loses in the midst
    of many; one number a session, 0 on the average.

    `group_of` holds the number of each message's session, `late` what grows with its day; only what fits counts.
    """
    sessions, first_rows = np.unique(group_of[fits], return_index=True)
    in_order = sessions[np.argsort(late[fits][first_rows], kind="stable")]
    turn = np.zeros(int(group_of.max(initial=-1)) + 1, dtype=np.intp)
    turn[in_order] = np.arange(len(in_order))
    turn_of = np.where(fits, turn[group_of], len(in_order))  # after the last: what does not fit
    gained, total = np.zeros(len(in_order) + 1), 0.0
    for group in dict.fromkeys(asked):
        says = np.zeros(len(gained), dtype=np.bool_)
        for term in group:
            says[turn_of[words.rows(term)]] = True
        holding = np.flatnonzero(says[:-1])
        if len(holding):
            rarity = np.log(1 + (len(in_order) - len(holding) + 0.5) / (len(holding) + 0.5))
            before = np.arange(len(holding))
            gained[holding] += rarity * (1 / (1 + np.minimum(before, before[::-1])) - _AVERAGE_PLACE)
            total += rarity
    if total:
        gained -= gained[:-1].mean()
        gained *= _MENTIONS / total
    return (gained[turn_of] * fits).astype(np.float32)


def told(words: WordIndex, group_of: NDArray[np.intp], by_person: NDArray[np.bool_], fits: NDArray[np.bool_]) -> Scores:
    """What every message gains by how much people said in its session, or loses; one number a session, 0 on the
    average.
    """
    size = int(group_of.max(initial=-1)) + 1
    there = np.bincount(group_of[fits], minlength=size) > 0
    said = np.log1p(np.bincount(group_of, words.lengths * (by_person & fits), size))
    if there.any():
        said -= said[there].mean()
    return (_TOLD * said[group_of] * fits).astype(np.float32)


def outdone(score: Scores, group_of: NDArray[np.intp], late: Scores, fits: NDArray[np.bool_]) -> Scores:
    """What every message loses by the later sessions that score better than its own; one number a session."""
    top = best_scores(score, group_of, fits)
    place = np.full(len(top), -np.inf)
    place[group_of[fits]] = late[fits]
    best = np.argsort(-top, kind="stable")[:_MOST_SESSIONS]
    better_and_later = np.tril(place[best] > place[best][:, None])  # in the order of the scores: of each, those before
    lost = np.full(len(top), np.log1p(_MOST_SESSIONS))
    lost[best] = np.log1p(better_and_later.sum(axis=1))
    return (-_OUTDONE * lost[group_of] * fits).astype(np.float32)


def of_best_messages(gains: Scores, score: Scores, group_of: NDArray[np.intp], fits: NDArray[np.bool_]) -> Scores:
    """What each session gains, for its best message alone, so that few sessions do not fill the first places; what it
    loses, for all of them.
    """
    top = best_scores(score, group_of, fits)
    return np.where(score >= top[group_of], gains, np.minimum(gains, 0.0))


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
