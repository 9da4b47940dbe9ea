"""The ladder of conv2d_weight kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.convolution.conv2d.presets import fitted_fma, fitted_mma
from autotune.codegen.matmul.gemm.mma_sync.schedule import SharedLayout
from autotune.codegen.matmul.sgemm.schedule import CopyMode
from autotune.codegen.model.program import Program
from autotune.codegen.model.work import Unit

from .emit import emit_naive
from .fma.emit import emit as emit_fma
from .fma.schedule import FmaWeightSchedule
from .mma_offsets.emit import emit as emit_mma_offsets
from .mma_offsets.schedule import MmaOffsetsWeightSchedule
from .problem import Conv2dWeightProblem

# An implicit product: a block's tiles of what terms see are gathered, and multiplied, in turn.
_IMPLICIT_FMA = FmaWeightSchedule(
    block_m=64, block_n=64, block_k=16, warp_m=32, warp_n=32, thread_m=8, thread_n=4, stages=1,
    copy_a=CopyMode.REGISTERS, copy_b=CopyMode.REGISTERS, double_buffer_fragments=False, raster_group=1,
)  # fmt: skip
_IMPLICIT_MMA = MmaOffsetsWeightSchedule(
    block_m=64, block_n=64, block_k=32, warp_m=32, warp_n=32, stages=2, shared_layout=SharedLayout.PADDED,
    double_buffer_fragments=False, raster_group=1,
)  # fmt: skip
# Blocks share each tile: there are few filters and terms, and many pixels.
_DIVIDED = 32


def _of_unit(blocks: int) -> Callable[[Conv2dWeightProblem], Program]:
    def emit(problem: Conv2dWeightProblem) -> Program:
        if problem.unit is Unit.FP32:
            fma = replace(_IMPLICIT_FMA, grid_blocks=blocks)
            return emit_fma(problem, fitted_fma(problem, fma))
        return emit_mma_offsets(problem, fitted_mma(problem, replace(_IMPLICIT_MMA, grid_blocks=blocks)))

    return emit


PRESETS: Mapping[str, Callable[[Conv2dWeightProblem], Program]] = {
    "naive": emit_naive,
    "implicit": _of_unit(0),
    "divided": _of_unit(_DIVIDED),
}
