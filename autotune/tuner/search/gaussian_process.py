"""Regression with a Gaussian process over the draws of a search space (Rasmussen, Williams: Gaussian Processes for
Machine Learning, 2006, chapters 2 and 5).

The covariance of two draws is σ²·exp(-Σ w·d), summed over the parameters, where d is 1 where words differ, and between
numbers the steps in their order as a share of all; over the factors of two in sizes, since on a GPU alignment matters;
and over other numbers that are known of a draw, where d is their difference. The weights w, one for each, σ and the
noise maximise the marginal likelihood under log-normal priors, which keep a handful of values from being explained too
well. The mean is a linear function of known features (section 2.7), whose first coefficient is free and whose others
are near 1 a priori; or 0, where that makes the values more probable: a feature that says nothing would add its own
noise to the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from autotune.search_spaces.contract.space import Draw, Parameter

Floats = npt.NDArray[np.float64]

_STEPS = 15  # steps of L-BFGS for each fit, which begins where the last one ended
_SIGMA, _NOISE = 0.3, 0.02  # a priori, of logarithms of seconds
_WEIGHTS = 1.0  # a priori, of all together: draws that differ in each by 1 have a covariance of σ²/e
_SPREAD = 1.0  # standard deviation of their logarithms
_FARTHEST = 4.0  # standard deviations; a search that tries more meets matrices that cannot be inverted
_FREE, _NEAR, _FIXED = 1e-6, 1.0, 1e6  # precision of a coefficient a priori


class Encoding:
    """Draws as points in a space in which the differences of one parameter are adjacent columns.

    Args:
        parameters: what is drawn.
        numbers: how many other numbers are known of a draw, each with a weight of its own like a parameter.
    """

    def __init__(self, parameters: Sequence[Parameter], numbers: int = 0) -> None:
        self._rows: dict[str, dict[Any, Floats]] = {}
        widths: list[int] = []  # columns of each weight
        for parameter in parameters:
            if len(parameter.values) > 1:
                parts = _coordinates(parameter)
                self._rows[parameter.name] = dict(zip(parameter.values, np.hstack(parts), strict=True))
                widths += [part.shape[1] for part in parts]
        widths += [1] * numbers
        self.parameters = len(widths)
        self._groups = np.repeat(np.arange(self.parameters), widths)

    def point(self, draw: Draw, numbers: Sequence[float] = ()) -> Floats:
        """The coordinates of a draw."""
        return np.concatenate([*(rows[draw[name]] for name, rows in self._rows.items()), numbers])

    def differences(self, points: Floats) -> Floats:
        """(parameters, n, n) differences of n points, each from 0 to 1."""
        columns = (points[:, self._groups == group] for group in range(self.parameters))
        return np.array([cdist(of_one, of_one, "cityblock") for of_one in columns]).reshape(-1, *2 * [len(points)])

    def scaled(self, points: Floats, weights: Floats) -> Floats:
        """Points whose city-block distances are their differences, summed over the parameters with these weights."""
        return np.asarray(points * weights[self._groups])


def _coordinates(parameter: Parameter) -> list[Floats]:
    """What tells the values of a parameter apart: (values, columns) for each weight."""
    values, count = parameter.values, len(parameter.values)
    if not parameter.ordered:
        return [np.eye(count) / 2]
    steps = np.arange(count)[:, None] / (count - 1)
    sizes = [value for value in values if type(value) is int and value > 0]
    twos = np.array([(size & -size).bit_length() - 1 for size in sizes], np.float64)
    if count < 3 or len(sizes) < count or len(set(twos)) in (1, count):  # of powers of two, the steps say the same
        return [steps]
    return [steps, ((twos - twos.min()) / np.ptp(twos))[:, None]]


@dataclass(frozen=True)
class _Mean:
    """What the coefficients of the mean's features are a priori: independent and normal."""

    expected: Floats
    precision: Floats

    def coefficients(self, features: Floats, values: Floats) -> Floats:
        """The most probable ones; features and values are whitened, as L⁻¹·features."""
        precision = features.T @ features + np.diag(self.precision)
        return np.asarray(np.linalg.solve(precision, features.T @ values + self.precision * self.expected), np.float64)

    def evidence(self, features: Floats, values: Floats) -> float:
        """The logarithm of the values' marginal likelihood, but for what does not depend on the mean."""
        found = self.coefficients(features, values)
        left, off = values - features @ found, found - self.expected
        _, narrowed = np.linalg.slogdet(features.T @ features / self.precision + np.eye(len(found)))
        return float(-(left @ left + self.precision @ off**2 + narrowed) / 2)


