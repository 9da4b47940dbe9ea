"""Whether an output is what it should be: one rule for the emulator and for GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .codegen.problem import Array
from .codegen.tensor import Tensor


@dataclass(frozen=True)
class Mismatch:
    """How an output differs from what was expected: how many of its elements, and the first of them."""

    count: int
    size: int
    index: int
    actual: str
    expected: str

    def __str__(self) -> str:
        return (
            f"wrong: {self.count} of {self.size} elements, "
            f"first at {self.index}: got {self.actual}, expected {self.expected}"
        )


def poisoned(tensor: Tensor) -> Array:
    """A flat buffer with all bits set, which is NaN in every floating-point type: an output before the launch."""
    return _poison(tensor.size, tensor.dtype.numpy)


def compare(actual: Array, expected: Array, bound: float) -> float | Mismatch:
    """Compare a whole flat output, gaps included, and return its largest absolute error if all of it is right.

    Where `expected` is NaN, in gaps that no kernel may touch, `actual` must be as `poisoned` made it. Integers have
    no NaN: in their gaps all bits are expected to be set.

    Args:
        actual: what a kernel wrote, one-dimensional.
        expected: what `Problem.reference` says, of the same length.
        bound: largest absolute error allowed; 0 compares bit for bit.
    """
    if actual.shape != expected.shape:
        raise ValueError(f"an output of shape {actual.shape} cannot be compared with one of shape {expected.shape}")
    if bound == 0:
        error = np.zeros(actual.size)
        right = _same_bits(actual, expected.astype(actual.dtype))
    else:
        with np.errstate(invalid="ignore"):  # infinity - infinity
            error = np.abs(actual.astype(np.float64) - expected)
        right = error <= bound
    gap = expected != expected  # only NaN differs from itself
    right = np.where(gap, _same_bits(actual, _poison(actual.size, actual.dtype)), right)
    if right.all():
        return float(np.max(error, initial=0.0, where=~gap))
    index = int(np.argmin(right))
    wrong = int(right.size - np.count_nonzero(right))
    return Mismatch(wrong, right.size, index, str(actual[index]), str(expected[index]))


def _poison(size: int, dtype: np.dtype[Any]) -> Array:
    return np.full(size * dtype.itemsize, 0xFF, np.uint8).view(dtype)


def _same_bits(a: Array, b: Array) -> Array:
    same: Array = (a.view(np.uint8) == b.view(np.uint8)).reshape(a.size, a.itemsize).all(axis=1)
    return same
