"""Integers divided and rounded upwards."""

from __future__ import annotations


def ceil_div(value: int, divisor: int) -> int:
    """How many parts of `divisor` cover `value`."""
    return -(-value // divisor)


def round_up(value: int, unit: int) -> int:
    """The least multiple of `unit` that is not below `value`."""
    return ceil_div(value, unit) * unit
