"""How to compute a conv2d by FFMAs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div

_PIXEL_REGISTERS, _TAP_REGISTERS = 4, 12


@dataclass(frozen=True)
class FmaSchedule(SgemmSchedule):
    """The product by FFMAs, whose rows of A are gathered on their way to shared memory.

    Fields are those of sgemm's schedule. Both operands are copied through registers or by cp.async.
    """

    kernel = "fma"
    cluster_m = cluster_n = 1
    whole_tiles = staged_c = False

    @property
    def gathered_vectors(self) -> int:
        """Of A, in a tile."""
        return self.block_m * self.block_k // self.vector_a

    def footprint(self, problem: SgemmProblem | ConvolutionProblem) -> Footprint:
        """That of the product, and registers for the pixels that a thread copies."""
        if not isinstance(problem, ConvolutionProblem):
            return super().footprint(problem)
        own = super().footprint(problem.sgemm)
        more = _PIXEL_REGISTERS * ceil_div(self.gathered_vectors, self.threads) + _TAP_REGISTERS
        return replace(own, registers=own.registers + more, wanted_registers=own.uncapped_registers + more)

    def blocks(self, problem: SgemmProblem | ConvolutionProblem) -> int:
        """Those of the product."""
        return super().blocks(problem.sgemm if isinstance(problem, ConvolutionProblem) else problem)
