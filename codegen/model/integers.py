"""Integers divided, rounded upwards and doubled, what divides them, and the largest of 32 bits; logarithms."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

INT_MAX = 2**31 - 1
_N = TypeVar("_N", int, float)


class TracedNumber:
    """A number that follows from sizes of a problem, while an export traces them."""

    __slots__ = ()

    def largest(self, values: Iterable[float]) -> float:
        """The largest of some numbers."""
        raise NotImplementedError

    def log(self, base: float) -> float:
        """The logarithm."""
        raise NotImplementedError


def ceil_div(value: int, divisor: int) -> int:
    """How many parts of `divisor` cover `value`."""
    return (value + (divisor - 1)) // divisor


def round_up(value: int, unit: int) -> int:
    """The least multiple of `unit` that is not below `value`."""
    return ceil_div(value, unit) * unit


def widest_divisor(most: int, *values: int) -> int:
    """The greatest power of two that divides all values and is not above `most`, which is one, too."""
    while any(value % most for value in values):
        most //= 2
    return most


def doublings(count: int) -> int:
    """How often 1 has to be doubled until it is not below `count`."""
    found = 0
    while 1 << found < count:
        found += 1
    return found


def largest(*values: _N) -> _N:
    """The largest of some numbers, also of those that an export traces."""
    for one in values:
        if isinstance(one, TracedNumber):
            return one.largest(values)  # type: ignore[return-value]
    return max(values)


def smallest(*values: _N) -> _N:
    """The smallest of some numbers, likewise."""
    return -largest(*(-one for one in values))


def logarithm(value: float, base: float = math.e) -> float:
    """The logarithm to the base e or 2, also of a number that an export traces."""
    if isinstance(value, TracedNumber):
        return value.log(base)
    return math.log2(value) if base == 2 else math.log(value)
