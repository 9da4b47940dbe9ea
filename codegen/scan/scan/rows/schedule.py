"""How to scan rows by the threads of one block each."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import ScanSchedule

_ROW_SLOTS = 2  # slots of a warp, for two tiles in turn


@dataclass(frozen=True)
class RowsSchedule(ScanSchedule):
    """A row's threads go through its tiles in turn, and share it with no other block."""

    kernel = "rows"
    function = "scan_rows"

    threads: int = tunable(256, values=(64, 128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row: int = tunable(
        256, values=(8, 16, 32, 64, 128, 256, 512, 1024), power_of_two=True, least=4, short="TPR"
    )
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    rounds: int = tunable(4, values=(1, 2, 3, 4, 6, 7, 8, 9, 15, 16, 17))
    stages = 1
    grid_blocks = delay = 0
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 6, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def blocks(self, problem: ScanProblem) -> int:
        """As many as have all rows."""
        return ceil_div(problem.rows, self.rows_per_block)

    def workspace_bytes(self, problem: ScanProblem) -> int:
        """None: no block waits for another."""
        return 0

    @property
    def slots(self) -> int:
        """Slots for carries in shared memory; marks of heads follow them."""
        return _ROW_SLOTS * self.threads // WARP if self.threads_per_row > WARP else 0

    def footprint(self, problem: ScanProblem) -> Footprint:
        """See `Schedule`; a thread has its elements of a tile in registers."""
        shared, registers = self.shared_bytes(problem), self.registers(problem)
        return Footprint(self.threads, shared, registers, min_blocks_per_sm=self.min_blocks_per_sm)
