"""What becomes of the elements that make a result."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array


class Operation(StrEnum):
    """A sum of terms, one for each element, and what follows from it; or an extreme number, or its index."""

    SUM = "sum"
    MEAN = "mean"
    L2 = "l2"  # the square root of the sum of squares
    DOT = "dot"  # the sum of the products of two arrays
    DIST = "dist"  # the square root of the sum of the squared differences of two arrays
    MAX = "max"
    MIN = "min"
    ARGMAX = "argmax"  # the index of the maximum
    ARGMIN = "argmin"

    @property
    def adds(self) -> bool:
        """Whether it is a sum, or follows from one."""
        return self in (Operation.SUM, Operation.MEAN, Operation.L2, Operation.DOT, Operation.DIST)

    @property
    def indexed(self) -> bool:
        """Whether results are indices."""
        return self in (Operation.ARGMAX, Operation.ARGMIN)

    @property
    def smallest(self) -> bool:
        """Whether the extreme number is the smallest."""
        return self in (Operation.MIN, Operation.ARGMIN)

    @property
    def root(self) -> bool:
        """Whether it is the square root of a sum."""
        return self in (Operation.L2, Operation.DIST)

    @property
    def arrays(self) -> int:
        """How many have elements: one, or two of the same shape."""
        return 2 if self in (Operation.DOT, Operation.DIST) else 1

    @property
    def takes_integers(self) -> bool:
        """Whether elements may be integers."""
        return self is Operation.SUM or not self.adds

    @property
    def operations(self) -> int:
        """Of an element of a sum; those of a result do not count."""
        return {Operation.L2: 2, Operation.DOT: 2, Operation.DIST: 3}.get(self, 1)

    def result_dtype(self, dtype: DType) -> DType:
        """The type of the results: as PyTorch's, int64 for indices and for sums of integers.

        Raises:
            ValueError: integers have no such result.
        """
        if self.indexed or (self is Operation.SUM and not dtype.is_float):
            return DType.INT64
        if not (dtype.is_float or self.takes_integers):
            raise ValueError(f"dtype={dtype}: {self} takes float32, float16 or bfloat16")
        return dtype

    def terms(self, *arrays: Array) -> Array:
        """What is added up, of elements in float64."""
        if self is Operation.DOT:
            return np.multiply(*arrays)
        elements: Array = np.subtract(*arrays) if self is Operation.DIST else arrays[0]
        return np.square(elements) if self.root else elements

    def of_sum(self, total: Array, count: int | Array) -> Array:
        """The results for sums of so many terms each."""
        if self is Operation.MEAN:
            with np.errstate(invalid="ignore"):  # 0/0
                return np.divide(total, count)
        return np.sqrt(total) if self.root else total
