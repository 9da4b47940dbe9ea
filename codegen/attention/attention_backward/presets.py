"""The ladder of attention_backward's kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit_naive
from .mma_sync.emit import emit as emit_mma_sync
from .mma_sync.schedule import MmaSyncSchedule
from .problem import AttentionBackwardProblem


def tensor_cores(problem: AttentionBackwardProblem) -> Program:
    """Products by tensor cores: a pass for dv, one for dk, one for dq."""
    return emit_mma_sync(problem, MmaSyncSchedule(tile_queries=16, tile_keys=16, together=False))


PRESETS: Mapping[str, Callable[[AttentionBackwardProblem], Program]] = {
    "naive": emit_naive,
    "tensor_cores": tensor_cores,
}
