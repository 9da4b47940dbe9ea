"""How to scan by blocks that stay, whose results leave by bulk copies."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.schedule import Specialize, same_as
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import OF_NUMBERS, OTHER_REGISTERS
from autotune.codegen.scan.scan.staying import StayingSchedule

_FLAGS_BEHIND = 16  # bytes behind the flags of a tile in shared memory


@dataclass(frozen=True)
class BulkSchedule(StayingSchedule):
    """Each block stays and has several tiles under way, which bulk copies load and store."""

    kernel = "bulk"
    header = "bulk"
    function = "scan_in_bulk"

    threads: int = tunable(256, values=(64, 128, 256, 512, 1024), power_of_two=True, least=WARP)
    threads_per_row = same_as("threads")
    vector_width: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    rounds: int = tunable(4, values=(1, 2, 3, 4, 6, 7, 8, 9, 15, 16, 17))
    stages: int = tunable(2, values=(2, 3, 4), least=2)
    grid_blocks: int = tunable(1, least=1)
    delay: int = tunable(0, values=(0, 100, 350, 700), least=0)
    streaming = False
    min_blocks_per_sm = 1
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: ScanProblem) -> Footprint:
        """See `Schedule`; tiles are scanned in shared memory."""
        element, result, number = problem.dtype.bytes, problem.result_dtype.bytes, problem.number.bytes
        tile = self.tile * (element if element == result else element + result)
        tile += (self.tile + _FLAGS_BEHIND) * problem.flags + self.tile // WARP * WORD_BYTES * problem.offsets
        carry = number * (1 + problem.segmented)
        vectors = self.vector_width * (element + result) // WORD_BYTES
        registers = OTHER_REGISTERS + vectors + 2 * OF_NUMBERS * carry // WORD_BYTES
        return self.staged_footprint(4, round_up(tile, 16), barriers=3, carry=carry, registers=registers)
