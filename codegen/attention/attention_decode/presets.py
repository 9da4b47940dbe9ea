"""The ladder of decoding kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit_naive
from .fma.emit import emit
from .fma.schedule import FmaSchedule
from .mma_sync.emit import emit as emit_mma_sync
from .mma_sync.schedule import MmaSyncSchedule
from .problem import AttentionDecodeProblem

_VECTORS = (8, 4, 2)


def tensor_cores(problem: AttentionDecodeProblem) -> Program:
    """Products by tensor cores; where heads are aligned to an element, by fused multiply-adds."""
    for vector in _VECTORS:
        if problem.widest >= vector:
            return emit_mma_sync(problem, MmaSyncSchedule(vector_width=vector, splits=8))
    return emit(problem, FmaSchedule(splits=8))


PRESETS: Mapping[str, Callable[[AttentionDecodeProblem], Program]] = {
    "naive": emit_naive,
    "online": lambda problem: emit(problem, FmaSchedule()),
    "split": lambda problem: emit(problem, FmaSchedule(splits=8)),
    "tensor_cores": tensor_cores,
}
