"""How to compute a conv2d by wgmma."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import round_up

_BYTE_COLUMNS = 64  # of which four threads have a row


@dataclass(frozen=True)
class WgmmaIm2colSchedule(WgmmaSchedule):
    """The product by wgmma, whose rows of A are pixels that tensor copies gather in im2col mode (sm_90a).

    Fields are those of gemm's schedule. A stage has some channels of one tap. Neither operand is prepared or promoted,
    blocks share no pixels, and tiles are not those of Dᵀ.
    """

    kernel = "wgmma_im2col"

    def product(self, problem: Any) -> GemmProblem:
        """The product whose terms are whole stages for each tap, and whose D lies as the convolution's."""
        own: GemmProblem = replace(
            problem.product,
            k=problem.taps * round_up(problem.channels, self.block_k),
            lda=0,
            ldb=0,
            ldd=problem.ldd,
            align_d=problem.align_d,
        )
        return own

    def wide_rows(self, problem: Any) -> bool:
        """Whether rows of D are stored 16 bytes at a time, of which neighbouring threads have parts: those of int8."""
        units = math.gcd(problem.vector_d, problem.out_channels) * problem.result.bytes == WIDEST_ACCESS
        alone = self.cluster_k == 1 and not self.tensor_store and self.block_n % _BYTE_COLUMNS == 0
        return problem.result is DType.INT8 and units and alone

    @classmethod
    def only(cls, problem: ConvolutionProblem) -> Mapping[str, Any]:
        """Fields that have one value for a problem, since its results lie as they do."""
        return {}

    def within(self, problem: ConvolutionProblem) -> Self:
        """The schedule with these."""
        return self.replace(**self.only(problem))

    def footprint(self, problem: GemmProblem | ConvolutionProblem) -> Footprint:
        """That of the product."""
        return super().footprint(self.product(problem) if isinstance(problem, ConvolutionProblem) else problem)

    def blocks(self, problem: GemmProblem | ConvolutionProblem) -> int:
        """Those of the product."""
        return super().blocks(self.product(problem) if isinstance(problem, ConvolutionProblem) else problem)
