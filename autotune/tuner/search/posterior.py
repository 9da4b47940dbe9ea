"""What a Gaussian process believes of a table of points, as more and more of them are observed.

The Cholesky factor L of the observations' covariance grows by rows, and so do L⁻¹ and L⁻¹·K, K the covariance of
observations and table: one more of n observations costs n·len(table) rather than n³ + n²·len(table). There is room for
some more, so that what is there is seldom copied.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from .gaussian_process import Floats, GaussianProcess

_ROOM = 64  # observations


class Posterior:
    """The process with the covariance and the mean that it has now.

    Args:
        process: the process.
        points: (n, columns) of the table.
        features: (n, features) of the table.

    Attributes:
        features: as given, with those of points added later.
    """

    def __init__(self, process: GaussianProcess, points: Floats, features: Floats) -> None:
        self.features = features
        self._process, self._points = process, process.scaled(points)
        self._observed: list[int] = []
        self._inverse = np.zeros((0, 0))  # L⁻¹
        self._white = np.empty((0, len(points)))  # L⁻¹·K
        self._explained = np.zeros(len(points))  # share of the variance that observations explain

    def extend(self, points: Floats, features: Floats) -> None:
        """Add points to the table."""
        points, count = self._process.scaled(points), len(self._observed)
        white = np.empty((len(self._white), len(points)))
        white[:count] = self._whitened(self._process.covariance(self._points[self._observed], points))
        self._white = np.hstack([self._white, white])
        self._explained = np.append(self._explained, _squares(white[:count]))
        self._points, self.features = np.vstack([self._points, points]), np.vstack([self.features, features])

    def observe(self, indices: Sequence[int]) -> None:
        """Take points of the table for observed, after those before; their values need not be known yet."""
        indices, count = list(indices), len(self._observed)
        more = slice(count, count + len(indices))
        self._make_room(more.stop)
        below = self._white[:count, indices].T
        covariance = self._process.covariance(self._points[indices], self._points)
        left = covariance[:, indices] + self._process.noise * np.eye(len(indices)) - below @ below.T
        corner = solve_triangular(cholesky(left, lower=True), np.eye(len(indices)), lower=True)
        self._inverse[more, :count] = -corner @ (below @ self._inverse[:count, :count])
        self._inverse[more, more] = corner
        white = self._white[more] = corner @ (covariance - below @ self._white[:count])
        self._explained += _squares(white)
        self._observed += indices

    def forget(self, count: int) -> None:
        """Take back all observations but so many of the first."""
        self._explained -= _squares(self._white[count : len(self._observed)])
        del self._observed[count:]

    def predict(self, values: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of all points of the table.

        Args:
            values: of the first observations. The others count with the mean that is expected of them, which leaves
                the mean as it is and makes it surer.
        """
        count = len(values)
        white = self._whitened(np.column_stack([self.features[self._observed[:count]], values]))
        coefficients = self._process.coefficients(white[:, :-1], white[:, -1])
        residuals = white[:, -1] - white[:, :-1] @ coefficients
        mean = self.features @ coefficients + residuals @ self._white[:count]
        return mean, np.sqrt(np.maximum(self._process.variance - self._explained, 1e-12))

    def _whitened(self, known: Floats) -> Floats:
        """L⁻¹·known, for what is known of the first observations."""
        count = len(known)
        return np.asarray(self._inverse[:count, :count] @ known)

    def _make_room(self, count: int) -> None:
        """For so many observations at least."""
        if count > len(self._white):
            more = count + _ROOM - len(self._white)
            self._inverse, self._white = np.pad(self._inverse, (0, more)), np.pad(self._white, ((0, more), (0, 0)))


def _squares(white: Floats) -> Floats:
    """Of each column, summed over the observations."""
    return np.asarray(np.einsum("ij,ij->j", white, white))
