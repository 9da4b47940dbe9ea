"""The ladder of kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .block.schedule import BlockSchedule
from .buckets.schedule import BucketsSchedule
from .chunks.schedule import ChunksSchedule
from .emit import emit_block, emit_buckets, emit_chunks, emit_naive
from .problem import Classes, NmsProblem

_MOST_OF_A_BLOCK = 1024  # boxes of an image


def _block(problem: NmsProblem) -> Program:
    """A block for each image, unless it has no room for its boxes in shared memory."""
    few = problem.candidates <= _MOST_OF_A_BLOCK
    return emit_block(problem, BlockSchedule(slots=_MOST_OF_A_BLOCK)) if few else emit_chunks(problem, ChunksSchedule())


def _buckets(problem: NmsProblem) -> Program:
    """A cluster for each class, if there are several."""
    if problem.classes is Classes.NONE:
        return emit_chunks(problem, ChunksSchedule())
    return emit_buckets(problem, BucketsSchedule())


PRESETS: Mapping[str, Callable[[NmsProblem], Program]] = {
    "naive": emit_naive,
    "block": _block,
    "chunks": lambda problem: emit_chunks(problem, ChunksSchedule()),
    "buckets": _buckets,
}
