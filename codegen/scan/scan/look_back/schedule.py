"""How to scan by decoupled look-back."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.schedule import Specialize, same_as
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import ScanSchedule

_TILE_SLOTS = 2  # slots of a block beside its warps'


@dataclass(frozen=True)
class LookBackSchedule(ScanSchedule):
    """Each block has a tile; what precedes it comes from other blocks."""

    kernel = "look_back"
    function = "scan_tile"

    threads: int = tunable(256, values=(64, 128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row = same_as("threads")
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    rounds: int = tunable(4, values=(1, 2, 3, 4, 6, 7, 8, 9, 15, 16, 17))
    stages = 1
    grid_blocks = 0
    delay: int = tunable(0, values=(0, 100, 350, 700), least=0)
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 6, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def blocks(self, problem: ScanProblem) -> int:
        """A block for each tile."""
        return problem.rows * self.tiles(problem)

    @property
    def slots(self) -> int:
        """Slots for carries in shared memory; marks of heads follow them."""
        return _TILE_SLOTS + self.threads // WARP

    def footprint(self, problem: ScanProblem) -> Footprint:
        """See `Schedule`; a thread has its elements of a tile in registers."""
        shared, registers = self.shared_bytes(problem), self.registers(problem)
        return Footprint(self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)
