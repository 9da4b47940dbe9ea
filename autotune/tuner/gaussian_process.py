"""Regression with a Gaussian process over the draws of a search space (Rasmussen, Williams: Gaussian Processes for
Machine Learning, 2006, chapters 2 and 5).

The covariance of two draws is σ²·exp(-Σ w·d), summed over the parameters: d is 1 where words differ, and between
numbers the steps in their order as a share of all. The weights w, one for each parameter, σ and the noise maximise the
marginal likelihood under log-normal priors, which keep a handful of values from being explained too well. The mean is a
linear function of known features (section 2.7), whose first coefficient is free and whose others are near 1 a priori.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from ..search_spaces.space import Draw, Parameter

Floats = npt.NDArray[np.float64]

_STEPS = 15  # of L-BFGS for each fit, which begins where the last one ended
_SIGMA, _NOISE, _WEIGHT = 0.3, 0.02, 1.0  # a priori, of logarithms of seconds
_SPREAD = 1.0  # standard deviation of their logarithms
_FREE, _NEAR = 1e-6, 1.0  # precision of a coefficient a priori


class Encoding:
    """Draws as points in a space in which the differences of one parameter are adjacent columns."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._rows: dict[str, dict[Any, Floats]] = {}
        groups: list[int] = []
        for parameter in parameters:
            count = len(parameter.values)
            if count < 2:
                continue
            steps = np.arange(count)[:, None] / (count - 1) if parameter.ordered else np.eye(count) / 2
            self._rows[parameter.name] = dict(zip(parameter.values, steps, strict=True))
            groups += [len(self._rows) - 1] * steps.shape[1]
        self._groups = np.array(groups, dtype=int)
        self.parameters = len(self._rows)

    def point(self, draw: Draw) -> Floats:
        """The coordinates of a draw."""
        return np.concatenate([np.zeros(0), *(rows[draw[name]] for name, rows in self._rows.items())])

    def differences(self, points: Floats) -> Floats:
        """(parameters, n, n) differences of n points, each from 0 to 1."""
        columns = (points[:, self._groups == group] for group in range(self.parameters))
        return np.array([cdist(of_one, of_one, "cityblock") for of_one in columns]).reshape(-1, *2 * [len(points)])

    def distances(self, one: Floats, other: Floats, weights: Floats) -> Floats:
        """(len(one), len(other)) differences, summed over the parameters with their weights."""
        scale = weights[self._groups]
        return np.asarray(cdist(one * scale, other * scale, "cityblock"))


class GaussianProcess:
    """The regression; `fit` before `predict`.

    Args:
        encoding: of the draws.
        features: how many features the mean has, the constant one included.
    """

    def __init__(self, encoding: Encoding, features: int) -> None:
        self._encoding = encoding
        self._start = np.array([log(_WEIGHT)] * encoding.parameters + [log(_SIGMA), log(_NOISE)])
        self._theta = self._start
        self._precision = np.array([_FREE] + [_NEAR] * (features - 1))
        self._expected = np.array([0.0] + [1.0] * (features - 1))

    def tune(self, points: Floats, features: Floats, values: Floats) -> None:
        """Set weights, σ and noise to those that explain the values best."""
        apart = self._encoding.differences(points)
        found = minimize(
            self._cost, self._theta, (apart, features, values), "L-BFGS-B", jac=True, options={"maxiter": _STEPS}
        )
        self._theta = found.x

    def fit(self, points: Floats, features: Floats, values: Floats) -> None:
        """Take the values for what is known.

        Args:
            points: (n, columns) from `Encoding.points`.
            features: (n, features) of the mean, the first of them 1.
            values: (n,) such as logarithms of seconds.
        """
        self._points = points
        covariance = self._covariance(points, points)
        covariance[np.diag_indices_from(covariance)] += np.exp(2 * self._theta[-1])
        self._factor = cho_factor(covariance, lower=True)
        solved = cho_solve(self._factor, features)
        self._coefficients = self._mean(features, solved, values)
        self._residuals = cho_solve(self._factor, values - features @ self._coefficients)

    def predict(self, points: Floats, features: Floats) -> tuple[Floats, Floats]:
        """The mean of what other draws may have, and its standard deviation."""
        covariance = self._covariance(points, self._points)
        mean = features @ self._coefficients + covariance @ self._residuals
        explained = np.einsum("ij,ji->i", covariance, cho_solve(self._factor, covariance.T))
        variance = np.exp(2 * self._theta[-2]) - explained
        return mean, np.sqrt(np.maximum(variance, 1e-12))

    def _covariance(self, one: Floats, other: Floats) -> Floats:
        weights = np.exp(self._theta[:-2])
        return np.asarray(np.exp(2 * self._theta[-2] - self._encoding.distances(one, other, weights)))

    def _mean(self, features: Floats, solved: Floats, values: Floats) -> Floats:
        """The coefficients of the mean: least squares, weighted by the covariance, towards what is expected."""
        precision = features.T @ solved + np.diag(self._precision)
        coefficients: Floats = np.linalg.solve(precision, solved.T @ values + self._precision * self._expected)
        return coefficients

    def _cost(self, theta: Floats, apart: Floats, features: Floats, values: Floats) -> tuple[float, Floats]:
        """The negative logarithm of the marginal likelihood times the prior, and its gradient (section 5.4.1)."""
        signal = np.exp(2 * theta[-2] - np.tensordot(np.exp(theta[:-2]), apart, 1))
        noise = np.exp(2 * theta[-1])
        factor = cho_factor(signal + noise * np.eye(len(values)), lower=True)
        inverse = cho_solve(factor, np.eye(len(values)))
        coefficients = self._mean(features, inverse @ features, values)
        residuals = values - features @ coefficients
        solved = inverse @ residuals
        slope = np.outer(solved, solved) - inverse
        explained = slope * signal
        gradient = np.empty_like(theta)
        gradient[:-2] = np.exp(theta[:-2]) * np.tensordot(apart, explained, 2) / 2
        gradient[-2] = -explained.sum()
        gradient[-1] = -noise * np.trace(slope)
        off = (theta - self._start) / _SPREAD
        cost = residuals @ solved / 2 + np.log(np.diag(factor[0])).sum() + off @ off / 2
        # With their prior the coefficients are where the cost is least, so that it does not change with them.
        cost += self._precision @ (coefficients - self._expected) ** 2 / 2
        return float(cost), gradient + off / _SPREAD
