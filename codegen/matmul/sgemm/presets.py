"""The classic ladder of SGEMM kernels, each rung one idea above the last (after Boehm, How to Optimize a CUDA Matmul
Kernel for cuBLAS-like Performance, 2022)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from autotune.codegen.model.program import Program

from .emit import emit_naive
from .problem import SgemmProblem
from .tiled import TiledSchedule, emit_tiled

_SHARED = TiledSchedule()
_TILE_1D = replace(_SHARED, block_m=64, block_n=64, block_k=8, thread_m=8)
_TILE_2D = replace(_TILE_1D, block_m=128, block_n=128, thread_n=8)
_VECTORISED = replace(_TILE_2D, vector=4)
_WARP_TILE = replace(_VECTORISED, block_k=16, warp_tiles=True)
_DOUBLE_BUFFERED = replace(_WARP_TILE, stages=2)

TILED: Mapping[str, TiledSchedule] = {
    "shared": _SHARED,
    "tile_1d": _TILE_1D,
    "tile_2d": _TILE_2D,
    "vectorised": _VECTORISED,
    "warp_tile": _WARP_TILE,
    "double_buffered": _DOUBLE_BUFFERED,
}
PRESETS: Mapping[str, Callable[[SgemmProblem], Program]] = {
    "naive": partial(emit_naive, coalesced=False),
    "coalesced": partial(emit_naive, coalesced=True),
    **{name: partial(emit_tiled, schedule=schedule) for name, schedule in TILED.items()},
}
