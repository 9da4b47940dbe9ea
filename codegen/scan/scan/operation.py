"""What combines the elements of a scan."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from autotune.codegen.model.dtype import DType


class Operation(StrEnum):
    """What combines the elements."""

    SUM = "sum"
    PRODUCT = "product"
    MAX = "max"
    MIN = "min"

    @property
    def combine(self) -> np.ufunc:
        """The same by NumPy."""
        functions = {
            Operation.SUM: np.add,
            Operation.PRODUCT: np.multiply,
            Operation.MAX: np.maximum,
            Operation.MIN: np.minimum,
        }
        return functions[self]

    def identity(self, dtype: DType) -> float:
        """What changes no number of a type that it is combined with."""
        if self in (Operation.SUM, Operation.PRODUCT):
            return 0 if self is Operation.SUM else 1
        if dtype.is_float:
            return -np.inf if self is Operation.MAX else np.inf
        limits = np.iinfo(dtype.numpy)
        return int(limits.min if self is Operation.MAX else limits.max)
