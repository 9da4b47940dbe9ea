"""How to scan by blocks that stay."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.schedule import Specialize, same_as
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import OF_NUMBERS, OTHER_REGISTERS
from autotune.codegen.scan.scan.staying import StayingSchedule


@dataclass(frozen=True)
class PipelinedSchedule(StayingSchedule):
    """Each block stays and has several tiles under way, which bulk copies load."""

    kernel = "pipelined"
    header = "pipelined"
    function = "scan_pipelined"

    threads: int = tunable(256, values=(64, 128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row = same_as("threads")
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    rounds: int = tunable(4, values=(1, 2, 3, 4, 6, 7, 8, 9, 15, 16, 17))
    stages: int = tunable(2, values=(2, 3, 4), least=2)
    grid_blocks: int = tunable(1, least=1)
    delay: int = tunable(0, values=(0, 100, 350, 700), least=0)
    streaming: bool = tunable(False, values=(False, True))
    min_blocks_per_sm = 1
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: ScanProblem) -> Footprint:
        """See `Schedule`; a thread has the sums of its vectors of two tiles in registers."""
        number = problem.number.bytes
        registers = 3 * self.rounds * number // WORD_BYTES + OTHER_REGISTERS + OF_NUMBERS * number // WORD_BYTES
        tile = self.tile * problem.dtype.bytes
        return self.staged_footprint(3, tile, barriers=2, carry=number, registers=registers)
