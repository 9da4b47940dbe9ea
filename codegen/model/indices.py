"""Integers of an input that say where something is: bounds of segments, slots of a cache, tables of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

_EQUAL_EVERY = 7  # one in so many inner bounds of segments equals the one before, so that some are empty


class Order(StrEnum):
    """How indices follow each other."""

    ANY = "any"
    DISTINCT = "distinct"  # no two are equal
    BOUNDS = "bounds"  # ascending from the least to the most: segment i lies between bounds i and i + 1, or is empty


@dataclass(frozen=True)
class Indices:
    """Which indices a tensor may hold. Kernels rely on it, and grids depend on none of them.

    Attributes:
        most, least: the largest and the smallest index.
        order: how they follow each other.
    """

    most: int
    least: int = 0
    order: Order = Order.ANY

    def drawn(self, random: np.random.Generator, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """As many random indices that are allowed.

        Raises:
            ValueError: there are not so many.
        """
        if self.order is Order.DISTINCT:
            indices = self.least + random.permutation(self.most - self.least + 1)[:count]
        elif self.order is Order.BOUNDS:
            inner = np.sort(random.integers(self.least, self.most + 1, count - 2))
            inner[1::_EQUAL_EVERY] = inner[:-1:_EQUAL_EVERY][: inner[1::_EQUAL_EVERY].size]
            indices = np.concatenate([[self.least], inner, [self.most]])
        else:
            indices = random.integers(self.least, self.most + 1, count)
        if indices.size != count:
            raise ValueError(
                f"{count} {self.order} indices {self.least} … {self.most}: expected {indices.size} at most"
            )
        return indices.astype(dtype)

    def why_invalid(self, indices: npt.NDArray[Any]) -> str:
        """Why a tensor may not hold these indices; empty if it may."""
        outside = np.flatnonzero((indices < self.least) | (indices > self.most))
        if outside.size:
            return f"element {outside[0]} is {indices[outside[0]]}: expected {self.least} … {self.most}"
        if self.order is Order.DISTINCT and np.unique(indices).size < indices.size:
            found, times = np.unique(indices, return_counts=True)
            return f"{found[times > 1][0]} comes {times[times > 1][0]} times: expected distinct indices"
        if self.order is Order.BOUNDS:
            falling = np.flatnonzero(np.diff(indices) < 0)
            if falling.size:
                before, after = indices[falling[0] : falling[0] + 2]
                return f"element {falling[0] + 1} is {after} after {before}: expected ascending bounds"
            if (indices[0], indices[-1]) != (self.least, self.most):
                return f"bounds from {indices[0]} to {indices[-1]}: expected {self.least} to {self.most}"
        return ""
