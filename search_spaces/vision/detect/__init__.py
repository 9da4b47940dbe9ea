"""detect, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.vision.detect.emit import emit, emit_naive
from autotune.codegen.vision.detect.problem import DetectProblem
from autotune.codegen.vision.detect.schedule import DetectSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .call import CALL
from .space import candidates, checks, constraints, space

OPERATOR: Operator[DetectProblem, DetectSchedule] = Operator(
    name="detect",
    summary="the boxes that a detector without anchors sees, and which of them no better box of their class overlaps",
    problem_type=DetectProblem,
    kernels=(Kernel(DetectSchedule, emit, constraints, space, candidates, checks),),
    presets={"naive": emit_naive},
    call=CALL,
)
