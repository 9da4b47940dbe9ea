"""What schedules have whose blocks stay, with several tiles under way."""

from __future__ import annotations

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import round_up

from .problem import ScanProblem
from .schedule import ScanSchedule

_BARRIER = _TICKET_BYTES = 8
# Of a block: barriers beside those of each tile, and buffers for sums.
_BARRIERS_BESIDE, _PREFIXES, _SUMS = 4, 2, 4


class StayingSchedule(ScanSchedule):
    """Blocks that stay: what precedes a tile comes from other blocks, while they load and store other tiles."""

    def blocks(self, problem: ScanProblem) -> int:
        """Blocks of the grid, none without a tile."""
        return min(self.grid_blocks, problem.rows * self.tiles(problem))

    def staged_footprint(self, warps_beside: int, tile: int, *, barriers: int, carry: int, registers: int) -> Footprint:
        """Of bytes of a tile and of a carry, and barriers of each stage."""
        warps = self.threads // WARP
        shared = self.stages * (tile + _TICKET_BYTES + barriers * _BARRIER) + _BARRIERS_BESIDE * _BARRIER
        shared += (_PREFIXES + _SUMS * warps) * carry
        threads = self.threads + warps_beside * WARP
        return Footprint(threads, round_up(shared, 16), registers, min_blocks_per_sm=self.min_blocks_per_sm)
