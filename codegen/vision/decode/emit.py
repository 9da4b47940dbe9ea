"""Problems of detections and DecodeSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.hardware import WARP, WORD_BYTES
from autotune.codegen.model.program import Program
from autotune.codegen.source.arguments import sizes_of
from autotune.codegen.source.kernel_source import Entry, KernelSource, using

from .problem import Detections
from .schedule import DecodeSchedule


def emit(problem: Detections, schedule: DecodeSchedule) -> Program:
    """A launch for the scores, and one for the boxes."""
    blocks = schedule.blocks(problem)
    writes = Entry(f"{problem.entry}_write", "write_boxes", blocks, schedule.write_footprint())
    parts = {"best_scores": "float*", "best_ids": "int*", "passing": "int*"}
    source = _source(problem, *(Argument(name, kind) for name, kind in parts.items()))
    each = WORD_BYTES * max(1, problem.batch * problem.points)
    program = source.scheduled(schedule, "decode", "find_best", writes)
    return program.in_workspace(best_scores=each, best_ids=each, passing=WORD_BYTES * max(1, blocks))


def emit_naive(problem: Detections) -> Program:
    """A warp for each picture."""
    return _source(problem).plain(
        ", a warp for each picture", problem.batch * WARP, "decode_naive(arguments);", block=WARP
    )


def _source(problem: Detections, *members: Argument) -> KernelSource:
    """`members` follow the threshold in ``struct Arguments``."""
    return KernelSource(
        problem.entry,
        "vision/decode",
        problem,
        types=using(Element=problem.dtype),
        conditions={"anchored": problem.anchored},
        sizes={**sizes_of(problem), "points": ("int", problem.points)},
        scalars=[*(Argument(name, "float") for name in problem.scalars), *members],
    )
