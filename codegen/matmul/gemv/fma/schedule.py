"""How to compute a gemv by FMAs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import GemvSchedule, WeightLoads
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.schedule import Specialize

# Registers that ptxas takes: of a thread, of each word of W, each sum, each register beside, and each element of x that
# is loaded ahead (567 kernels for an H200: a mean log error of 0.10).
_WANTED_REGISTERS, _WANTED_OF_WORD, _WANTED_OF_SUM, _WANTED_BESIDE, _WANTED_OF_X = 24.7, 0.9, 1.2, 0.5, 0.78


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
        ahead = 0 if self.shared_x or problem.order is WeightOrder.KN else self.loads_in_flight * self.vector_width
        wanted = _WANTED_REGISTERS + _WANTED_BESIDE * self.registers_beside(problem) + _WANTED_OF_X * ahead * problem.m
        wanted += _WANTED_OF_WORD * self.loaded_words(problem) + _WANTED_OF_SUM * self.sums(problem)
        return replace(super().footprint(problem), wanted_registers=floor(wanted))

    def parts(self, problem: GemvProblem) -> int:
        """Sums of each output that the warps of a block leave in shared memory."""
        warps = self.threads // WARP
        across = self.threads // self.threads_per_output // WARP  # warps side by side along n
        if problem.order is WeightOrder.NK:
            return max(1, self.threads_per_output // WARP)
        return warps // max(1, across)
