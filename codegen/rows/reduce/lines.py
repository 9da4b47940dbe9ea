"""The elements that make a result each, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.problem import Array
from autotune.codegen.model.segments import first_index, reduced

from .operation import Operation


@dataclass(frozen=True)
class Lines:
    """Columns or rows of a matrix, or segments of its only row.

    Attributes:
        axis: of the matrix, along which lines are.
        bounds: where segments begin, and the end of the last one; None for whole lines.
    """

    axis: int
    bounds: Array | None

    def counts(self, matrix: Array) -> int | Array:
        """Elements of each line."""
        return int(matrix.shape[self.axis]) if self.bounds is None else np.diff(self.bounds)

    def sums(self, matrix: Array) -> Array:
        """Sums of lines, in the type of the elements; without any, 0."""
        with np.errstate(invalid="ignore"):  # infinities of both signs
            if self.bounds is None:
                return np.asarray(matrix.sum(self.axis, dtype=matrix.dtype))
            return reduced(np.add, matrix[0], self.bounds, 0)

    def extremes(self, matrix: Array, op: Operation) -> Array:
        """Maxima or minima, which are NaN if an element is, or their indices.

        Of segments without elements they are the lowest or the highest number, and the index is -1.
        """
        if self.bounds is None:
            of_value, of_index = (np.min, np.argmin) if op.smallest else (np.max, np.argmax)
            return np.asarray(of_index(matrix, self.axis) if op.indexed else of_value(matrix, self.axis))
        limits = np.iinfo(matrix.dtype) if matrix.dtype.kind == "i" else None
        lowest, highest = (limits.min, limits.max) if limits else (-np.inf, np.inf)
        combine, empty = (np.minimum, highest) if op.smallest else (np.maximum, lowest)
        found = reduced(combine, matrix[0], self.bounds, empty)
        return first_index(found, matrix[0], self.bounds) if op.indexed else found
