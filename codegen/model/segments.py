"""Segments of an array, one behind the other: each begins where the one before it ends, and may be empty."""

from __future__ import annotations

import numpy as np

from .problem import Array


def reduced(combine: np.ufunc, values: Array, bounds: Array, empty: float) -> Array:
    """What `combine` makes of the values of each segment, and `empty` of those without any."""
    full = np.diff(bounds) > 0
    found = np.full(full.shape, empty, values.dtype)
    found[full] = combine.reduceat(values, bounds[:-1][full]) if full.any() else []
    return found


def first_index(found: Array, values: Array, bounds: Array) -> Array:
    """The index within its segment of the first value that is what was found of the segment; -1 in empty ones."""
    lengths = np.diff(bounds)
    wanted = np.repeat(found, lengths)
    same = (values == wanted) | ((values != values) & (wanted != wanted))  # a NaN is what was found, too
    places = np.where(same, np.arange(values.size), values.size)
    return np.where(lengths > 0, reduced(np.minimum, places, bounds, 0) - bounds[:-1], -1)
