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


class Spread(StrEnum):
    """How long segments are."""

    RANDOM = "random"  # bounds are anywhere, and one in seven segments is empty
    EVEN = "even"  # as long as each other, but for one
    LONG = "long"  # one is half of all, the others are random


@dataclass(frozen=True)
class Indices:
    """Which indices a tensor may hold. Kernels rely on it, and grids depend on none of them.

    Attributes:
        most, least: the largest and the smallest index.
        order: how they follow each other.
        tolerant: whether others have a result that is stated, so that a problem's inputs have some of them, too.
            `AUTOTUNE_CHECK` refuses them all the same.
    """

    most: int
    least: int = 0
    order: Order = Order.ANY
    tolerant: bool = False

    def drawn(
        self, random: np.random.Generator, count: int, dtype: npt.DTypeLike, spread: Spread = Spread.RANDOM
    ) -> npt.NDArray[Any]:
        """As many random indices that are allowed; bounds with this spread.

        Raises:
            ValueError: there are not so many.
        """
        if self.order is Order.DISTINCT:
            indices = self.least + random.permutation(self.most - self.least + 1)[:count]
        elif self.order is Order.BOUNDS:
            indices = np.concatenate([[self.least], self._inner_bounds(random, count - 2, spread), [self.most]])
        else:
            indices = random.integers(self.least, self.most + 1, count)
        if indices.size != count:
            raise ValueError(
                f"{count} {self.order} indices {self.least} … {self.most}: expected {indices.size} at most"
            )
        return indices.astype(dtype)

    def _inner_bounds(self, random: np.random.Generator, count: int, spread: Spread) -> npt.NDArray[Any]:
        if spread is Spread.EVEN:
            return self.least + np.arange(1, count + 1) * ((self.most - self.least) // (count + 1))
        inner = np.sort(random.integers(self.least, self.most + 1, count))
        inner[1::_EQUAL_EVERY] = inner[:-1:_EQUAL_EVERY][: inner[1::_EQUAL_EVERY].size]
        if spread is Spread.LONG:
            long = random.integers(count + 1)  # the segment that ends at this inner bound, or the last one
            half = (self.most - self.least) // 2
            inner = self.least + (inner - self.least) // 2 + np.where(np.arange(count) >= long, half, 0)
        return inner

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
