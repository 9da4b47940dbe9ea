"""How to sort by merges."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.sorting.tile_schedule import PART_LANES, TileSchedule

from .problem import MergeSortProblem


@dataclass(frozen=True)
class MergeSortSchedule(TileSchedule):
    """Blocks sort tiles; then each launch merges pairs of runs, a block for each tile of the merged ones.

    Attributes:
        block_levels: first merges, whose blocks find which keys of both runs are in their tiles. For each of the
            others, a launch ahead finds that for all tiles.
        part_lanes: threads of that launch which look for the part of a tile.
    """

    block_levels: int = tunable(64, values=(0, 3, 5, 7, 9, 64), least=0)
    part_lanes: int = tunable(16, values=PART_LANES, allowed=PART_LANES)

    def tile_sizes(self, problem: MergeSortProblem) -> dict[str, int]:
        """See `Schedule`."""
        return {"columns": self.tile}

    def blocks(self, problem: MergeSortProblem) -> int:
        """A block for each tile."""
        return problem.rows * self.tiles(problem.columns)

    def footprint(self, problem: MergeSortProblem) -> Footprint:
        """See `Schedule`."""
        return self.tile_footprint(problem.dtype, problem.values)
