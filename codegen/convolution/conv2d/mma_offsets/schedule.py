"""How to compute a conv2d by mma.sync."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.matmul.gemm.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div

_PIXEL_REGISTERS, _TAP_REGISTERS = 4, 12


@dataclass(frozen=True)
class MmaOffsetsSchedule(MmaSyncSchedule):
    """The product by mma.sync, whose rows of A are gathered by cp.async: a thread has the offsets of its pixels.

    Fields are those of gemm's schedule. Neither operand is prepared, and nothing is promoted.
    """

    kernel = "mma_offsets"

    def footprint(self, problem: GemmProblem | Conv2dProblem) -> Footprint:
        """That of the product, and registers for the pixels that a thread copies."""
        if not isinstance(problem, Conv2dProblem):
            return super().footprint(problem)
        own = super().footprint(problem.product)
        pixels = ceil_div(self.block_m * self.block_k // self.vector_a, self.threads)
        return replace(own, registers=own.registers + _PIXEL_REGISTERS * pixels + _TAP_REGISTERS)

    def blocks(self, problem: GemmProblem | Conv2dProblem) -> int:
        """Those of the product."""
        return super().blocks(problem.product if isinstance(problem, Conv2dProblem) else problem)
