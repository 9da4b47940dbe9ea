"""The ladder of conv2d kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.gemm.mma_sync.schedule import SharedLayout
from autotune.codegen.matmul.sgemm.schedule import CopyMode
from autotune.codegen.model.program import Program
from autotune.codegen.model.work import Unit

from .emit import emit_im2col, emit_naive
from .fma.emit import emit as emit_fma
from .fma.schedule import FmaSchedule
from .mma_offsets.emit import emit as emit_mma_offsets
from .mma_offsets.schedule import MmaOffsetsSchedule
from .problem import Conv2dProblem

F = TypeVar("F", bound=FmaSchedule)
M = TypeVar("M", bound=MmaOffsetsSchedule)
# An implicit product: a block's tiles of A are gathered, and multiplied, in turn.
_IMPLICIT_FMA = FmaSchedule(
    block_m=64, block_n=64, block_k=16, warp_m=32, warp_n=32, thread_m=8, thread_n=4, pad_a=4, pad_b=4, stages=1,
    double_buffer_fragments=False, raster_group=1,
)  # fmt: skip
_IMPLICIT_MMA = MmaOffsetsSchedule(
    block_m=64, block_n=64, block_k=32, warp_m=32, warp_n=32, stages=2, shared_layout=SharedLayout.PADDED,
    double_buffer_fragments=False, raster_group=1,
)  # fmt: skip
# Later tiles are gathered while one is multiplied.
_PIPELINED_FMA = replace(
    _IMPLICIT_FMA, block_m=128, block_n=64, thread_n=8, warp_n=64, stages=2, double_buffer_fragments=True,
    copy_a=CopyMode.REGISTERS, copy_b=CopyMode.REGISTERS, raster_group=8,
)  # fmt: skip
_PIPELINED_MMA = replace(
    _IMPLICIT_MMA, block_m=128, stages=4, shared_layout=SharedLayout.SWIZZLED, double_buffer_fragments=True,
    raster_group=8,
)  # fmt: skip


def fitted_fma(problem: ConvolutionProblem, schedule: F) -> F:
    """The schedule with vectors that the problem is aligned for."""
    vectors: dict[str, Any] = {
        f"vector_{operand}": min(getattr(schedule, f"vector_{operand}"), problem.sgemm.vector_width(operand))
        for operand in "abc"
    }
    return replace(schedule, **vectors)


def fitted_mma(problem: ConvolutionProblem, schedule: M) -> M:
    """The same, with as many bytes along k for all types."""
    changed: dict[str, Any] = {f"vector_{operand}": problem.product.vector_width(operand) for operand in "abd"}
    changed |= {"vector_d": min(changed["vector_d"], schedule.warp_n // 2)}
    return replace(schedule, **changed, block_k=schedule.block_k * 2 // problem.dtype.bytes)


def _of_unit(fma: FmaSchedule, mma: MmaOffsetsSchedule) -> Callable[[Conv2dProblem], Program]:
    def emit(problem: Conv2dProblem) -> Program:
        if problem.unit is Unit.FP32:
            return emit_fma(problem, fitted_fma(problem, fma))
        return emit_mma_offsets(problem, fitted_mma(problem, mma))

    return emit


PRESETS: Mapping[str, Callable[[Conv2dProblem], Program]] = {
    "naive": emit_naive,
    "im2col": emit_im2col,
    "implicit": _of_unit(_IMPLICIT_FMA, _IMPLICIT_MMA),
    "pipelined": _of_unit(_PIPELINED_FMA, _PIPELINED_MMA),
}
