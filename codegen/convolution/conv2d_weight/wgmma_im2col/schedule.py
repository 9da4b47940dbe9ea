"""How to compute a conv2d_weight by wgmma."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import ROW_BYTES, WgmmaSchedule
from autotune.codegen.model.footprint import Footprint


@dataclass(frozen=True)
class WgmmaWeightSchedule(WgmmaSchedule):
    """The product by wgmma, whose rows of B, one for each pixel, tensor copies gather in im2col mode (sm_90a).

    Fields are those of gemm's schedule. A stage has some pixels. Neither operand is prepared or promoted, blocks share
    no terms, and tiles are not those of Dᵀ.
    """

    kernel = "wgmma_im2col"

    def row_bytes(self, problem: GemmProblem, operand: str) -> int:
        """See `WgmmaSchedule.row_bytes`: columns of B are whole boxes, each with channels of one tap."""
        if operand == "a":
            return super().row_bytes(problem, operand)
        return gcd(self.block_n * problem.dtype.bytes, ROW_BYTES)

    def narrow_boxes(self, problem: GemmProblem) -> bool:
        """Whether there are several of them, of less than 128 bytes."""
        return self.row_bytes(problem, "b") < min(ROW_BYTES, self.block_n * problem.dtype.bytes)

    def footprint(self, problem: GemmProblem | ConvolutionProblem) -> Footprint:
        """That of the product."""
        return super().footprint(problem.product if isinstance(problem, ConvolutionProblem) else problem)

    def blocks(self, problem: GemmProblem | ConvolutionProblem) -> int:
        """Those of the product."""
        return super().blocks(problem.product if isinstance(problem, ConvolutionProblem) else problem)
