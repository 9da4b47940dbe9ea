"""The classic ladder of SGEMM kernels, each rung one idea above the last (after Boehm, How to Optimize a CUDA Matmul
Kernel for cuBLAS-like Performance, 2022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ...program import Program
from .emit import emit, emit_naive
from .problem import SgemmProblem
from .schedule import FfmaOrder, LaneMap, SgemmSchedule

_SHARED = SgemmSchedule(
    block_m=32, block_n=32, block_k=32, warp_m=1, warp_n=32, thread_m=1, thread_n=1, lane_map=LaneMap.ROW_MAJOR,
    pad_a=1, pad_b=0, stages=1, double_buffer_fragments=False, vector_a=1, vector_b=1, vector_c=1,
    ffma_order=FfmaOrder.ROW, raster_group=1,
)  # fmt: skip
_TILE_1D = replace(_SHARED, block_m=64, block_n=64, block_k=8, warp_m=8, thread_m=8, pad_a=4)
_TILE_2D = replace(_TILE_1D, block_m=128, block_n=128, warp_m=16, warp_n=128, thread_n=8)
_VECTORISED = replace(_TILE_2D, vector_a=4, vector_b=4, vector_c=4)
_WARP_TILE = replace(_VECTORISED, block_k=16, warp_m=32, warp_n=64)
_DOUBLE_BUFFERED = replace(_WARP_TILE, stages=2, double_buffer_fragments=True)


def fitted(problem: SgemmProblem, schedule: SgemmSchedule) -> SgemmSchedule:
    """The schedule with its global accesses no wider than the problem is aligned for."""
    widths: dict[str, Any] = {
        f"vector_{operand}": min(getattr(schedule, f"vector_{operand}"), problem.vector_width(operand))
        for operand in "abc"
    }
    return replace(schedule, **widths)


def _emit_fitted(problem: SgemmProblem, schedule: SgemmSchedule) -> Program:
    return emit(problem, fitted(problem, schedule))


PRESETS: Mapping[str, Callable[[SgemmProblem], Program]] = {
    "naive": partial(emit_naive, coalesced=False),
    "coalesced": partial(emit_naive, coalesced=True),
    "shared": partial(_emit_fitted, schedule=_SHARED),
    "tile_1d": partial(_emit_fitted, schedule=_TILE_1D),
    "tile_2d": partial(_emit_fitted, schedule=_TILE_2D),
    "vectorised": partial(_emit_fitted, schedule=_VECTORISED),
    "warp_tile": partial(_emit_fitted, schedule=_WARP_TILE),
    "double_buffered": partial(_emit_fitted, schedule=_DOUBLE_BUFFERED),
}
