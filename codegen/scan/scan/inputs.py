"""Numbers to scan: what gets lost, doubled or misplaced shows in the results."""

from __future__ import annotations

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated

_FRACTION = 2.0**30
_LEVELS = 100
_RISES = 64  # elements from one that reaches the level to the next, on average
_HEADS = 50  # elements of a segment, on average


def terms(random: np.random.Generator, count: int, dtype: DType) -> Array:
    """Normal numbers, those of float64 with 30 bits behind the point; integers whose sums wrap."""

    def draw(count: int) -> Array:
        if dtype is DType.FLOAT64:
            return np.rint(random.standard_normal(count) * _FRACTION) / _FRACTION
        if dtype.is_float:
            return random.standard_normal(count, np.float32).astype(dtype.numpy)
        return _any_integers(random, count, dtype)

    return repeated(draw, count)


def whole_numbers(random: np.random.Generator, count: int, dtype: DType) -> Array:
    """Of both signs, and none of them 0."""
    numbers = np.array([-3, -2, -1, 1, 2, 3], np.float32).astype(dtype.numpy)
    return repeated(lambda count: random.choice(numbers, count), count)


def factors(random: np.random.Generator, count: int, dtype: DType) -> Array:
    """Powers of two whose products stay from 1/16 to 16, over any range of elements; integers that are odd."""

    def draw(count: int) -> Array:
        if not dtype.is_float:
            return np.bitwise_or(_any_integers(random, count, dtype), 1)
        exponents = random.integers(-2, 3, count + 1)
        exponents[0] = exponents[-1]  # so that products stay small where the numbers repeat
        signs = random.choice(np.array([-1.0, 1.0]), count)
        return (signs * 2.0 ** np.diff(exponents)).astype(dtype.numpy)

    return repeated(draw, count)


def levels(random: np.random.Generator, count: int, dtype: DType, falling: bool) -> Array:
    """Low numbers, of which one in 64 reaches a level that rises by and by, or falls.

    A maximum of all elements so far is the level; of the last few, it is often a low number.
    """
    level = np.arange(count, dtype=np.int64) * _LEVELS // max(1, count)
    reached = repeated(lambda count: random.integers(0, _RISES, count) == 0, count)
    low = repeated(lambda count: random.integers(-_LEVELS, 0, count, np.int8), count)
    return np.where(reached, level[::-1] if falling else level, low).astype(dtype.numpy)


def middle_level(random: np.random.Generator, dtype: DType) -> Array:
    """One that is neither reached at once nor never."""
    return random.integers(_LEVELS // 4, 3 * _LEVELS // 4, 1).astype(dtype.numpy)


def flags(random: np.random.Generator, count: int) -> Array:
    """A byte other than 0 where a segment begins."""
    return repeated(lambda count: (random.integers(0, _HEADS, count) == 0) * np.uint8(1), count)


def _any_integers(random: np.random.Generator, count: int, dtype: DType) -> Array:
    limits = np.iinfo(dtype.numpy)
    return random.integers(limits.min, limits.max, count, dtype.numpy, endpoint=True)
