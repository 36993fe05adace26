"""Logistic regression with a ridge, by Newton's method: how fit_pairs.py fits its tables."""

import numpy as np

_STEPS, _ENOUGH, _RIDGE_OF_BIAS = 50, 1e-6, 0.01


def fitted(features: np.ndarray, right: np.ndarray, weights: np.ndarray, *, ridge: float) -> np.ndarray:
    """Coefficients; the first column of `features` is the bias, which has next to no ridge."""
    ridges = np.eye(features.shape[1]) * ridge
    ridges[0, 0] = _RIDGE_OF_BIAS
    found = np.zeros(features.shape[1])
    for _ in range(_STEPS):
        chance = probability(features, found)
        slope = features.T @ (weights * (right - chance)) - ridges @ found
        curve = (features * (weights * chance * (1 - chance))[:, None]).T @ features + ridges
        step = np.linalg.solve(curve, slope)
        found += step
        if np.abs(step).max() < _ENOUGH:
            break
    return found


def probability(features: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-np.clip(features @ coefficients, -30, 30))))
