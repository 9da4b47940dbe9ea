"""How to compute a conv2d by mma.sync."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.convolution.problem import ConvolutionProblem
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

    @property
    def gathered_vectors(self) -> int:
        """Of A, in a tile."""
        return self.block_m * self.block_k // self.vector_a

    def footprint(self, problem: GemmProblem | ConvolutionProblem) -> Footprint:
        """That of the product, and registers for the pixels that a thread copies."""
        if not isinstance(problem, ConvolutionProblem):
            return super().footprint(problem)
        own = super().footprint(problem.product)
        pixels = ceil_div(self.gathered_vectors, self.threads)
        return replace(own, registers=own.registers + _PIXEL_REGISTERS * pixels + _TAP_REGISTERS)

    def blocks(self, problem: GemmProblem | ConvolutionProblem) -> int:
        """Those of the product."""
        return super().blocks(problem.product if isinstance(problem, ConvolutionProblem) else problem)
