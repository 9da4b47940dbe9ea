"""Masks of queries and keys: what is stated of each pair, and what it makes of x."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated

_Numbers = npt.NDArray[np.float64]


class Mask(StrEnum):
    """What is stated of each pair of a query (a row of a block) and a key (a column)."""

    NONE = "none"
    KEEP = "keepmask"  # whether the element is kept, or counts as -infinity
    ADD = "addmask"  # what is added to x / temperature


def random_mask(random: np.random.Generator, kind: Mask, dtype: DType, count: int) -> Array:
    """Flags, or quarters, which are added exactly to numbers of their size; a few are -infinity."""

    def draw(count: int) -> Array:
        if kind is Mask.KEEP:
            return random.random(count) < 0.7
        quarters = random.integers(-16, 17, count) / 4
        return np.where(random.random(count) < 0.1, -np.inf, quarters).astype(dtype.numpy)

    return repeated(draw, count)


def masked(x: _Numbers, kind: Mask, mask: Array, temperature: float, dtype: DType) -> _Numbers:
    """x with its mask; a sum is rounded to float32, as kernels add, and then to a type."""
    if kind is Mask.KEEP:
        return np.where(mask, x, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        total = x * np.float32(1 / temperature) + mask.astype(np.float64)
        return total.astype(np.float32).astype(dtype.numpy).astype(np.float64)