class GaussianProcess:
    """The covariance and the mean, with what `tune` found of them; `Posterior` says what follows from observations.

    Args:
        encoding: of the draws.
        features: how many features the mean has, the constant one included.
    """

    def __init__(self, encoding: Encoding, features: int) -> None:
        self._encoding = encoding
        each = log(_WEIGHTS / max(1, encoding.parameters))
        self._start = np.array([each] * encoding.parameters + [log(_SIGMA), log(_NOISE)])
        self._theta = self._start
        others = features - 1
        self._means = (
            _Mean(np.array([0.0] + [1.0] * others), np.array([_FREE] + [_NEAR] * others)),
            _Mean(np.array([0.0] * features), np.array([_FREE] + [_FIXED] * others)),
        )
        self._mean = self._means[0]

    def tune(self, points: Floats, features: Floats, values: Floats) -> None:
        """Set weights, σ and noise to those that explain the values best, and then choose the mean.

        Args:
            points: (n, columns) from `Encoding.point`.
            features: (n, features) of the mean, the first of them 1.
            values: (n,) such as logarithms of seconds.
        """
        apart = self._encoding.differences(points)
        bounds = [(value - _FARTHEST * _SPREAD, value + _FARTHEST * _SPREAD) for value in self._start]
        arguments, options = (apart, features, values), {"maxiter": _STEPS}
        found = minimize(self._cost, self._theta, arguments, "L-BFGS-B", jac=True, bounds=bounds, options=options)
        self._theta = found.x
        factor = cholesky(self._signal(self._theta, apart) + self.noise * np.eye(len(values)), lower=True)
        white = solve_triangular(factor, np.column_stack([features, values]), lower=True)
        self._mean = max(self._means, key=lambda mean: mean.evidence(white[:, :-1], white[:, -1]))

    @property
    def variance(self) -> float:
        """Of a point of which nothing is known, but for the mean."""
        return float(np.exp(2 * self._theta[-2]))

    @property
    def noise(self) -> float:
        """The variance of an observation."""
        return float(np.exp(2 * self._theta[-1]))

    def scaled(self, points: Floats) -> Floats:
        """Points as `covariance` takes them."""
        return self._encoding.scaled(points, np.exp(self._theta[:-2]))

    def covariance(self, one: Floats, other: Floats) -> Floats:
        """(len(one), len(other)) covariances of scaled points."""
        return np.asarray(self.variance * np.exp(-cdist(one, other, "cityblock")))

    def coefficients(self, features: Floats, values: Floats) -> Floats:
        """Of the mean, from whitened features and values."""
        return self._mean.coefficients(features, values)

    @staticmethod
    def _signal(theta: Floats, apart: Floats) -> Floats:
        """The covariance of points that are so far apart."""
        return np.asarray(np.exp(2 * theta[-2] - np.tensordot(np.exp(theta[:-2]), apart, 1)))

    def _cost(self, theta: Floats, apart: Floats, features: Floats, values: Floats) -> tuple[float, Floats]:
        """The negative logarithm of the marginal likelihood times the prior, and its gradient (section 5.4.1)."""
        signal = self._signal(theta, apart)
        noise = np.exp(2 * theta[-1])
        factor = cholesky(signal + noise * np.eye(len(values)), lower=True)
        inverse = cho_solve((factor, True), np.eye(len(values)))
        white = solve_triangular(factor, np.column_stack([features, values]), lower=True)
        coefficients = self.coefficients(white[:, :-1], white[:, -1])
        residuals = values - features @ coefficients
        solved = inverse @ residuals
        slope = np.outer(solved, solved) - inverse
        explained = slope * signal
        gradient = np.empty_like(theta)
        gradient[:-2] = np.exp(theta[:-2]) * np.tensordot(apart, explained, 2) / 2
        gradient[-2] = -explained.sum()
        gradient[-1] = -noise * np.trace(slope)
        off = (theta - self._start) / _SPREAD
        cost = residuals @ solved / 2 + np.log(np.diag(factor)).sum() + off @ off / 2
        # With their prior the coefficients are where the cost is least, so that it does not change with them.
        cost += self._mean.precision @ (coefficients - self._mean.expected) ** 2 / 2
        return float(cost), gradient + off / _SPREAD
