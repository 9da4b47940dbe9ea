"""How to sort by merges."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.sorting.tile_schedule import MergingSchedule

from .problem import MergeSortProblem


@dataclass(frozen=True)
class MergeSortSchedule(MergingSchedule):
    """Blocks sort tiles; then each launch merges pairs of runs, a block for each tile of the merged ones."""

    def tile_sizes(self, problem: MergeSortProblem) -> dict[str, int]:
        """See `Schedule`."""
        return {"columns": self.tile}

    def blocks(self, problem: MergeSortProblem) -> int:
        """A block for each tile."""
        return problem.rows * self.tiles(problem.columns)

    def footprint(self, problem: MergeSortProblem) -> Footprint:
        """See `Schedule`."""
        return self.tile_footprint(problem.dtype, problem.values)
