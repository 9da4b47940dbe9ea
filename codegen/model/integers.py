"""Integers divided, rounded upwards and doubled, what divides them, and the largest of 32 bits."""

from __future__ import annotations

INT_MAX = 2**31 - 1


class TracedInt:
    """A number that follows from sizes of a problem, while an export traces them."""

    __slots__ = ()


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
