"""How to compute a conv2d by wgmma whose pixels are no whole units of 16 bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d.wgmma_im2col.schedule import WgmmaIm2colSchedule
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.workspace import ALIGNMENT

from .joined import Joined


@dataclass(frozen=True)
class WgmmaRowsSchedule(WgmmaIm2colSchedule):
    """As wgmma_im2col, of images and filters that a launch ahead has copied, so that a row of taps is one tap."""

    kernel = "wgmma_rows"

    def product(self, problem: Conv2dProblem) -> GemmProblem:
        """The product whose terms are whole stages for each row of a filter."""
        terms = problem.kernel_h * round_up(Joined(problem).channels, self.block_k)
        own = replace(problem.product, k=terms, lda=0, ldb=0, align_a=WIDEST_ACCESS, align_b=WIDEST_ACCESS)
        return replace(own, ldd=problem.ldd, align_d=problem.align_d)

    def joined_offset(self, problem: Conv2dProblem) -> int:
        """Bytes of the workspace ahead of the copies."""
        return round_up(self.workspace_bytes(self.product(problem)), ALIGNMENT)

    def prepare_blocks(self, problem: Conv2dProblem) -> int:
        """Blocks of the launch ahead, of four pixels for each thread."""
        return ceil_div(Joined(problem).image_bytes, 4 * 256 * WIDEST_ACCESS)
