"""How to compute a conv2d_input by wgmma."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from autotune.codegen.convolution.conv2d.wgmma_im2col.schedule import WgmmaIm2colSchedule
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import round_up

_WIDE_COLUMNS = 32  # of which four threads have a row


@dataclass(frozen=True)
class WgmmaInputSchedule(WgmmaIm2colSchedule):
    """The product of each phase by wgmma, whose rows of A are pixels of the gradient (sm_90a).

    A stage has some filters of one tap. Of several phases, or of images with gaps, blocks share no tiles along k, and
    store from registers.
    """

    def product(self, problem: Any) -> GemmProblem:
        """The products whose terms are whole stages for each tap."""
        k = problem.most_taps * round_up(problem.out_channels, self.block_k)
        own: GemmProblem = replace(problem.product, k=k, lda=0)
        if problem.phased:
            return own
        return replace(own, ldd=problem.layouts["x"].strides[2], align_d=problem.align_x)

    def wide_rows(self, problem: Any) -> bool:
        """Whether rows of D are stored 16 bytes at a time, of which neighbouring threads have parts."""
        aligned = problem.product.vector_width("d") * problem.dtype.bytes == WIDEST_ACCESS
        return problem.phased and aligned and self.block_n % _WIDE_COLUMNS == 0

    @classmethod
    def only(cls, problem: Any) -> Mapping[str, Any]:
        """See `WgmmaIm2colSchedule`: whole tiles, from registers."""
        return {"tensor_store": False, "cluster_k": 1} if problem.phased else {}

    def within(self, problem: Any) -> Self:
        """See `WgmmaIm2colSchedule`."""
        sharing = problem.phased and not self.whole_tiles
        return super().within(problem).replace(**({"grid_blocks": 0} if sharing else {}))
