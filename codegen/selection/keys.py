"""What order elements have, in NumPy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.problem import Array


def keys(x: Array, largest: bool) -> npt.NDArray[np.uint32]:
    """Numbers that grow with what is asked for, equal where elements are, as order.cuh computes them.

    NaN is above all numbers, and -0 equals 0.
    """
    bits = x.view(f"u{x.itemsize}").astype(np.uint32)
    ones, sign = np.uint32(2 ** (8 * x.itemsize) - 1), np.uint32(2 ** (8 * x.itemsize - 1))
    bits = np.where(bits == sign, np.uint32(0), bits)
    ascending = np.where(bits & sign != 0, bits ^ ones, bits ^ sign)
    ascending = np.where(np.isnan(x.astype(np.float32)), ones - np.uint32(1), ascending)
    return ascending if largest else ones ^ ascending
