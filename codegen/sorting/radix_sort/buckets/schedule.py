"""How to sort by one pass, and by a block for each digit."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values

_SUMS = 32  # of warps
_COLUMN_BYTES = 2  # of where a key was, in shared memory
_REGISTERS = 20  # beside keys, columns and places


@dataclass(frozen=True)
class BucketsSchedule(OnesweepSchedule):
    """As `OnesweepSchedule`, but if no tile is too small for the keys with one of the highest digits, their first pass
    is by that digit, and a block for each sorts them by all others."""

    kernel = "buckets"

    def bucket_footprint(self, problem: RadixSortProblem) -> Footprint:
        """Of a block that sorts the keys with a digit."""
        has_values, key = problem.values is not Values.NONE, problem.dtype.bytes
        counts = (self.threads // WARP * self.bins + _SUMS) * WORD_BYTES
        shared = counts + self.tile * (key + has_values * _COLUMN_BYTES)
        words = ceil_div(key, WORD_BYTES) + has_values + ceil_div(problem.values.bytes, WORD_BYTES)
        return Footprint(self.threads, round_up(shared, 16), self.items * (1 + words) + _REGISTERS)
