"""The ladder of attention kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit_flash_v1, emit_naive, emit_stored
from .flash.emit import emit as emit_flash
from .flash.schedule import FlashSchedule
from .mma_sync.emit import emit as emit_mma_sync
from .mma_sync.schedule import MmaSyncSchedule
from .problem import AttentionProblem

_VECTORS = (8, 4, 2)


def tensor_cores(problem: AttentionProblem) -> Program:
    """Products by tensor cores; where heads are aligned to an element, by fused multiply-adds."""
    for vector in _VECTORS:
        if problem.widest >= vector:
            return emit_mma_sync(problem, MmaSyncSchedule(tile_keys=32, vector_width=vector))
    return emit_flash(problem, FlashSchedule(rows_per_warp=8))


PRESETS: Mapping[str, Callable[[AttentionProblem], Program]] = {
    "naive": emit_naive,
    "stored": emit_stored,
    "flash_v1": emit_flash_v1,
    "flash_v2": lambda problem: emit_flash(problem, FlashSchedule()),
    "tensor_cores": tensor_cores,
}
