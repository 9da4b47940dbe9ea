"""scale_boxes, as the rest of the project knows it."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.vision.scale_boxes.emit import emit, emit_naive
from autotune.codegen.vision.scale_boxes.problem import ScaleBoxesProblem
from autotune.codegen.vision.scale_boxes.schedule import ScaleBoxesSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .call import CALL

_Case = tuple[ScaleBoxesProblem, ScaleBoxesSchedule]


def _checks(problem: ScaleBoxesProblem, schedule: ScaleBoxesSchedule) -> list[_Case]:
    """A block that is full, and several pictures whose boxes are no multiple of one."""
    whole, some = replace(problem, count=schedule.threads, batch=1), schedule.threads // 2 + 3
    return [(whole, schedule), (replace(problem, count=some, batch=3), schedule)]


OPERATOR: Operator[ScaleBoxesProblem, ScaleBoxesSchedule] = Operator(
    name="scale_boxes",
    summary="boxes in pixels of the pictures that a target was made of",
    problem_type=ScaleBoxesProblem,
    kernels=(Kernel(ScaleBoxesSchedule, emit, checks=_checks),),
    presets={"naive": emit_naive},
    call=CALL,
)
