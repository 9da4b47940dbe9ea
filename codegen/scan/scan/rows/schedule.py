"""How to scan rows by the threads of one block each."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import ScanSchedule

# Registers that ptxas takes: of a thread for each word of a number, and of each of its vectors; of each of their
# elements for each word of its number, and where rows begin between vectors.
_WANTED_REGISTERS, _WANTED_OF_VECTOR, _WANTED_OF_WORD, _WANTED_OF_BOUNDS = 20, 2.7, 1.1, 1.3
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
        words, between = problem.number.bytes // WORD_BYTES, self.vector_width > problem.vector_width("x")
        of_element = _WANTED_OF_WORD * words + _WANTED_OF_BOUNDS * between
        wanted = _WANTED_REGISTERS * words + self.rounds * (_WANTED_OF_VECTOR + of_element * self.vector_width)
        return Footprint(
            self.threads,
            self.shared_bytes(problem),
            self.registers(problem),
            min_blocks_per_sm=self.min_blocks_per_sm,
            wanted_registers=floor(wanted),
        )
