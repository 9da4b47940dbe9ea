"""How to select with a cluster of blocks for each row."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.selection.topk.problem import TopkProblem

CLUSTERS = (2, 4, 8, 16)
_BINS = 2048  # of a digit
_ENTRY_BYTES = 8
_OTHER_REGISTERS = 28  # addresses, floors and counts, beside keys


@dataclass(frozen=True)
class ClusterSchedule(Schedule):
    """The blocks of a cluster have a row in their registers, and find its first elements by their digits.

    Attributes:
        threads: of a block.
        vector_width: elements of a load.
        vectors: of a thread; those of all blocks are to hold a whole row.
        candidates: elements of a row that are ordered at most, of which the first k are its results.
        cluster: blocks that share a row.
        streaming: tell the caches that elements are read once.
    """

    kernel = "cluster"

    threads: int = tunable(1024, values=(256, 512, 1024), power_of_two=True, least=WARP)
    vector_width: int = tunable(4, values=(1, 2, 4, 8), power_of_two=True)
    vectors: int = tunable(2, values=(1, 2, 3, 4, 6, 8))
    candidates: int = tunable(1024, values=(256, 1024, 2048, 4096), power_of_two=True, least=2 * WARP)
    cluster: int = tunable(16, values=CLUSTERS, allowed=CLUSTERS)
    streaming: bool = tunable(False, values=(False, True))

    @property
    def items(self) -> int:
        """Keys of a thread."""
        return self.vectors * self.vector_width

    def blocks(self, problem: TopkProblem) -> int:
        """A cluster for each row."""
        return problem.rows * self.cluster

    def footprint(self, problem: TopkProblem) -> Footprint:
        """See `Schedule`; shared memory has a block's counts and those of the row, and what is ordered."""
        counts = (2 * _BINS + _BINS // WARP) * WORD_BYTES
        shared = counts + (self.candidates + 1) * _ENTRY_BYTES
        return Footprint(self.threads, shared, _OTHER_REGISTERS + self.items, self.cluster)
