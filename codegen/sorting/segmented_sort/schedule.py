"""How to sort in segments."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.sorting.tile_schedule import TileSchedule

from .problem import SegmentedSortProblem

_HEAD_BITS = 32  # places of a word of those where segments begin
_MERGING_BYTES = 64  # of what a merge does to a tile
_BOUND_BYTES = 4  # of the segment at a thread's first key


@dataclass(frozen=True)
class SegmentedSortSchedule(TileSchedule):
    """Blocks sort the segments in tiles; then each launch merges the parts of those that go on in other tiles.

    Attributes:
        tiles_per_block: of a block that merges, in most of which nothing goes on.
    """

    threads: int = tunable(128, values=(64, 128, 256, 512), power_of_two=True, least=64)
    tiles_per_block: int = tunable(16, values=(1, 4, 8, 16, 32), allowed=tuple(range(1, WARP + 1)))

    def tile_sizes(self, problem: SegmentedSortProblem) -> dict[str, int]:
        """See `Schedule`."""
        return {"columns": self.tile}

    def blocks(self, problem: SegmentedSortProblem) -> int:
        """A block for each tile."""
        return self.tiles(problem.columns)

    def footprint(self, problem: SegmentedSortProblem) -> Footprint:
        """See `Schedule`."""
        heads = (ceil_div(self.tile, _HEAD_BITS) + 1) * WORD_BYTES
        sorting, merging = heads + self.threads * _BOUND_BYTES, self.tiles_per_block * _MERGING_BYTES + WORD_BYTES
        return self.tile_footprint(problem.dtype, problem.values, round_up(max(sorting, merging), 8))
