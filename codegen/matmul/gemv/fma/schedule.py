"""How to compute a gemv by FMAs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import GemvSchedule, WeightLoads
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.schedule import Specialize

# Registers that ptxas takes: of a thread, of each word of W, more if it is of 16 bits and by columns, or less if it
# comes from shared memory, each sum, less by columns, each register beside, and each element of x that is loaded ahead,
# of 32 or of 16 bits (546 kernels for an H200: a mean log error of 0.08).
_WANTED_REGISTERS, _WANTED_OF_WORD, _WANTED_HALF_BY_COLUMNS, _WANTED_STAGED = 26.0, 0.77, 0.34, -0.36
_WANTED_OF_SUM, _WANTED_BY_COLUMNS, _WANTED_BESIDE, _WANTED_OF_X, _WANTED_OF_HALF = 1.24, -0.18, 1.49, 0.87, 0.3


@dataclass(frozen=True)
class FmaSchedule(GemvSchedule):
    """Threads multiply and add the elements that they load."""

    kernel = "fma"

    threads: int = tunable(256, values=(64, 128, 256, 512), power_of_two=True, least=WARP)
    threads_per_output: int = tunable(32, values=(1, 2, 4, 8, 16, 32, 64, 128, 256), power_of_two=True, short="TPO")
    strips: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    vector_width: int = tunable(1, values=(1, 2, 4, 8, 16), power_of_two=True)
    loads_in_flight: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    stages: int = tunable(1, values=(1, 2, 3, 4, 6))
    shared_x: bool = tunable(False, values=(False, True))
    cluster: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8))
    splits: int = tunable(1, values=(1, 2, 3, 4, 6, 8, 16))
    spread_x = False
    weight_loads: WeightLoads = tunable(WeightLoads.CACHED, values=tuple(WeightLoads))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 6, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def footprint(self, problem: GemvProblem) -> Footprint:
        """See `GemvSchedule`; ptxas loads vectors of x ahead, if registers do not run out."""
        by_columns, half, staged = problem.order is WeightOrder.KN, problem.dtype.bytes < WORD_BYTES, self.stages > 1
        of_word = _WANTED_OF_WORD + _WANTED_HALF_BY_COLUMNS * (by_columns and half) + _WANTED_STAGED * staged
        of_sum = _WANTED_OF_SUM + _WANTED_BY_COLUMNS * by_columns
        wanted = _WANTED_REGISTERS + of_word * self.loaded_words(problem) + of_sum * self.sums(problem)
        wanted += _WANTED_BESIDE * self.registers_beside(problem)
        if not self.shared_x and not (by_columns and staged):
            ahead = self.loads_in_flight * (1 if by_columns else self.vector_width) * problem.m
            wanted += (_WANTED_OF_HALF if half else _WANTED_OF_X) * ahead
        return replace(super().footprint(problem), wanted_registers=floor(wanted))

    def parts(self, problem: GemvProblem) -> int:
        """Sums of each output that the warps of a block leave in shared memory."""
        warps = self.threads // WARP
        across = self.threads // self.threads_per_output // WARP  # warps side by side along n
        if problem.order is WeightOrder.NK:
            return max(1, self.threads_per_output // WARP)
        return warps // max(1, across)
