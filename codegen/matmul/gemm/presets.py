"""The ladder of gemm kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...program import Program
from .emit import emit, emit_naive
from .numbers import EXACT_FLOAT8_TERMS, FLOAT8
from .problem import GemmProblem
from .schedule import GemmSchedule, SharedLayout


def fitted(problem: GemmProblem, schedule: GemmSchedule) -> GemmSchedule:
    """The schedule with vectors that the problem is aligned for, and as many bytes along k for all types."""
    changed: dict[str, Any] = {f"vector_{operand}": problem.vector_width(operand) for operand in "abd"}
    exact = problem.dtype in FLOAT8 and not problem.fast_accumulation
    changed |= {"block_k": schedule.block_k * 2 // problem.dtype.bytes, "promote": EXACT_FLOAT8_TERMS if exact else 0}
    return replace(schedule, **changed)


_TENSOR_CORES = GemmSchedule(
    block_m=64, block_n=64, warp_m=32, warp_n=32, stages=2, shared_layout=SharedLayout.PADDED,
    double_buffer_fragments=False, raster_group=1,
)  # fmt: skip
_MULTISTAGE = replace(_TENSOR_CORES, shared_layout=SharedLayout.SWIZZLED, stages=4)
_LARGE_TILES = replace(
    _MULTISTAGE, block_m=128, block_n=128, warp_m=64, warp_n=64, stages=3, double_buffer_fragments=True, raster_group=8
)

PRESETS: Mapping[str, Callable[[GemmProblem], Program]] = {
    "naive": emit_naive,
    "tensor_cores": lambda problem: emit(problem, fitted(problem, _TENSOR_CORES)),
    "multistage": lambda problem: emit(problem, fitted(problem, _MULTISTAGE)),
    "large_tiles": lambda problem: emit(problem, fitted(problem, _LARGE_TILES)),
}
