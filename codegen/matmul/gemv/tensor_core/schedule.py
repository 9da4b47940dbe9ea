"""How to compute a gemv by tensor cores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.codegen.matmul.gemv.schedule import CHUNK, GemvSchedule, WeightLoads
from autotune.codegen.model.fields import tunable
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import LINE_BYTES, WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize

LANES_K = 4  # lanes of a warp that share an output
_VECTORS = 8  # vectors x that are multiplied by at once
# Registers that ptxas takes: of a thread of plain weights, and of others; of each word of W, each sum, each register
# beside, and each word of x that is loaded ahead, more if codes meet more vectors than are multiplied by at once.
_WANTED_PLAIN, _WANTED_QUANTISED = 59.7, 22.0
_WANTED_OF_WORD, _WANTED_OF_SUM, _WANTED_BESIDE, _WANTED_OF_X, _WANTED_OF_MANY_X = 0.47, 0.98, 0.92, 1.17, 1.8


@dataclass(frozen=True)
class TensorCoreSchedule(GemvSchedule):
    """Warps multiply 16 rows of W by 8 vectors: x of 16 bits, W stored as n×k.

    Attributes:
        spread_x: whether parts of x are the columns that few vectors leave free, and lanes of a row share its scales:
            of quantised W.
    """

    kernel = "tensor_core"

    threads: int = tunable(256, values=(64, 128, 256, 512), power_of_two=True, least=WARP)
    threads_per_output: int = tunable(32, values=(1, 2, 4, 8, 16, 32, 64, 128, 256), power_of_two=True, short="TPO")
    strips: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    vector_width: int = tunable(1, values=(1, 2, 4, 8, 16), power_of_two=True)
    loads_in_flight: int = tunable(1, values=(1, 2, 4, 8), power_of_two=True)
    stages: int = tunable(1, values=(1, 2, 3, 4, 6))
    shared_x: bool = tunable(False, values=(False, True))
    cluster: int = tunable(1, values=(1, 2, 4, 8), allowed=(1, 2, 4, 8))
    splits: int = tunable(1, values=(1, 2, 3, 4, 6, 8, 16))
    spread_x: bool = tunable(False, values=(False, True))
    weight_loads: WeightLoads = tunable(WeightLoads.CACHED, values=tuple(WeightLoads))
    min_blocks_per_sm: int = tunable(1, values=(1, 2, 3, 4, 6, 8))
    specialize: Specialize = tunable(Specialize.NONE, values=tuple(Specialize))

    def chunked(self, problem: GemvProblem) -> bool:
        """Whether what meets so many weights of x is loaded as they are decoded, or multiplied."""
        return True

    def x_pitch(self, problem: GemvProblem) -> int:
        """Elements from a vector of x to the next in shared memory, padded so that lanes meet few bank conflicts."""
        padding = LINE_BYTES // 2 if self.terms(problem) <= CHUNK else WIDEST_ACCESS
        return self.block_k(problem) + padding // problem.dtype.bytes

    def footprint(self, problem: GemvProblem) -> Footprint:
        """See `GemvSchedule`; ptxas loads parts of x ahead."""
        x_words = self.loads_in_flight * ceil_div(problem.m, _VECTORS) * self.terms(problem) // LANES_K
        wanted = _WANTED_QUANTISED if problem.quantised else _WANTED_PLAIN
        wanted += _WANTED_OF_WORD * self.loaded_words(problem) + _WANTED_OF_SUM * self.sums(problem)
        of_x = _WANTED_OF_MANY_X if problem.quantised and problem.m > _VECTORS else _WANTED_OF_X
        wanted += _WANTED_BESIDE * self.registers_beside(problem) + of_x * x_words
        return replace(super().footprint(problem), wanted_registers=floor(wanted))

    def sums(self, problem: GemvProblem) -> int:
        """Accumulators of a thread; those of a group of weights are counted, too."""
        vectors = 2 * ceil_div(problem.m, _VECTORS)
        if self.spread_x:
            spread = self.spread(problem)
            return self.strips * ((1 if spread > 1 else vectors) + vectors * spread)
        return self.strips * vectors * (2 if problem.group_size else 1)

    def spread(self, problem: GemvProblem) -> int:
        """Loads of a thread whose terms of x are columns of their own."""
        if not self.spread_x:
            return 1
        return min(self.loads_in_flight, 1 << max(0, (_VECTORS // max(1, problem.m)).bit_length() - 1))

    def parts(self, problem: GemvProblem) -> int:
        """Sums of each output that the warps of a block leave in shared memory."""
        return max(1, self.threads_per_output // LANES_K)

    def registers_beside(self, problem: GemvProblem) -> int:
        """See `GemvSchedule`; parts of x share addresses, and lanes scales."""
        if not self.spread_x:
            return super().registers_beside(problem)
        arrays = 1 + bool(problem.group_size) + problem.zeros
        decoded = self.strips * CHUNK // 2 + (self.terms(problem) // 4 if self.spread(problem) > 1 else 0)
        groups = self.strips * ceil_div(self.loads_in_flight, LANES_K) * (arrays - 1) * min(2, self.stages)
        return 2 * (self.strips + arrays - 1) + decoded + groups
