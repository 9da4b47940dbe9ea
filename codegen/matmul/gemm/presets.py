"""The ladder of gemm kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.model.program import Program

from .emit import emit_naive, emit_wmma
from .mma_sync.emit import emit
from .mma_sync.schedule import LEAST_HALVES, MmaSyncSchedule, SharedLayout
from .numbers import EXACT_FLOAT8_TERMS, FLOAT8
from .problem import GemmProblem


def fitted(problem: GemmProblem, schedule: MmaSyncSchedule) -> MmaSyncSchedule:
    """The schedule with vectors that the problem is aligned for, and as many bytes along k for all types."""
    warp_n = max(schedule.warp_n, LEAST_HALVES) if problem.gate is Gate.HALVES else schedule.warp_n
    changed: dict[str, Any] = {f"vector_{operand}": problem.vector_width(operand) for operand in "abd"}
    changed |= {"warp_n": warp_n, "vector_d": min(changed["vector_d"], warp_n // 2 // problem.parts)}
    exact = problem.dtype in FLOAT8 and not problem.fast_accumulation
    changed |= {"block_k": schedule.block_k * 2 // problem.dtype.bytes, "promote": EXACT_FLOAT8_TERMS if exact else 0}
    return replace(schedule, **changed)


# A warp for each 16×16 elements of D.
_WARP_TILES = MmaSyncSchedule(
    block_m=16, block_n=32, block_k=16, warp_m=16, warp_n=16, stages=2, shared_layout=SharedLayout.PADDED,
    double_buffer_fragments=False, raster_group=1,
)  # fmt: skip
_TENSOR_CORES = replace(_WARP_TILES, block_m=64, block_n=64, block_k=32, warp_m=32, warp_n=32)
_MULTISTAGE = replace(_TENSOR_CORES, shared_layout=SharedLayout.SWIZZLED, stages=4)
_LARGE_TILES = replace(
    _MULTISTAGE, block_m=128, block_n=128, warp_m=64, warp_n=64, stages=3, double_buffer_fragments=True, raster_group=8
)

PRESETS: Mapping[str, Callable[[GemmProblem], Program]] = {
    "naive": emit_naive,
    "wmma": emit_wmma,
    "warp_tiles": lambda problem: emit(problem, fitted(problem, _WARP_TILES)),
    "tensor_cores": lambda problem: emit(problem, fitted(problem, _TENSOR_CORES)),
    "multistage": lambda problem: emit(problem, fitted(problem, _MULTISTAGE)),
    "large_tiles": lambda problem: emit(problem, fitted(problem, _LARGE_TILES)),
}
