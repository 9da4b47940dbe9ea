"""Which keys the queries of a sequence see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.integers import largest, smallest
from autotune.codegen.model.problem import Array


@dataclass(frozen=True)
class Band:
    """Query i sees the keys from i + diagonal + low to i + diagonal + high.

    Attributes:
        low, high: relative to the diagonal; None where nothing bounds it.
        top_left: whether the first query and the first key meet on the diagonal, rather than the last ones.
    """

    low: int | None
    high: int | None
    top_left: bool

    def diagonal(self, queries: int, keys: int) -> int:
        """The key that query 0 meets."""
        return 0 if self.top_left else keys - queries

    def pairs(self, queries: int, keys: int) -> int:
        """Pairs of a query and a key that it sees, of a head of a sequence."""
        diagonal = self.diagonal(queries, keys)
        unseen = 0 if self.low is None else _below(queries, keys, diagonal + self.low)
        return (queries * keys if self.high is None else _below(queries, keys, diagonal + self.high + 1)) - unseen

    def reached(self, queries: int, keys: int) -> int:
        """Keys from the first to the last one that any query of a sequence sees."""
        diagonal = self.diagonal(queries, keys)
        begin = 0 if self.low is None else largest(0, diagonal + self.low)
        end = keys if self.high is None else smallest(keys, queries + diagonal + self.high)
        return largest(0, end - begin) if queries else 0

    def counts(self, queries: int, keys: int) -> Array:
        """How many keys each query of a sequence sees."""
        first = np.arange(queries) + self.diagonal(queries, keys)
        low = first * 0 if self.low is None else np.maximum(first + self.low, 0)
        high = keys - 1 if self.high is None else np.minimum(first + self.high, keys - 1)
        counts: Array = np.maximum(high - low + 1, 0)
        return counts

    def seen(self, places: Array, queries: int, keys: int) -> Array:
        """For each of some queries of a sequence, which of its keys it sees."""
        key, first = np.arange(keys), places[:, None] + self.diagonal(queries, keys)
        after = True if self.low is None else key >= first + self.low
        ahead = True if self.high is None else key <= first + self.high
        return np.broadcast_to(after & ahead, (places.size, keys))


def _below(queries: int, keys: int, first: int) -> int:
    """Keys ahead of key i + first, summed over the queries i."""
    return _triangle(queries + first, keys) - _triangle(first, keys)


def _triangle(count: int, most: int) -> int:
    """0 + 1 + 2 + …, so many terms, none of them above `most`."""
    rising = largest(0, smallest(count, most))
    return rising * (rising - 1) // 2 + most * largest(0, count - most)
