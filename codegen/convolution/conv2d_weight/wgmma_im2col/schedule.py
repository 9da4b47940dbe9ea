"""How to compute a conv2d_weight by wgmma."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.footprint import Footprint


@dataclass(frozen=True)
class WgmmaWeightSchedule(WgmmaSchedule):
    """The product by wgmma, whose rows of B, one for each pixel, tensor copies gather in im2col mode (sm_90a).

    Fields are those of gemm's schedule. A stage has some pixels. Neither operand is prepared or promoted, blocks share
    no terms, and tiles are not those of Dᵀ.
    """

    kernel = "wgmma_im2col"

    def footprint(self, problem: GemmProblem | ConvolutionProblem) -> Footprint:
        """That of the product."""
        return super().footprint(problem.product if isinstance(problem, ConvolutionProblem) else problem)

    def blocks(self, problem: GemmProblem | ConvolutionProblem) -> int:
        """Those of the product."""
        return super().blocks(problem.product if isinstance(problem, ConvolutionProblem) else problem)
