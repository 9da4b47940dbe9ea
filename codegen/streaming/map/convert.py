"""How results become numbers of another type, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType

_INT8 = np.iinfo(np.int8)


def converted(numbers: npt.NDArray[Any], dtype: DType, saturate: bool) -> npt.NDArray[Any]:
    """Floats as numbers of a type, rounded to the nearest, ties to even.

    What is too large becomes infinity, or NaN in a type without infinities; with `saturate`, it becomes the largest
    number of its sign. Whole numbers are rounded towards 0, or with `saturate` to the nearest; what is beyond them
    becomes the largest or the smallest one, and NaN becomes 0.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype is DType.INT8:
            whole = np.rint(numbers) if saturate else np.trunc(numbers)
            numbers = np.nan_to_num(np.clip(whole, _INT8.min, _INT8.max))
        elif saturate:
            numbers = np.clip(numbers, -dtype.largest, dtype.largest)
        result: npt.NDArray[Any] = numbers.astype(dtype.numpy)
        return result
