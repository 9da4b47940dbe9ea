"""What a Gaussian process believes of a table of points, as more and more of them are observed.

The Cholesky factor L of the observations' covariance grows by rows, and so does L⁻¹·K, K the covariance of observations
and table: one more of n observations costs n·len(table) rather than n³ + n²·len(table).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from .gaussian_process import Floats, GaussianProcess


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
        self._process, self._points = process, points
        self._observed: list[int] = []
        self._factor = np.empty((0, 0))
        self._white = np.empty((0, len(points)))

    def extend(self, points: Floats, features: Floats) -> None:
        """Add points to the table."""
        covariance = self._process.covariance(self._points[self._observed], points)
        white = solve_triangular(self._factor, covariance, lower=True) if self._observed else covariance
        self._white = np.hstack([self._white, white])
        self._points, self.features = np.vstack([self._points, points]), np.vstack([self.features, features])

    def observe(self, indices: Sequence[int]) -> None:
        """Take points of the table for observed, after those before; their values need not be known yet."""
        indices = list(indices)
        below = self._white[:, indices].T
        covariance = self._process.covariance(self._points[indices], self._points)
        left = covariance[:, indices] + self._process.noise * np.eye(len(indices)) - below @ below.T
        corner = cholesky(left, lower=True)
        more = solve_triangular(corner, covariance - below @ self._white, lower=True)
        self._factor = np.block([[self._factor, np.zeros(below.T.shape)], [below, corner]])
        self._white = np.vstack([self._white, more])
        self._observed += indices

    def predict(self, values: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of all points of the table.

        Args:
            values: of the first observations. The others count with the mean that is expected of them, which leaves
                the mean as it is and makes it surer.
        """
        count = len(values)
        known = np.column_stack([self.features[self._observed[:count]], values])
        white = solve_triangular(self._factor[:count, :count], known, lower=True)
        coefficients = self._process.coefficients(white[:, :-1], white[:, -1])
        residuals = white[:, -1] - white[:, :-1] @ coefficients
        mean = self.features @ coefficients + residuals @ self._white[:count]
        variance = self._process.variance - np.einsum("ij,ij->j", self._white, self._white)
        return mean, np.sqrt(np.maximum(variance, 1e-12))
