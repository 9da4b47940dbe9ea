"""How to merge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.sorting.tile_schedule import PART_LANES, TileSchedule

from .problem import MergeProblem


class Partition(StrEnum):
    """Who finds which keys of both arrays are in a tile."""

    BLOCK = "block"
    AHEAD = "ahead"


@dataclass(frozen=True)
class MergeSchedule(TileSchedule):
    """A block merges a tile of the result.

    Attributes:
        partition: who finds which keys of both arrays are in a tile: its block, or a launch ahead for all tiles.
        part_lanes: threads of that launch which look for the part of a tile.
    """

    items: int = tunable(15, values=(5, 7, 9, 11, 13, 15, 17, 21, 25))
    partition: Partition = tunable(Partition.BLOCK, values=tuple(Partition))
    part_lanes: int = tunable(16, values=PART_LANES, allowed=PART_LANES)

    def tile_sizes(self, problem: MergeProblem) -> dict[str, int]:
        """A tile has keys of both arrays."""
        return {"first": self.tile // 2, "second": self.tile // 2}

    def blocks(self, problem: MergeProblem) -> int:
        """A block for each tile."""
        return self.tiles(problem.columns)

    def footprint(self, problem: MergeProblem) -> Footprint:
        """See `Schedule`."""
        return self.tile_footprint(problem.dtype, problem.values)
