"""ScaleBoxesProblem and ScaleBoxesSchedule → Program."""

from __future__ import annotations

from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource
from autotune.codegen.vision.nms.problem import CORNERS

from .problem import ScaleBoxesProblem
from .schedule import ScaleBoxesSchedule


def emit(problem: ScaleBoxesProblem, schedule: ScaleBoxesSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return _source(problem).scheduled(schedule)


def emit_naive(problem: ScaleBoxesProblem) -> Program:
    """A thread for each corner."""
    return _source(problem).plain(", a thread for each corner", problem.batch * problem.count * CORNERS)


def _source(problem: ScaleBoxesProblem) -> KernelSource:
    facts = {"vector_width": problem.vector_width}
    return KernelSource("scale_boxes", "vision/scale_boxes", problem, facts=facts)
