"""Softmax regression over groups of unequal size, of which several members may be right."""

from collections.abc import Sequence

import numpy as np

_STEPS, _TINY = 400, 1e-8


def softmax_fitted(groups: Sequence[np.ndarray], right: Sequence[np.ndarray], *, ridge: float) -> np.ndarray:
    """Coefficients by which, of each group's rows (rows, features), one of those that are right is the likeliest. By
    Adam's method, with steps that shrink.
    """
    rows, good = np.concatenate(groups).astype(np.float32), np.concatenate(right)
    scale = rows.std(axis=0) + _TINY
    rows /= scale
    starts = np.cumsum([0, *map(len, groups)])[:-1]
    owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    found = np.zeros(rows.shape[1])
    first, second = np.zeros_like(found), np.zeros_like(found)
    for step in range(1, _STEPS + 1):
        score = rows @ found.astype(np.float32)
        part = np.exp(score - np.maximum.reduceat(score, starts)[owner])
        chance = part / np.add.reduceat(part, starts)[owner]
        wanted = chance * good
        wanted /= np.maximum(np.add.reduceat(wanted, starts)[owner], _TINY)
        slope = rows.T @ (chance - wanted) / len(groups) + ridge * found
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope * slope
        rate = 0.05 * (1 - step / (_STEPS + 1))
        found = found - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + _TINY)
    return np.asarray(found / scale)
