"""How to sort rows by a cluster of blocks each."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.sorting.radix_sort.block.schedule import BlockSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values

CLUSTERS = (2, 4, 8, 16)
_SUMS = 32  # of warps
_REGISTERS = 20  # beside keys, columns and places


@dataclass(frozen=True)
class ClusterSchedule(BlockSchedule):
    """The blocks of a cluster sort a row in their shared memory.

    Attributes:
        threads: of a block.
        items: keys of a thread.
        cluster: blocks that share a row.
    """

    kernel = "cluster"

    threads: int = tunable(512, values=(256, 512, 1024), power_of_two=True, least=WARP)
    cluster: int = tunable(8, values=CLUSTERS, allowed=CLUSTERS)

    @property
    def row(self) -> int:
        """Keys of a cluster."""
        return self.cluster * self.tile

    def tile_sizes(self, problem: RadixSortProblem) -> dict[str, int]:
        """See `Schedule`."""
        return {"rows": 1, "columns": self.row}

    def blocks(self, problem: RadixSortProblem) -> int:
        """A cluster for each row."""
        return problem.rows * self.cluster

    def footprint(self, problem: RadixSortProblem) -> Footprint:
        """See `Schedule`."""
        has_values, key = problem.values is not Values.NONE, problem.dtype.bytes
        counts = (self.threads // WARP * self.bins + _SUMS + 2 * self.bins) * WORD_BYTES
        shared = counts + 2 * self.tile * (key + has_values * WORD_BYTES)
        registers = self.items * (1 + ceil_div(key, WORD_BYTES) + has_values) + _REGISTERS
        return Footprint(self.threads, round_up(shared, 16), registers, self.cluster, self.min_blocks_per_sm)
